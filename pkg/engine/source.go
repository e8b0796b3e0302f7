package engine

import (
	"bytes"
	"encoding/binary"
	"slices"

	lib "modernc.org/libquickjs"
)

// A function of a script can be asked for its text (toString), and QuickJS writes the text of each into the bytecode, with that of all
// functions inside it once more: three quarters of the bytecode of a server, read at each start, for something that hardly any script
// asks for. So the bytecode has the places of the texts in the script instead, and a function gets its text when it is asked for it.

// sources are the texts of a script's functions.
type sources struct {
	code  []byte
	table []byte // where each stands in code, in the order of eachFunction: its start and its size, of four bytes each
}

const entrySize = 8

// text is that of a function by its number, from 0.
func (s sources) text(i int) []byte {
	entry := s.table[i*entrySize:]
	start, size := binary.LittleEndian.Uint32(entry), binary.LittleEndian.Uint32(entry[4:])
	return s.code[start:][:size]
}

// program is bytecode without the texts of functions, with the number of its functions and their table before it.
func program(table, bytecode []byte) []byte {
	functions := binary.LittleEndian.AppendUint32(nil, uint32(len(table)/entrySize))
	return slices.Concat(functions, table, bytecode)
}

// parts is the inverse of program.
func parts(program []byte) (table, bytecode []byte) {
	size := int(binary.LittleEndian.Uint32(program)) * entrySize
	return program[4:][:size], program[4+size:]
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

// takeSources takes the texts out of a script's functions and returns the table of where they stand.
func (v *vm) takeSources(script value, code []byte) []byte {
	var table []byte
	start := 0
	eachFunction(script, func(b *lib.TJSFunctionBytecode) {
		text := span[byte](b.Fdebug.Fsource, b.Fdebug.Fsource_len)
		start = find(code, text, start)
		table = binary.LittleEndian.AppendUint32(table, uint32(start))
		table = binary.LittleEndian.AppendUint32(table, uint32(len(text)))
		lib.Xjs_free(v.tls, v.ctx, b.Fdebug.Fsource)
		b.Fdebug.Fsource, b.Fdebug.Fsource_len = 0, 0
	})
	return table
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
	b := bytecodeOf(f)
	if b == nil || b.Fdebug.Fsource != 0 || b.Fdebug.Fsource_len == 0 {
		return
	}
	text := v.sources.text(int(b.Fdebug.Fsource_len) - 1)
	b.Fdebug.Fsource, b.Fdebug.Fsource_len = lib.Xjs_malloc(v.tls, v.ctx, lib.Tsize_t(len(text))), int32(len(text))
	copy(span[byte](b.Fdebug.Fsource, len(text)), text)
}
