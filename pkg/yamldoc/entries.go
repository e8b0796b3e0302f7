package yamldoc

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// This file inserts, replaces and removes entries: the items of a list, the keys of a mapping with their values. The
// comment lines directly above an entry belong to it, and so does a comment at the end of its line.

// ReplaceItems replaces the items of a list from index from to before index to. With from equal to to, items are
// inserted; without items, some are removed. When all are replaced, the comments above the first stay. Changes of one
// list must not overlap.
func (e *Editor) ReplaceItems(list Node, from, to int, items []any) {
	l := list.unwrap()
	seq, ok := l.ast.(*ast.SequenceNode)
	switch {
	case !ok:
		e.fail("write the list out", "the list in line %d is an alias", l.Line())
	case from == 0 && to == len(seq.Values):
		e.replace(list, items)
	case from < to || len(items) > 0:
		e.replaceEntries(l, len(seq.Values), from, to, separate(items))
	}
}

// Insert adds a key to a mapping, before another one.
func (e *Editor) Insert(mapping Node, before, key string, value any) {
	if keys, ok := e.keys(mapping); ok {
		at := max(0, slices.Index(keys, before))
		e.replaceEntries(mapping.unwrap(), len(keys), at, at, []any{Map{{Key: key, Value: value}}})
	}
}

// ReplaceKeys removes keys from a mapping and adds others: in place of the last one that is removed, else at the end.
// It ignores keys to remove that the mapping lacks.
func (e *Editor) ReplaceKeys(mapping Node, remove []string, add Map) {
	keys, ok := e.keys(mapping)
	if !ok {
		return
	}
	removed := func(i int) bool { return i >= 0 && slices.Contains(remove, keys[i]) }
	var with []any
	for _, pair := range add {
		with = append(with, Map{pair})
	}
	for to := len(keys); to > 0; to-- {
		from := to
		for removed(from - 1) {
			from--
		}
		switch {
		case from == to:
			continue
		case from == 0 && to == len(keys):
			e.replace(mapping, add)
		default:
			e.replaceEntries(mapping.unwrap(), len(keys), from, to, with)
		}
		with, add, to = nil, nil, from
	}
	if len(add) > 0 {
		e.add(mapping.unwrap(), add)
	}
}

// keys returns the keys of a mapping as they are written, including merge keys.
func (e *Editor) keys(mapping Node) (keys []string, ok bool) {
	if mapping.IsAlias() {
		e.fail("write the mapping out", "the mapping in line %d is an alias", mapping.Line())
		return nil, false
	}
	for _, pair := range mapping.pairs() {
		key, _ := keyText(pair.Key)
		keys = append(keys, key)
	}
	return keys, true
}

// separate returns collections of one item each.
func separate(items []any) []any {
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = []any{item}
	}
	return out
}

// tokenRange is the tokens of an entry, without the comments before and after it and the comma after it.
type tokenRange struct{ first, past int }

// replaceEntries replaces entries of n, a collection of count entries, some of which stay. Each of with is a collection
// of one entry.
func (e *Editor) replaceEntries(n Node, count, from, to int, with []any) {
	open := e.find(n)
	if e.err != nil {
		return
	}
	entries := e.blockEntries
	replace := e.replaceLines
	if !e.isBlock(open) {
		entries, replace = e.flowEntries, e.replaceFlow
	}
	found := entries(open)
	if len(found) != count {
		e.fail("write it in a simpler way", "the entries of the value in line %d cannot be edited", e.line(open))
		return
	}
	replace(open, found, from, to, with)
}

// blockEntries returns the entries of the block collection that starts with a token.
func (e *Editor) blockEntries(open int) []tokenRange {
	var out []tokenRange
	list, past := e.doc.tokens[open].Type == token.SequenceEntryType, e.past(open)
	for i := open; i < past; i++ {
		if e.depth[i] > 0 || e.column(i) != e.column(open) || e.isBlockText(i) || !e.isBlock(i) ||
			list != (e.doc.tokens[i].Type == token.SequenceEntryType) || e.doc.tokens[i].Type == token.CommentType {
			continue
		}
		if n := len(out); n > 0 {
			out[n-1].past = e.withoutComments(i)
		}
		out = append(out, tokenRange{first: i, past: past})
	}
	return out
}

