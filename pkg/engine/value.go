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

// What goes through the door in one value may nest so deep and hold so many values, however often objects share them.
const (
	maxDepth  = 64
	maxValues = 1 << 18
)

// toGo copies a JavaScript value: nil, bool, float64, string, []byte, []any or map[string]any.
func (v *vm) toGo(x value) (any, error) {
	c := copier{vm: v, left: maxValues}
	return c.copy(x, 0)
}

// A copier makes one value Go's.
type copier struct {
	*vm
	left int
}

func (v *copier) copy(x value, depth int) (any, error) {
	if v.left--; v.left < 0 || depth > maxDepth {
		return nil, refused("too many values, or values nested too deep,")
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
		return nil, refused("a symbol")
	}
	s, err := v.str(x)
	return wellFormed(s), err
}

func refused(what string) error {
	return &hostError{Name: "TypeError", Message: what + " cannot be passed to the host"}
}

func (v *copier) object(x value, depth int) (any, error) {
	if b, ok := v.binary(x); ok {
		return b, nil
	}
	if v.isFunction(x) {
		return nil, refused("a function")
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
		item, err := v.index(x, i)
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

// fromGo makes a JavaScript value; nil is undefined, []byte a Uint8Array, and what is not listed goes through JSON.
func (v *vm) fromGo(x any) (value, error) {
	switch x := x.(type) {
	case nil:
		return undefined(), nil
	case value:
		return v.dup(x), nil
	case bool:
		return boolean(x), nil
	case int:
		return number(float64(x)), nil
	case int64:
		return number(float64(x)), nil
	case float64:
		return number(x), nil
	case string:
		return v.result(v.text(x))
	case []byte:
		return v.result(v.bytes(x))
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
		for _, name := range slices.Sorted(maps.Keys(x)) { // for an order that scripts see
			element, err := v.fromGo(x[name])
			if err != nil {
				return undefined(), err
			}
			v.set(out, name, element)
		}
		return out, nil
	}
	text, err := json.Marshal(x)
	if err != nil {
		return undefined(), fmt.Errorf("make JSON of the host's answer: %w", err)
	}
	return v.json(text)
}

// newError makes a JavaScript error of Go's.
func (v *vm) newError(err error) value {
	var h *hostError
	if !errors.As(err, &h) {
		h = &hostError{Message: err.Error()}
	}
	x := lib.XJS_NewError(v.tls, v.ctx)
	if proto, ok := v.prototype(h.Name); ok {
		lib.XJS_SetPrototype(v.tls, v.ctx, x, proto)
		v.free(proto)
	}
	v.hide(x, "message", h.Message)
	for name, prop := range h.Props {
		if made, err := v.fromGo(prop); err == nil {
			v.set(x, name, made)
		}
	}
	if h.Code != "" {
		v.set(x, "code", v.text(h.Code))
	}
	return x
}

// hide sets a property that is not enumerable.
func (v *vm) hide(obj value, name, text string) {
	p := v.cString(name)
	defer v.heap.release(p)
	lib.XJS_DefinePropertyValueStr(v.tls, v.ctx, obj, p, v.text(text), lib.MJS_PROP_WRITABLE|lib.MJS_PROP_CONFIGURABLE)
}

// prototype finds that of a global class.
func (v *vm) prototype(class string) (value, bool) {
	if class == "" || class == "Error" {
		return undefined(), false
	}
	global := v.global()
	defer v.free(global)
	ctor, err := v.get(global, class)
	if err != nil {
		v.drop(err)
		return undefined(), false
	}
	defer v.free(ctor)
	proto, err := v.get(ctor, "prototype")
	if err != nil {
		v.drop(err)
		return undefined(), false
	}
	return proto, tag(proto) == lib.EJS_TAG_OBJECT
}

// wellFormed replaces halves of surrogate pairs, which QuickJS writes as three bytes each.
func wellFormed(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
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
