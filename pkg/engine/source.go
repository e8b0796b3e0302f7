package engine

import (
	"bytes"
	"encoding/binary"
	"unsafe"

	lib "modernc.org/libquickjs"
)

// A function of a script can be asked for its text (toString), and QuickJS writes the text of each into the bytecode, with that of all
// functions inside it once more: three quarters of the bytecode of a server, read at each start, for something that hardly any script
// asks for. So the bytecode has the places of the texts in the script instead, and a function gets its text when it is asked for it.

// An extent is where the text of a function stands in its script, in bytes.
type extent struct{ Start, Size uint32 }

// sources are the texts of a script's functions.
type sources struct {
	code    []byte
	extents []extent // in the order of eachFunction
}

// program is bytecode without the texts of functions, with their extents before it.
func program(extents []extent, bytecode []byte) []byte {
	data := binary.LittleEndian.AppendUint32(nil, uint32(len(extents)))
	for _, p := range extents {
		data = binary.LittleEndian.AppendUint32(data, p.Start)
		data = binary.LittleEndian.AppendUint32(data, p.Size)
	}
	return append(data, bytecode...)
}

// parts is the inverse of program.
func parts(program []byte) (extents []extent, bytecode []byte) {
	extents = make([]extent, binary.LittleEndian.Uint32(program))
	program = program[4:]
	for i := range extents {
		extents[i] = extent{binary.LittleEndian.Uint32(program), binary.LittleEndian.Uint32(program[4:])}
		program = program[8:]
	}
	return extents, program
}

// eachFunction visits a function and those inside it, each before those inside it.
func eachFunction(f value, visit func(*lib.TJSFunctionBytecode)) {
	b := at[lib.TJSFunctionBytecode](pointerOf(f))
	visit(b)
	for _, x := range span[value](b.Fcpool, b.Fcpool_count) {
		if tag(x) == lib.EJS_TAG_FUNCTION_BYTECODE {
			eachFunction(x, visit)
		}
	}
}

// takeSources takes the texts out of a script's functions and returns their extents.
func (v *vm) takeSources(script value, code []byte) []extent {
	var extents []extent
	start := 0
	eachFunction(script, func(b *lib.TJSFunctionBytecode) {
		text := span[byte](b.Fdebug.Fsource, b.Fdebug.Fsource_len)
		start = find(code, text, start)
		extents = append(extents, extent{uint32(start), uint32(len(text))})
		lib.Xjs_free(v.tls, v.ctx, b.Fdebug.Fsource)
		b.Fdebug.Fsource, b.Fdebug.Fsource_len = 0, 0
	})
	return extents
}

// find returns a place where a text stands in code. Most functions stand shortly after the one before them in the order of eachFunction,
// some, as static blocks, shortly before.
func find(code, text []byte, near int) int {
	const far = 16 << 10
	for _, start := range []int{near, max(0, near-far), 0} {
		end := min(len(code), start+far+len(text))
		if start == 0 {
			end = len(code)
		}
		if i := bytes.Index(code[start:end], text); i >= 0 {
			return start + i
		}
	}
	return 0
}

// numberFunctions notes in each function which one it is, counted from 1, where without a text there is no length of it.
func numberFunctions(script value) {
	n := int32(0)
	eachFunction(script, func(b *lib.TJSFunctionBytecode) {
		n++
		b.Fdebug.Fsource_len = n
	})
}

// hookSources gives functions their text when they are asked for it.
func (v *vm) hookSources() {
	functions := at[lib.TJSContext](v.ctx).Ffunction_proto
	original, _ := v.get(functions, "toString")
	v.property(functions, "toString", lib.MJS_PROP_WRITABLE|lib.MJS_PROP_CONFIGURABLE, v.method("toString", func(this value, _ []value) (value, error) {
		v.giveSource(this)
		return v.result(lib.XJS_Call(v.tls, v.ctx, original, this, 0, 0))
	}))
}

// giveSource gives a function of the script its text.
func (v *vm) giveSource(f value) {
	if tag(f) != lib.EJS_TAG_OBJECT {
		return
	}
	o := at[lib.TJSObject](pointerOf(f))
	switch o.Fclass_id {
	case lib.EJS_CLASS_BYTECODE_FUNCTION, lib.EJS_CLASS_GENERATOR_FUNCTION, lib.EJS_CLASS_ASYNC_FUNCTION, lib.EJS_CLASS_ASYNC_GENERATOR_FUNCTION:
	default:
		return
	}
	debug := &(*(**lib.TJSFunctionBytecode)(unsafe.Pointer(&o.Fu))).Fdebug
	if debug.Fsource != 0 || debug.Fsource_len == 0 {
		return
	}
	where := v.sources.extents[debug.Fsource_len-1]
	text := v.sources.code[where.Start:][:where.Size]
	debug.Fsource, debug.Fsource_len = lib.Xjs_malloc(v.tls, v.ctx, lib.Tsize_t(len(text))), int32(len(text))
	copy(span[byte](debug.Fsource, len(text)), text)
}