// flowEntries returns the entries of the collection that starts with a bracket.
func (e *Editor) flowEntries(open int) []tokenRange {
	var out []tokenRange
	start, past := open+1, e.past(open)
	for i := start; i < past; i++ {
		if e.depth[i] != e.depth[open]+1 || i < past-1 && e.doc.tokens[i].Type != token.CollectEntryType {
			continue
		}
		if first := e.skip(start); first < i {
			out = append(out, tokenRange{first, e.withoutComments(i)})
		}
		start = i + 1
	}
	return out
}

// withoutComments returns the index after the last token before past that is not a comment.
func (e *Editor) withoutComments(past int) int {
	for past > 0 && e.isComment(past-1) {
		past--
	}
	return past
}

func (e *Editor) isComment(i int) bool {
	return i < len(e.doc.tokens) && e.doc.tokens[i].Type == token.CommentType
}

// startsLine reports whether only spaces precede a token in its line.
func (e *Editor) startsLine(i int) bool {
	at := e.offset(i)
	return strings.TrimLeft(e.text[e.lines[e.line(i)-1].text:at], " \t") == ""
}

// withCommentsAbove returns the index of the first token of the comment lines directly above a token that starts a
// line, else of the token itself. A comment that is indented deeper belongs to the entry above.
func (e *Editor) withCommentsAbove(first int) int {
	i := first
	for i > 0 && e.startsLine(i) && e.isComment(i-1) && e.line(i-1) == e.line(i)-1 && e.startsLine(i-1) &&
		e.column(i-1) <= e.column(first) {
		i--
	}
	return i
}

// replaceLines replaces entries of a block collection.
func (e *Editor) replaceLines(open int, entries []tokenRange, from, to int, with []any) {
	column := e.column(open)
	indent := strings.Repeat(" ", column)
	// lineBefore returns the offset of the line end before an entry and its comments, -1 in the first line.
	lineBefore := func(i int) int { return e.lines[e.line(e.withCommentsAbove(entries[i].first))-1].text - 1 }
	var start, end int
	switch {
	case from == to && from > 0:
		end, _ = e.entryEnd(entries[from-1], column)
		start = end
	case from == to:
		start = lineBefore(0)
		end = start
	default:
		start = lineBefore(from)
		end, _ = e.entryEnd(entries[to-1], column)
	}
	var texts []string
	for _, entry := range with {
		texts = append(texts, indent+e.block(entry, column, open, max(end, 0)))
	}
	between := "\n"
	if from == to && e.spaced(entries, column) {
		between = "\n\n"
	}
	text := strings.Join(texts, between)
	switch {
	case from == 0 && !e.startsLine(open):
		e.replaceInLine(entries, to, text, column)
	case from == to && from == 0 && start >= 0:
		e.splice(start+1, start+1, text+between)
	case start < 0 && text == "":
		e.splice(0, min(end+1, len(e.text)), "")
	case start < 0 && from == to:
		e.splice(0, 0, text+between)
	case start < 0:
		e.splice(0, end, text)
	case text == "" && end == len(e.text) && e.isBlockText(e.withoutComments(entries[from].first)-1):
		e.splice(start+1, end, "") // the line end belongs to the text above
	case text == "" && from == 0:
		e.splice(start, e.withEmptyLine(end), "")
	case text == "":
		e.splice(e.withoutEmptyLine(start, end), end, "")
	case from == to:
		e.insertLines(end, strings.TrimPrefix(between, "\n")+text, column)
	default:
		e.splice(start, end, "\n"+text)
	}
}

