package trail

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/budget"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Values holds the values that replace tokens in a session: its memory, the trail's arguments, and secrets. A secret
// overrides a value in memory with the same name. It may be used by several goroutines; the values that it returns are
// shared and must not be changed.
type Values struct {
	args    map[string]any
	secrets map[string]string
	wording fault.Wording

	mu      sync.RWMutex
	memory  map[string]memoryEntry
	version int            // the number of changes of memory
	changed map[string]int // the version at which a name was last set or deleted
	begun   int            // the version at the start of the session
	size    int            // bytes that memory takes at most, see Set
	limit   int            // of size
	share   *budget.Share  // of what all sessions may keep; nil for no limit
}

// maxMemory is how many bytes the memory of a session may take, see Set.
const maxMemory = 64 << 20

// memoryEntry is a value in memory. For the result of a call, text and fields may differ from value.
type memoryEntry struct {
	value  any    // replaces {{name}} when it is the whole string
	fields any    // contains the field of {{name.field}}
	text   string // replaces {{name}} inside a longer string; empty: value as text
	size   int    // bytes that it takes at most
}

// Sources holds the initial values of a session. Later fields override earlier ones.
type Sources struct {
	Trail   map[string]any    // config.memory
	Memory  map[string]string // --memory
	Secrets map[string]string // --secret
	Args    map[string]any    // what ResolveArgs returned, reached as {{args.name}}
	Wording fault.Wording     // of hints
}

// NewValues returns the values at the start of a session.
func NewValues(from Sources) *Values {
	v := &Values{
		args: maps.Clone(from.Args), secrets: maps.Clone(from.Secrets), memory: map[string]memoryEntry{},
		changed: map[string]int{}, limit: maxMemory, wording: from.Wording,
	}
	for name, value := range from.Trail {
		_ = v.Set(name, value) // files and command lines are smaller than what memory may take
	}
	for name, value := range from.Memory {
		_ = v.Set(name, value)
	}
	v.begun = v.version
	return v
}

// ChargeTo makes the memory a part of what all sessions may keep, until [Values.Uncharge].
func (v *Values) ChargeTo(b *budget.Budget) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.share = b.Share()
	_ = v.share.Resize(v.size) // without room, the next value is refused
}

// Uncharge gives back what the memory had of [Values.ChargeTo].
func (v *Values) Uncharge() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.share.Release()
	v.share = nil
}

// Set sets a value in memory. Text that is a JSON object or list stays text, but has the fields of that JSON. It is an
// error when all values then take more than 64 MiB, in memory or when they are sent to a server, whichever is more. No
// memory is allocated then.
func (v *Values) Set(name string, value any) error {
	text, isText := value.(string)
	if !isText {
		return v.put(name, budget.Value(value, v.limit), func() memoryEntry { return memoryEntry{value: value, fields: value} })
	}
	return v.put(name, sizeOfText(text), func() memoryEntry {
		e := memoryEntry{value: value, fields: value}
		if fields, ok := decodeCollection([]byte(text)); ok {
			e.fields = fields
		}
		return e
	})
}

// sizeOfText returns how many bytes a text takes at most, with its fields.
func sizeOfText(text string) int {
	if !mayBeCollection([]byte(text)) {
		return budget.Encoded(text)
	}
	return budget.Encoded(text) + budget.Decoded(text)
}

// SetResult sets a value in memory to the result of a call. Text that is a JSON object or list is that value. Other
// text stays text, also when it looks like a number; fields are then those of the structured result, if there is one.
// A result without text is its structured result. It is an error in the same case as for Set.
func (v *Values) SetResult(name, text string, structured json.RawMessage) error {
	if strings.TrimSpace(text) == "" && len(structured) > 0 {
		text, structured = string(structured), nil
	}
	size := sizeOfText(text)
	if !mayBeCollection([]byte(text)) {
		size += budget.Decoded(structured)
	}
	return v.put(name, size, func() memoryEntry {
		if value, ok := decodeCollection([]byte(text)); ok {
			return memoryEntry{value: value, fields: value, text: strings.TrimSpace(text)}
		}
		e := memoryEntry{value: text, fields: text}
		if value, ok := decodeCollection(structured); ok {
			e.fields = value
		}
		return e
	})
}

