package yamldoc

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// copied is an item of a list as it is written.
type copied struct {
	lines string // with its comments, from column 0 on; empty for an item in brackets
	flow  string // empty for an item in block style
	value any
}

// Copy returns an item of a list, whose value is given, to be inserted at another place. It is written as it stands,
// with its comments. An item that moves into or out of brackets is written anew from its value.
func (e *Editor) Copy(list Node, item int, value any) any {
	l := list.unwrap()
	if _, ok := l.ast.(*ast.SequenceNode); !ok {
		return value
	}
	open := e.find(l)
	if e.err != nil {
		return value
	}
	if !e.isBlock(open) {
		entries := e.flowEntries(open)
		if item >= len(entries) {
			return value
		}
		text := e.text[e.offset(entries[item].first):e.end(entries[item].past)]
		if strings.ContainsAny(text, "#\n") {
			return value // a comment would hide what follows it
		}
		return copied{flow: text, value: value}
	}
	entries := e.blockEntries(open)
	if item >= len(entries) {
		return value
	}
	column, entry := e.column(open), entries[item]
	first := e.withCommentsAbove(entry.first)
	end, _ := e.entryEnd(entry, column)
	lines := strings.Split(e.text[e.offset(first):end], "\n")
	for i, line := range lines[1:] {
		lines[i+1] = line[min(column, len(line)-len(strings.TrimLeft(line, " "))):]
	}
	return copied{lines: strings.Join(lines, "\n"), value: value}
}

// Rename gives a key of a mapping another name.
func (e *Editor) Rename(mapping Node, key, name string) {
	if mapping.IsAlias() {
		e.fail("write the mapping out", "the mapping in line %d is an alias", mapping.Line())
		return
	}
	for _, pair := range mapping.pairs() {
		if have, ok := keyText(pair.Key); !ok || have != key {
			continue
		}
		i := e.findAt(position(pair.Key.GetToken()))
		if next := i + 1; e.err == nil && (next >= len(e.doc.tokens) || e.doc.tokens[next].Type != token.MappingValueType) {
			e.fail("write key: value", "the key in line %d cannot be edited", e.line(i))
		}
		if e.err == nil {
			e.splice(e.offset(i), e.end(i+1), e.flow(name))
		}
		return
	}
	e.fail("write it in the mapping itself", "the mapping in line %d does not have the key %s", mapping.Line(), key)
}
