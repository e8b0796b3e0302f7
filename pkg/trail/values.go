package trail

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Values holds the values that replace tokens in a session: its memory, the trail's arguments, and secrets. A secret
// overrides a value in memory with the same name. It may be used by several goroutines; the values that it returns are
// shared and must not be changed.
type Values struct {
	args    map[string]any
	secrets map[string]string

	mu      sync.RWMutex
	memory  map[string]memoryEntry
	version int            // the number of changes of memory
	changed map[string]int // the version at which a name was last set or deleted
}

// memoryEntry is a value in memory. For the result of a call, text and fields may differ from value.
type memoryEntry struct {
	value  any    // replaces {{name}} when it is the whole string
	fields any    // contains the field of {{name.field}}
	text   string // replaces {{name}} inside a longer string; empty: value as text
}

// Sources holds the initial values of a session. Later fields override earlier ones.
type Sources struct {
	Trail   map[string]any    // config.memory
	Memory  map[string]string // --memory
	Secrets map[string]string // --secret
	Args    map[string]any    // what ResolveArgs returned, reached as {{args.name}}
}

// NewValues returns the values at the start of a session.
func NewValues(from Sources) *Values {
	v := &Values{
		args: maps.Clone(from.Args), secrets: maps.Clone(from.Secrets), memory: map[string]memoryEntry{},
		changed: map[string]int{},
	}
	for name, value := range from.Trail {
		v.Set(name, value)
	}
	for name, value := range from.Memory {
		v.Set(name, value)
	}
	return v
}

// Set sets a value in memory. Text that is a JSON object or list stays text, but has the fields of that JSON.
func (v *Values) Set(name string, value any) {
	e := memoryEntry{value: value, fields: value}
	if text, ok := value.(string); ok {
		if fields, ok := decodeCollection([]byte(text)); ok {
			e.fields = fields
		}
	}
	v.put(name, e)
}

// SetResult sets a value in memory to the result of a call. Text that is a JSON object or list is that value. Other
// text stays text, also when it looks like a number; fields are then those of the structured result, if there is one.
// A result without text is its structured result.
func (v *Values) SetResult(name, text string, structured json.RawMessage) {
	if strings.TrimSpace(text) == "" && len(structured) > 0 {
		text = string(structured)
	}
	e := memoryEntry{value: text, fields: text}
	if value, ok := decodeCollection([]byte(text)); ok {
		e = memoryEntry{value: value, fields: value, text: strings.TrimSpace(text)}
	} else if value, ok := decodeCollection(structured); ok {
		e.fields = value
	}
	v.put(name, e)
}

func (v *Values) put(name string, e memoryEntry) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.memory[name] = e
	v.touch(name)
}

// touch increments the version. The caller holds v.mu.
func (v *Values) touch(name string) {
	v.version++
	v.changed[name] = v.version
}

// Delete deletes a value from memory.
func (v *Values) Delete(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.memory, name)
	v.touch(name)
}

// Apply applies the changes of memory in a call's result: it sets values, then deletes others.
func (v *Values) Apply(delta map[string]any, deletions []string) {
	for name, value := range delta {
		v.Set(name, value)
	}
	for _, name := range deletions {
		v.Delete(name)
	}
}

// Version returns the number of changes of memory so far, for ChangedSince.
func (v *Values) Version() int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.version
}

// ChangedSince returns the current values of the names that were set after a version, and the names that were deleted,
// sorted. Names of secrets are left out. Both are nil when nothing has changed.
func (v *Values) ChangedSince(version int) (set map[string]any, deleted []string) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if version == v.version {
		return nil, nil
	}
	for name, change := range v.changed {
		if _, secret := v.secrets[name]; secret || change <= version {
			continue
		}
		e, ok := v.memory[name]
		if !ok {
			deleted = append(deleted, name)
			continue
		}
		if set == nil {
			set = map[string]any{}
		}
		set[name] = e.value
	}
	slices.Sort(deleted)
	return set, deleted
}

