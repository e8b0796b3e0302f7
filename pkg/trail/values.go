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

// Values is what the tokens of a session stand for: its memory, the trail's arguments, and secrets. Where a name is in several,
// the secret counts; memory that is set later replaces what was there. It may be used by several goroutines; the values
// it hands out are shared and must not be changed.
type Values struct {
	args    map[string]any
	secrets map[string]string

	mu      sync.RWMutex
	memory  map[string]memoryEntry
	changes int            // how often memory was written
	changed map[string]int // the change that wrote a name last
}

// memoryEntry is a value in memory. For the result of a call, text and fields may differ from value.
type memoryEntry struct {
	value  any    // what {{name}} alone stands for
	fields any    // what {{name.field}} reaches into
	text   string // what {{name}} is inside a longer string; empty: value as text
}

// Sources is where the values of a session come from, later fields before earlier ones.
type Sources struct {
	Trail   map[string]any    // config.memory
	Memory  map[string]string // --memory
	Secrets map[string]string // --secret
	Args    map[string]any    // what ResolveArgs returned, reached as {{args.name}}
}

// NewValues returns the values that a session starts with.
func NewValues(from Sources) *Values {
	v := &Values{args: maps.Clone(from.Args), secrets: maps.Clone(from.Secrets), memory: map[string]memoryEntry{}, changed: map[string]int{}}
	for name, value := range from.Trail {
		v.Set(name, value)
	}
	for name, value := range from.Memory {
		v.Set(name, value)
	}
	return v
}

// Set puts a value into memory.
func (v *Values) Set(name string, value any) {
	v.put(name, memoryEntry{value: value, fields: value})
}

// SetResult puts the result of a call into memory. Text that is a JSON object or list is that value. Any other text stays text, a
// number or a code of digits too, while paths reach into the structured result if there is one.
func (v *Values) SetResult(name, text string, structured json.RawMessage) {
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

// touch notes a change. The caller holds v.mu.
func (v *Values) touch(name string) {
	v.changes++
	v.changed[name] = v.changes
}

// Delete removes a value from memory.
func (v *Values) Delete(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.memory, name)
	v.touch(name)
}

// Apply sets and then deletes values, as the result of a call asks for.
func (v *Values) Apply(delta map[string]any, deletions []string) {
	for name, value := range delta {
		v.Set(name, value)
	}
	for _, name := range deletions {
		v.Delete(name)
	}
}

// Version counts how often memory was written, for Since.
func (v *Values) Version() int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.changes
}

// ChangedSince returns what memory holds now under the names that were written after the given count of changes, and which of them are
// gone, sorted. Names of secrets are left out. Both are nil when nothing was written.
func (v *Values) ChangedSince(changes int) (set map[string]any, gone []string) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if changes == v.changes {
		return nil, nil
	}
	for name, change := range v.changed {
		if _, secret := v.secrets[name]; secret || change <= changes {
			continue
		}
		e, there := v.memory[name]
		if !there {
			gone = append(gone, name)
			continue
		}
		if set == nil {
			set = map[string]any{}
		}
		set[name] = e.value
	}
	slices.Sort(gone)
	return set, gone
}

// Get returns what {{name}} stands for.
func (v *Values) Get(name string) (any, bool) {
	e, err := v.find(name)
	return e.value, err == nil
}

// Snapshot returns the memory, without secrets and whatever a secret hides.
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

// Names lists the names that tokens can use, sorted.
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

// errUnknown says that nothing has a name, as opposed to a field that a value does not have.
var errUnknown = errors.New("unknown")

// find resolves the name of a token: a whole name, or a name and a path below it.
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

// reach follows a path of fields and list positions into a value; name is what the value is called in messages.
func reach(name string, value any, path []string) (memoryEntry, error) {
	for _, step := range path {
		switch v := value.(type) {
		case map[string]any:
			field, ok := v[step]
			if !ok {
				return memoryEntry{}, noSuch(fault.DidYouMean(step, sortedKeys(v)), "%s has no field %q", name, step)
			}
			value = field
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return memoryEntry{}, noSuch("its entries are numbered from 0", "%s is a list of %d, it has no %q", name, len(v), step)
			}
			value = v[i]
		default:
			return memoryEntry{}, noSuch("only JSON objects and lists have fields", "%s is %s, it has no %q", name, describe(value), step)
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
	value, err := DecodeJSON(data)
	switch value.(type) {
	case map[string]any, []any:
		return value, err == nil
	}
	return nil, false
}

// DecodeJSON decodes one JSON value, as arguments hold it. Whole numbers become int64 or uint64, all others keep their digits as json.Number.
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
