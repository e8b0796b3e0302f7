package engine

import (
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// QuickJS gives each error a string as its stack, in places of the bundle, when it is made. Most are never read, and what they say
// must be put in the places of the author's files, for which a source map has to be parsed. So each gets an accessor instead, which
// becomes a string when it is first read. QuickJS asks whoever defines properties of a class of objects if there is somebody; that is
// the way in. The same way leads to the words of endless recursion, which are not those of node.

// An errorHook is what a vm does to errors.
type errorHook struct {
	getter uintptr
	setter value
	show   func(err, raw value) (value, error) // nil until there is JavaScript to do it
	parser uintptr                             // the constructor of the errors of QuickJS's parsers
}

const (
	overflowQuickJS = "stack overflow"
	overflowNode    = "Maximum call stack size exceeded"
)

// exotic is the bit of an object whose class defines properties in its own way.
const exotic = 0x8

// hookErrors has v.define called for each property that an error gets until it has its stack.
func (v *vm) hookErrors() {
	methods := v.heap.take(int(unsafe.Sizeof(lib.TJSClassExoticMethods{})))
	*at[lib.TJSClassExoticMethods](methods) = lib.TJSClassExoticMethods{
		Fdefine_own_property: pointer(v, func(_ *libc.TLS, _ uintptr, obj value, prop lib.TJSAtom, val, getter, setter value, flags int32) int32 {
			return v.define(obj, prop, val, getter, setter, flags)
		}),
	}
	classes := at[lib.TJSRuntime](v.rt).Fclass_array
	class := at[lib.TJSClass](classes + lib.EJS_CLASS_ERROR*unsafe.Sizeof(lib.TJSClass{}))
	class.Fexotic = methods
	v.hook.getter = pointer(v, func(_ *libc.TLS, _ uintptr, this value, _ int32, _ uintptr, _ int32, data uintptr) value {
		return v.readStack(this, *at[value](data))
	})
	v.hook.setter = v.method("stack", func(this value, args []value) (value, error) {
		if len(args) > 0 {
			v.setStack(this, v.dup(args[0]))
		}
		return undefined(), nil
	})
	parser, _ := v.get(v.protos()[lib.EJS_SYNTAX_ERROR], "constructor")
	v.hook.parser = pointerOf(parser)
	v.free(parser)
}

// protos are the prototypes of the classes of errors.
func (v *vm) protos() *[8]value { return &at[lib.TJSContext](v.ctx).Fnative_error_proto }

// define defines a property of an error. All values are borrowed.
func (v *vm) define(obj value, prop lib.TJSAtom, val, getter, setter value, flags int32) int32 {
	bits := &at[lib.TJSObject](pointerOf(obj)).F__ccgo16
	*bits &^= exotic
	switch {
	case prop == lib.EJS_ATOM_stack && tag(val) == lib.EJS_TAG_STRING:
		return v.defineStack(obj, val)
	case prop == lib.EJS_ATOM_message && v.isRangeError(obj, val):
		lib.XJS_SetPrototype(v.tls, v.ctx, obj, v.protos()[lib.EJS_RANGE_ERROR])
		if v.says(val, overflowQuickJS) {
			val = v.text(overflowNode)
			defer v.free(val)
		}
	}
	defer func() { *bits |= exotic }()
	return lib.XJS_DefineProperty(v.tls, v.ctx, obj, prop, val, getter, setter, flags)
}

// isRangeError tells whether an error that is about to get its message is QuickJS's own and a RangeError in V8: what it calls
// InternalError, which scripts do not have, and the SyntaxError of a parser that had to go too deep. What a script makes of a
// SyntaxError comes from its constructor.
func (v *vm) isRangeError(obj, message value) bool {
	proto := lib.XJS_GetPrototype(v.tls, v.ctx, obj)
	defer v.free(proto)
	switch pointerOf(proto) {
	case pointerOf(v.protos()[lib.EJS_INTERNAL_ERROR]):
		return true
	case pointerOf(v.protos()[lib.EJS_SYNTAX_ERROR]):
		frame := at[lib.TJSRuntime](v.rt).Fcurrent_stack_frame
		byScript := frame != 0 && pointerOf(at[lib.TJSStackFrame](frame).Fcur_func) == v.hook.parser
		return !byScript && v.says(message, overflowQuickJS)
	}
	return false
}

func (v *vm) defineStack(obj, raw value) int32 {
	data := v.heap.take(valueSize)
	defer v.heap.release(data)
	*at[value](data) = raw
	getter := lib.XJS_NewCFunctionData(v.tls, v.ctx, v.hook.getter, 0, 0, 1, data)
	return lib.XJS_DefinePropertyGetSet(v.tls, v.ctx, obj, lib.EJS_ATOM_stack, getter, v.dup(v.hook.setter), lib.MJS_PROP_CONFIGURABLE)
}

// readStack makes the stack of an error a string.
func (v *vm) readStack(this, raw value) value {
	if v.hook.show == nil {
		return v.dup(raw)
	}
	var shown value
	var err error
	v.deeper(func() { shown, err = v.hook.show(this, raw) })
	if err != nil {
		v.drop(err)
		shown = v.dup(raw)
	}
	v.setStack(this, v.dup(shown))
	return shown
}

// setStack makes the stack an ordinary property. It takes over x.
func (v *vm) setStack(obj, x value) {
	if tag(obj) == lib.EJS_TAG_OBJECT {
		lib.XJS_DefinePropertyValue(v.tls, v.ctx, obj, lib.EJS_ATOM_stack, x, lib.MJS_PROP_WRITABLE|lib.MJS_PROP_CONFIGURABLE)
	}
}

func (v *vm) says(x value, text string) bool {
	if tag(x) != lib.EJS_TAG_STRING {
		return false
	}
	s, err := v.str(x)
	return err == nil && s == text
}
