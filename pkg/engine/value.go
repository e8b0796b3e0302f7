package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	lib "modernc.org/libquickjs"
)

// Limits of one value that is passed to the host. A value that is referenced several times counts each time.
const (
	maxDepth  = 64
	maxValues = 1 << 18
)

// convertedSize is about what a converted value needs in Go besides the bytes of strings and binary data.
const convertedSize = 64

// toGo converts a JavaScript value to nil, bool, float64, string, []byte, []any or map[string]any. x is borrowed.
func (v *vm) toGo(x value) (any, error) {
	c := copier{vm: v, left: maxValues, reserve: func(int) {}}
	return c.copy(x, 0)
}

// A copier converts values of JavaScript.
type copier struct {
	*vm
	left    int            // number of values that it may still convert
	borrow  bool           // whether binary data is not copied
	reserve func(size int) // called before strings and binary data are copied
}

func (v *copier) copy(x value, depth int) (any, error) {
	if v.left--; v.left < 0 || depth > maxDepth {
		return nil, unsupportedValueError("a value with too many elements or too much nesting")
	}
	switch tag(x) {
	case lib.EJS_TAG_UNDEFINED, lib.EJS_TAG_NULL:
		return nil, nil
	case lib.EJS_TAG_BOOL:
		return intOf(x) != 0, nil
	case lib.EJS_TAG_INT:
		return float64(intOf(x)), nil
	case lib.EJS_TAG_FLOAT64:
		return floatOf(x), nil
	case lib.EJS_TAG_OBJECT:
		return v.object(x, depth)
	case lib.EJS_TAG_SYMBOL:
		return nil, unsupportedValueError("a symbol")
	}
	return v.string(x)
}

func (v *copier) string(x value) (string, error) {
	text, p, err := v.toUTF8(x)
	if err != nil {
		return "", err
	}
	defer lib.XJS_FreeCString(v.tls, v.ctx, p)
	size := len(text)
	if !utf8.Valid(text) {
		size *= 2 // for the copy that wellFormed makes
	}
	v.reserve(size)
	return wellFormed(string(text)), nil
}

func unsupportedValueError(what string) error {
	return &hostError{Name: "TypeError", Message: what + " cannot be passed to the host"}
}

func (v *copier) object(x value, depth int) (any, error) {
	if b, ok := v.bytesOf(x); ok {
		if !v.borrow {
			v.reserve(len(b))
			b = slices.Concat([]byte{}, b)
		}
		return b, nil
	}
	if v.isFunction(x) {
		return nil, unsupportedValueError("a function")
	}
	if v.isArray(x) {
		return v.array(x, depth)
	}
	names, err := v.keys(x)
	if err != nil {
		return nil, err
	}
	out := make(map[string]any, len(names))
	for _, name := range names {
		item, err := v.get(x, name)
		if err != nil {
			return nil, err
		}
		out[wellFormed(name)], err = v.copy(item, depth+1)
		v.free(item)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (v *copier) array(x value, depth int) (any, error) {
	length, err := v.get(x, "length")
	if err != nil {
		return nil, err
	}
	n, _ := v.toGo(length)
	count, _ := n.(float64)
	out := make([]any, 0, min(int(count), v.left+1))
	for i := range int(count) {
		item, err := v.getIndex(x, i)
		if err != nil {
			return nil, err
		}
		element, err := v.copy(item, depth+1)
		v.free(item)
		if err != nil {
			return nil, err
		}
		out = append(out, element)
	}
	return out, nil
}

// Results of operations that are converted without copies in Go.
type (
	scriptText []byte   // valid UTF-8 in memory of the script; becomes a string
	textBytes  string   // becomes a Uint8Array
	byteChunks [][]byte // becomes a Uint8Array
	textChunks [][]byte // UTF-8, perhaps invalid; becomes a string
)

// fromGo converts a Go value; nil becomes undefined, []byte a Uint8Array, and a type that is not listed is converted as
// JSON.
func (v *vm) fromGo(x any) (value, error) {
	switch x := x.(type) {
	case nil:
		return undefined(), nil
	case value:
		return v.dup(x), nil
	case bool:
		return newBool(x), nil
	case int:
		return newNumber(float64(x)), nil
	case int64:
		return newNumber(float64(x)), nil
	case float64:
		return newNumber(x), nil
	case string:
		return v.result(v.newString(x))
	case scriptText:
		return v.result(v.newStringAt(x))
	case textChunks:
		return v.newStringOf(x)
	case []byte:
		return v.newBytes(x)
	case textBytes:
		array, content, err := v.newUint8Array(len(x))
		copy(content, x)
		return array, err
	case byteChunks:
		return v.newBytes(x...)
	case []any:
		out := v.newArray()
		for i, item := range x {
			element, err := v.fromGo(item)
			if err != nil {
				return undefined(), err
			}
			v.setIndex(out, i, element)
		}
		return out, nil
	case map[string]any:
		out := v.newObject()
		for _, name := range slices.Sorted(maps.Keys(x)) { // scripts see the order
			element, err := v.fromGo(x[name])
			if err != nil {
				return undefined(), err
			}
			v.setProperty(out, name, element)
		}
		return out, nil
	}
	text, err := json.Marshal(x)
	if err != nil {
		return undefined(), fmt.Errorf("encode the host's result as JSON: %w", err)
	}
	return v.parseJSON(text)
}

// newError returns a JavaScript error for a Go error.
func (v *vm) newError(err error) value {
	var h *hostError
	if !errors.As(err, &h) {
		h = &hostError{Message: err.Error()}
	}
	x := lib.XJS_NewError(v.tls, v.ctx)
	if proto, ok := v.classPrototype(h.Name); ok {
		lib.XJS_SetPrototype(v.tls, v.ctx, x, proto)
		v.free(proto)
	}
	v.defineHidden(x, "message", h.Message)
	for name, prop := range h.Props {
		if made, err := v.fromGo(prop); err == nil {
			v.setProperty(x, name, made)
		}
	}
	if h.Code != "" {
		v.setProperty(x, "code", v.newString(h.Code))
	}
	return x
}

// defineHidden defines a property that is not enumerable.
func (v *vm) defineHidden(obj value, name, text string) {
	p := v.cString(name)
	defer v.heap.free(p)
	lib.XJS_DefinePropertyValueStr(v.tls, v.ctx, obj, p, v.newString(text), lib.MJS_PROP_WRITABLE|lib.MJS_PROP_CONFIGURABLE)
}

// classPrototype returns the prototype of a global class; ok is false for Error and for a class that does not exist.
func (v *vm) classPrototype(class string) (value, bool) {
	if class == "" || class == "Error" {
		return undefined(), false
	}
	global := v.global()
	defer v.free(global)
	ctor, err := v.get(global, class)
	if err != nil {
		v.freeError(err)
		return undefined(), false
	}
	defer v.free(ctor)
	proto, err := v.get(ctor, "prototype")
	if err != nil {
		v.freeError(err)
		return undefined(), false
	}
	return proto, tag(proto) == lib.EJS_TAG_OBJECT
}

// wellFormed replaces lone surrogates, which QuickJS encodes as three bytes each, with U+FFFD, which has as many.
func wellFormed(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 && len(s) >= 3 && s[0] == 0xED {
			n = 3
		}
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String()
}