// put sets a value of a size, which make returns, if there is room for it.
func (v *Values) put(name string, size int, make func() memoryEntry) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	total := v.size - v.memory[name].size + size
	if _, known := v.changed[name]; !known {
		total += bytesOfName + len(name)
	}
	switch {
	case total > v.limit:
		return tooMuch(name, size, "the memory of a session", v.size, v.limit)
	case !v.share.Resize(total):
		return tooMuch(name, size, "the memory of all sessions that run", v.share.Used(), v.share.Limit())
	}
	v.size = total
	e := make()
	e.size = size
	v.memory[name] = e
	v.touch(name)
	return nil
}

// bytesOfName is about what a name takes in the maps of a Values, besides its text, also after it was deleted.
const bytesOfName = 200

func tooMuch(name string, size int, whose string, used, limit int) error {
	return fault.New(fault.ToolFailed, "keep a part of it, or set values that are not needed any more to an empty text",
		"the value %q does not fit: it takes up to %s, and %s has %s of %s left",
		name, mebibytes(size), whose, mebibytes(max(0, limit-used)), mebibytes(limit))
}

func mebibytes(n int) string { return fmt.Sprintf("%.3g MiB", float64(n)/(1<<20)) }

// touch increments the version. The caller holds v.mu.
func (v *Values) touch(name string) {
	v.version++
	v.changed[name] = v.version
}

// Delete deletes a value from memory.
func (v *Values) Delete(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, known := v.changed[name]; !known {
		return
	}
	v.size -= v.memory[name].size
	_ = v.share.Resize(v.size) // it shrinks
	delete(v.memory, name)
	v.touch(name)
}

// Apply applies the changes of memory in a call's result: it sets values, then deletes others. It ends at the first
// value that does not fit.
func (v *Values) Apply(delta map[string]any, deletions []string) error {
	for _, name := range sortedKeys(delta) {
		if err := v.Set(name, delta[name]); err != nil {
			return err
		}
	}
	for _, name := range deletions {
		v.Delete(name)
	}
	return nil
}

// Version returns the number of changes of memory so far, for ChangedSince.
func (v *Values) Version() int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.version
}

// ChangeSize returns about how many bytes the values of ChangedSince take.
func (v *Values) ChangeSize(version int) int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	size := 0
	if version == v.version {
		return size
	}
	for name, change := range v.changed {
		if change > version {
			size += bytesOfName + len(name) + v.memory[name].size
		}
	}
	return size
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

// Given returns the sorted names of the values that nothing has set since the start of the session.
func (v *Values) Given() []string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	var names []string
	for name, change := range v.changed {
		if change <= v.begun {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
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

// Texts returns the memory as the texts that tokens inside a longer text become, without values that a secret overrides.
func (v *Values) Texts() map[string]string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	out := make(map[string]string, len(v.memory))
	for name, e := range v.memory {
		if _, secret := v.secrets[name]; !secret {
			out[name] = cmp.Or(e.text, render(e.value))
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

// mayBeCollection reports whether data begins like a JSON object or list.
func mayBeCollection(data []byte) bool {
	first := bytes.TrimLeft(data, " \t\r\n")
	return len(first) > 0 && (first[0] == '{' || first[0] == '[')
}

// decodeCollection decodes a JSON object or list.
func decodeCollection(data []byte) (any, bool) {
	if !mayBeCollection(data) {
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

// JSON is a value that is decoded by [DecodeJSON].
type JSON struct{ Value any }

// UnmarshalJSON implements json.Unmarshaler.
func (j *JSON) UnmarshalJSON(data []byte) (err error) {
	j.Value, err = DecodeJSON(data)
	return err
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
