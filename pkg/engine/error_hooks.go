package engine

import (
	"modernc.org/libc"
	lib "modernc.org/libquickjs"
)

// QuickJS defines the stack of each error as a string with positions in the bundle. Scripts must see positions in the
// source files, for which a source map has to be parsed, but most stacks are never read. Therefore each error gets an
// accessor, which replaces itself with the formatted string when it is first read. The hook is the define_own_property
// method that QuickJS lets a class have. The same hook replaces the class and message of stack overflow errors with
// those of V8.

// errorHooks are the functions by which a vm changes errors.
type errorHooks struct {
	getter                 uintptr
	setter                 value
	formatStack            func(err, raw value) (value, error) // nil until bootstrap.js has run
	syntaxErrorConstructor uintptr                             // the object of the global SyntaxError
}

const (
	quickjsOverflowMessage = "stack overflow"
	nodeOverflowMessage    = "Maximum call stack size exceeded"
)

// installErrorHooks makes QuickJS call defineErrorProperty for each property of a new error, until its stack is
// defined.
func (v *vm) installErrorHooks() {
	methods := v.heap.allocate(sizeOf[lib.TJSClassExoticMethods]())
	*pointerAt[lib.TJSClassExoticMethods](methods) = lib.TJSClassExoticMethods{
		Fdefine_own_property: cPointer(v, func(_ *libc.TLS, _ uintptr, obj value, prop lib.TJSAtom, val, getter, setter value, flags int32) int32 {
			return v.defineErrorProperty(obj, prop, val, getter, setter, flags)
		}),
	}
	v.setErrorMethods(methods)
	v.errors.getter = cPointer(v, func(_ *libc.TLS, _ uintptr, this value, _ int32, _ uintptr, _ int32, data uintptr) value {
		return v.readStack(this, *pointerAt[value](data))
	})
	v.errors.setter = v.newMethod("stack", func(this value, args []value) (value, error) {
		if len(args) > 0 {
			v.setStackValue(this, v.dup(args[0]))
		}
		return undefined(), nil
	})
	constructor, _ := v.get(v.errorPrototypes()[lib.EJS_SYNTAX_ERROR], "constructor")
	v.errors.syntaxErrorConstructor = pointerOf(constructor)
	v.free(constructor)
}

// defineErrorProperty defines a property of an error. All values are borrowed.
func (v *vm) defineErrorProperty(obj value, prop lib.TJSAtom, val, getter, setter value, flags int32) int32 {
	setExotic(obj, false)
	switch {
	case prop == lib.EJS_ATOM_stack && tag(val) == lib.EJS_TAG_STRING:
		return v.defineLazyStack(obj, val)
	case prop == lib.EJS_ATOM_message && v.isRangeError(obj, val):
		lib.XJS_SetPrototype(v.tls, v.ctx, obj, v.errorPrototypes()[lib.EJS_RANGE_ERROR])
		if v.stringEquals(val, quickjsOverflowMessage) {
			val = v.newString(nodeOverflowMessage)
			defer v.free(val)
		}
	}
	defer setExotic(obj, true)
	return lib.XJS_DefineProperty(v.tls, v.ctx, obj, prop, val, getter, setter, flags)
}

// isRangeError reports whether an error, whose message is about to be defined, was created by QuickJS and is a
// RangeError in V8. These are each InternalError, and a SyntaxError of a parser that overflowed the stack. A
// SyntaxError that a script creates is recognized by its constructor, which is on the stack.
func (v *vm) isRangeError(obj, message value) bool {
	proto := lib.XJS_GetPrototype(v.tls, v.ctx, obj)
	defer v.free(proto)
	switch pointerOf(proto) {
	case pointerOf(v.errorPrototypes()[lib.EJS_INTERNAL_ERROR]):
		return true
	case pointerOf(v.errorPrototypes()[lib.EJS_SYNTAX_ERROR]):
		byScript := pointerOf(v.currentFunction()) == v.errors.syntaxErrorConstructor
		return !byScript && v.stringEquals(message, quickjsOverflowMessage)
	}
	return false
}

func (v *vm) defineLazyStack(obj, raw value) int32 {
	data := v.heap.allocate(valueSize)
	defer v.heap.free(data)
	*pointerAt[value](data) = raw
	getter := lib.XJS_NewCFunctionData(v.tls, v.ctx, v.errors.getter, 0, 0, 1, data)
	return lib.XJS_DefinePropertyGetSet(v.tls, v.ctx, obj, lib.EJS_ATOM_stack, getter, v.dup(v.errors.setter), lib.MJS_PROP_CONFIGURABLE)
}

// readStack formats the stack of an error and makes it an ordinary property.
func (v *vm) readStack(this, raw value) value {
	if v.errors.formatStack == nil {
		return v.dup(raw)
	}
	var formatted value
	var err error
	v.withExtraStack(func() { formatted, err = v.errors.formatStack(this, raw) })
	if err != nil {
		v.freeError(err)
		formatted = v.dup(raw)
	}
	v.setStackValue(this, v.dup(formatted))
	return formatted
}

// setStackValue makes the stack an ordinary property. It takes ownership of x.
func (v *vm) setStackValue(obj, x value) {
	if tag(obj) == lib.EJS_TAG_OBJECT {
		lib.XJS_DefinePropertyValue(v.tls, v.ctx, obj, lib.EJS_ATOM_stack, x, lib.MJS_PROP_WRITABLE|lib.MJS_PROP_CONFIGURABLE)
	}
}

func (v *vm) stringEquals(x value, text string) bool {
	if tag(x) != lib.EJS_TAG_STRING {
		return false
	}
	s, err := v.toString(x)
	return err == nil && s == text
}
