package engine

import (
	"bytes"
	"encoding/binary"
	"slices"

	lib "modernc.org/libquickjs"
)

// QuickJS stores the source text of each function in the bytecode, for toString. The text of a nested function is
// stored again with each function around it: three quarters of the bytecode of a server, although scripts rarely call
// toString. Therefore the texts are removed from the bytecode; a table has their positions in the script, and a
// function gets its text when toString is called.

// functionSources locates the source texts of the functions of a script.
type functionSources struct {
	code  []byte
	table []byte // offset and size of each text in code, as uint32 in little endian, in the order of eachFunction
}

const entrySize = 8

// text returns the source text of the i-th function, counting from 0.
func (s functionSources) text(i int) []byte {
	entry := s.table[i*entrySize:]
	start, size := binary.LittleEndian.Uint32(entry), binary.LittleEndian.Uint32(entry[4:])
	return s.code[start:][:size]
}

// program encodes bytecode without source texts: the number of functions as uint32, the table of functionSources, and
// the bytecode.
func program(table, bytecode []byte) []byte {
	functions := binary.LittleEndian.AppendUint32(nil, uint32(len(table)/entrySize))
	return slices.Concat(functions, table, bytecode)
}

// splitProgram is the inverse of program.
func splitProgram(program []byte) (table, bytecode []byte) {
	size := int(binary.LittleEndian.Uint32(program)) * entrySize
	return program[4:][:size], program[4+size:]
}

// extractSources removes the source texts from the functions of a script, and returns the table of functionSources.
func (v *vm) extractSources(script value, code []byte) []byte {
	var table []byte
	start := 0
	eachFunction(script, func(f bytecodeFunction) {
		text := f.source()
		start = findSource(code, text, start)
		table = binary.LittleEndian.AppendUint32(table, uint32(start))
		table = binary.LittleEndian.AppendUint32(table, uint32(len(text)))
		f.removeSource(v, 0)
	})
	return table
}

// findSource returns an offset of text in code. It first searches shortly after near, the offset of the previous
// function, then shortly before it, where static blocks are, then everywhere.
func findSource(code, text []byte, near int) int {
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

// numberFunctions stores the number of each function, counting from 1.
func (v *vm) numberFunctions(script value) {
	n := int32(0)
	eachFunction(script, func(f bytecodeFunction) {
		n++
		f.removeSource(v, n)
	})
}

// installToString replaces Function.prototype.toString with one that restores the source text first.
func (v *vm) installToString() {
	prototype := v.functionPrototype()
	original, _ := v.get(prototype, "toString")
	replacement := v.newMethod("toString", func(this value, _ []value) (value, error) {
		v.restoreSource(this)
		return v.result(lib.XJS_Call(v.tls, v.ctx, original, this, 0, 0))
	})
	v.defineProperty(prototype, "toString", lib.MJS_PROP_WRITABLE|lib.MJS_PROP_CONFIGURABLE, replacement)
}

// restoreSource restores the source text of a function of the script.
func (v *vm) restoreSource(x value) {
	f, isFunction := functionOf(x)
	if !isFunction {
		return
	}
	if n, ok := f.number(); ok {
		f.setSource(v, v.sources.text(int(n)-1))
	}
}