// withoutEmptyLine returns the start of a range of lines that is removed, so that only one of the empty lines above and
// below it is left. The range starts and ends at the end of a line.
func (e *Editor) withoutEmptyLine(start, end int) int {
	above := strings.LastIndexByte(e.text[:start], '\n')
	below, _, more := strings.Cut(e.text[min(end+1, len(e.text)):], "\n")
	if above < 0 || !more || strings.TrimSpace(e.text[above:start]) != "" || strings.TrimSpace(below) != "" {
		return start
	}
	return above
}

// withEmptyLine returns the end of the line below an offset, the end of a line, if that line is empty.
func (e *Editor) withEmptyLine(end int) int {
	below := e.lineEnd(min(end+1, len(e.text)))
	if strings.TrimSpace(e.text[end:below]) == "" && below < len(e.text) {
		return below
	}
	return end
}

// replaceInLine replaces entries up to index to of a block collection whose first entry is not the first in its line,
// as in "- tap: {}".
func (e *Editor) replaceInLine(entries []tokenRange, to int, text string, column int) {
	start := e.offset(entries[0].first)
	text = strings.TrimLeft(text, " ")
	if to == 0 {
		e.splice(start, start, text+"\n"+strings.Repeat(" ", column))
		return
	}
	end, next := e.entryEnd(entries[to-1], column)
	if text == "" {
		end = e.offset(next)
	}
	e.splice(start, end, text)
}

// entryEnd returns the offset of the end of the last line of an entry and of its comments, and the index of the token
// after them.
func (e *Editor) entryEnd(entry tokenRange, column int) (end, next int) {
	next = entry.past
	for e.isComment(next) && e.column(next) > column {
		next++
	}
	return e.lineEnd(e.end(next)), next
}

// spaced reports whether an empty line follows every entry of a block collection but the last.
func (e *Editor) spaced(entries []tokenRange, column int) bool {
	for _, entry := range entries[:len(entries)-1] {
		end, _ := e.entryEnd(entry, column)
		line, _, _ := strings.Cut(strings.TrimPrefix(e.text[end:], "\n"), "\n")
		if strings.TrimSpace(line) != "" {
			return false
		}
	}
	return len(entries) > 1
}

// replaceFlow replaces entries of a collection in brackets.
func (e *Editor) replaceFlow(_ int, entries []tokenRange, from, to int, with []any) {
	var texts []string
	for _, entry := range with {
		text := e.flow(entry)
		texts = append(texts, strings.TrimSpace(text[1:len(text)-1]))
	}
	between := ", "
	if first := entries[0].first; e.startsLine(first) {
		between = ",\n" + strings.Repeat(" ", e.column(first))
	}
	text := strings.Join(texts, between)
	switch {
	case len(with) == 0:
		e.removeFlow(entries, from, to)
	case from < to:
		e.splice(e.offset(entries[from].first), e.end(entries[to-1].past), text)
	case from == 0 || from < len(entries) && e.startsLine(entries[from].first):
		at := e.offset(e.withCommentsAbove(entries[from].first))
		e.splice(at, at, text+between)
	default:
		at := e.end(entries[from-1].past)
		e.splice(at, at, between+text)
	}
}

// removeFlow removes entries of a collection in brackets, some of which stay.
func (e *Editor) removeFlow(entries []tokenRange, from, to int) {
	first, last := e.withCommentsAbove(entries[from].first), entries[to-1].past-1
	next := e.skip(last + 1)
	comma := e.doc.tokens[next].Type == token.CollectEntryType
	if comma {
		last = next
	}
	for e.isComment(last+1) && e.line(last+1) == e.line(last) {
		last++
	}
	start, end := e.offset(first), e.end(last+1)
	switch {
	case to < len(entries):
		if end = e.offset(last + 1); e.isComment(last + 1) {
			end = e.end(last + 1) // the comment stays in its line
		}
	case e.withoutComments(first) == first:
		start = e.end(entries[from-1].past) // remove the comma before, too
		if comma {
			start = e.end(first)
		}
	}
	if e.startsLine(first) && strings.HasPrefix(strings.TrimLeft(e.text[end:], " \t"), "\n") {
		start = min(start, e.lines[e.line(first)-1].text-1) // remove its line end, too
	}
	e.splice(start, end, "")
}