// Get returns the value of {{name}}.
func (v *Values) Get(name string) (any, bool) {
	e, err := v.find(name)
	return e.value, err == nil
}

// Snapshot returns the memory, without values that a secret overrides.
func (v *Values) Snapshot() map[string]any {
	v.mu.RLock()
	defer v.mu.RUnlock()
	out := make(map[string]any, len(v.memory))
	for name, e := range v.memory {
		if _, secret := v.secrets[name]; !secret {
			out[name] = e.value
		}
	}
	return out
}

// Names returns the names that tokens can use, sorted.
func (v *Values) Names() []string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	names := slices.AppendSeq(sortedKeys(v.secrets), maps.Keys(v.memory))
	for name := range v.args {
		names = append(names, argsPrefix+name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// errUnknown is the error for a name without a value, as opposed to a value without a field.
var errUnknown = errors.New("unknown")

// find returns the value of a token's name: a whole name, or a name and a path into its value.
func (v *Values) find(name string) (memoryEntry, error) {
	if arg, ok := strings.CutPrefix(name, argsPrefix); ok {
		path := strings.Split(arg, ".")
		value, known := v.args[path[0]]
		if !known {
			return memoryEntry{}, errUnknown
		}
		return reach(argsPrefix+path[0], value, path[1:])
	}
	if e, ok := v.root(name); ok {
		return e, nil
	}
	for i := strings.LastIndexByte(name, '.'); i > 0; i = strings.LastIndexByte(name[:i], '.') {
		if e, ok := v.root(name[:i]); ok {
			return reach(name[:i], e.fields, strings.Split(name[i+1:], "."))
		}
	}
	return memoryEntry{}, errUnknown
}

func (v *Values) root(name string) (memoryEntry, bool) {
	if secret, ok := v.secrets[name]; ok {
		return memoryEntry{value: secret, fields: secret, text: secret}, true
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	e, ok := v.memory[name]
	return e, ok
}

// reach returns the value at a path of fields and list indexes; name is the value's name in messages.
func reach(name string, value any, path []string) (memoryEntry, error) {
	for _, step := range path {
		switch v := value.(type) {
		case Undetermined:
			return memoryEntry{value: v, fields: v}, nil
		case map[string]any:
			field, ok := v[step]
			if !ok {
				return memoryEntry{}, noSuch(fault.DidYouMean(step, sortedKeys(v)), "%s has no field %q", name, step)
			}
			value = field
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return memoryEntry{}, noSuch("entries are numbered from 0", "%s has no entry %q; it is a list of length %d", name,
					step, len(v))
			}
			value = v[i]
		default:
			return memoryEntry{}, noSuch("only JSON objects and lists have fields", "%s is %s and has no field %q", name,
				describe(value), step)
		}
		name += "." + step
	}
	return memoryEntry{value: value, fields: value}, nil
}

func noSuch(hint, format string, args ...any) error {
	return fault.New(fault.UnknownValue, hint, format, args...)
}

func describe(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "text"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	default:
		return "a number"
	}
}

// decodeCollection decodes a JSON object or list.
func decodeCollection(data []byte) (any, bool) {
	if first := bytes.TrimLeft(data, " \t\r\n"); len(first) == 0 || first[0] != '{' && first[0] != '[' {
		return nil, false
	}
	value, err := DecodeJSON(data)
	switch value.(type) {
	case map[string]any, []any:
		return value, err == nil
	}
	return nil, false
}

// DecodeJSON decodes one JSON value. Whole numbers become int64 or uint64; other numbers keep their digits as
// json.Number.
func DecodeJSON(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("not JSON: more than one value")
	}
	return wholeNumbers(value), nil
}

func wholeNumbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		if i, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return i
		}
		if u, err := strconv.ParseUint(v.String(), 10, 64); err == nil {
			return u
		}
	case []any:
		for i := range v {
			v[i] = wholeNumbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = wholeNumbers(v[key])
		}
	}
	return value
}

// SetArgs replaces the values of {{args.name}}.
func (v *Values) SetArgs(args map[string]any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.args = maps.Clone(args)
}
