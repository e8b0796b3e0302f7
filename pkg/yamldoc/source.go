package yamldoc

import (
	"bytes"
	"sort"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// This file finds values in the text of a document. The parser tells where a value starts; where it ends is read off the tokens,
// which for comments, too, tell where they start.

func (d *Doc) lineStarts() []lineStart {
	var starts []lineStart
	at := lineStart{source: len(d.source) - len(bytes.TrimPrefix(d.source, []byte("\ufeff")))}
	for _, text := range d.lines {
		starts = append(starts, at)
		at.text += len(text) + 1
		at.source += len(text) + 1
		if at.source <= len(d.source) && d.source[at.source-1] == '\r' {
			at.source++
		}
	}
	return starts
}

// original is where a place in the text is in the file.
func (e *Editor) original(at int) int {
	next := sort.Search(len(e.lines), func(i int) bool { return e.lines[i].text > at })
	start := e.lines[next-1]
	return start.source + at - start.text
}

// unwrap strips anchors and tags, but not aliases.
func (n Node) unwrap() Node {
	for {
		switch v := n.ast.(type) {
		case *ast.AnchorNode:
			n.ast = v.Value
		case *ast.TagNode:
			n.ast = v.Value
		default:
			return n
		}
	}
}

// find returns the token that a node starts with.
func (e *Editor) find(n Node) int { return e.findPlace(n.position()) }

func (e *Editor) findPlace(line, column int) int {
	i, ok := e.index[place{line, column}]
	if !ok {
		e.fail("write it in a simpler way", "what stands in line %d, column %d is not understood", line, column)
	}
	return i
}

// keyOf returns the token of the key that n is the value of; an item of a list, and the whole document, have none.
func (e *Editor) keyOf(n Node) (key int, ok bool) {
	if n.at == nil || n.at.Type == token.SequenceEntryType || n.at.Type == token.SequenceStartType {
		return 0, false
	}
	return e.findPlace(position(n.at)), true
}

func (e *Editor) line(i int) int { return e.doc.tokens[i].Position.Line }

// column counts from 0, like indentation.
func (e *Editor) column(i int) int { return e.doc.tokens[i].Position.Column - 1 }

// offset is where a token starts, the end of the text after the last one. That the token is there is checked: the parser's columns
// are wrong after tabs and unusual tags.
func (e *Editor) offset(i int) int {
	if i >= len(e.doc.tokens) {
		return len(e.text)
	}
	t := e.doc.tokens[i]
	line := e.doc.line(t.Position.Line)
	_, after := split(line, t.Position.Column)
	after = strings.TrimLeft(after, " \t")
	first := strings.TrimLeft(t.Origin, " \t\n")
	if first == "" || after == "" || first[0] != after[0] {
		e.fail("write it in a simpler way", "line %d cannot be taken apart", t.Position.Line)
		return len(e.text)
	}
	return e.lines[t.Position.Line-1].text + len(line) - len(after)
}

// skip returns the first token from i on that is no comment.
func (e *Editor) skip(i int) int {
	for i < len(e.doc.tokens) && e.doc.tokens[i].Type == token.CommentType {
		i++
	}
	return i
}

// past returns the token after the last one of the value that starts with token i.
func (e *Editor) past(i int) int {
	if i >= len(e.doc.tokens) {
		return len(e.doc.tokens)
	}
	switch e.doc.tokens[i].Type {
	case token.AnchorType:
		return e.past(e.skip(i + 2))
	case token.TagType:
		return e.past(e.skip(i + 1))
	case token.AliasType:
		return i + 2
	case token.SequenceStartType, token.MappingStartType:
		for j := i + 1; j < len(e.doc.tokens); j++ {
			if e.depth[j] == e.depth[i] {
				return j
			}
		}
		return len(e.doc.tokens)
	}
	switch {
	case e.isBlock(i):
		return e.pastBlock(i)
	case e.blockText(e.skip(i + 1)):
		return e.skip(i+1) + 1
	}
	return i + 1
}

// isBlock says whether a list or mapping in block style starts with a token; an anchor or a tag may come first.
func (e *Editor) isBlock(i int) bool {
	tokens := e.doc.tokens
	if i >= len(tokens) || e.depth[i] > 0 {
		return false
	}
	switch tokens[i].Type {
	case token.AnchorType:
		return e.isBlock(e.skip(i + 2))
	case token.TagType:
		return e.isBlock(e.skip(i + 1))
	case token.SequenceEntryType, token.MappingKeyType:
		return true
	}
	next := e.skip(i + 1)
	return next < len(tokens) && tokens[next].Type == token.MappingValueType
}

// pastBlock returns the token after the last one of a block collection: those that belong to it stand in its column or deeper.
func (e *Editor) pastBlock(first int) int {
	column, list := e.column(first), e.doc.tokens[first].Type == token.SequenceEntryType
	last := first
	for i := first + 1; i < len(e.doc.tokens); i++ {
		t := e.doc.tokens[i]
		if t.Type == token.CommentType {
			continue
		}
		if e.depth[i] == 0 && !e.blockText(i) && (e.column(i) < column ||
			e.column(i) == column && list && t.Type != token.SequenceEntryType ||
			t.Type == token.DocumentHeaderType || t.Type == token.DocumentEndType) {
			break
		}
		last = i
	}
	return last + 1
}

// blockText says whether a token is the text below a | or >.
func (e *Editor) blockText(i int) bool {
	head := e.blockHead(i)
	return head != nil && i < len(e.doc.tokens) && e.doc.tokens[i].Type == token.StringType
}

// blockHead returns the | or > before a token, nil if something else is there.
func (e *Editor) blockHead(i int) *token.Token {
	for i--; i >= 0; i-- {
		switch t := e.doc.tokens[i]; t.Type {
		case token.CommentType:
		case token.LiteralType, token.FoldedType:
			return t
		default:
			return nil
		}
	}
	return nil
}

// end is where the text ends whose last token is the one before past, without the space and the comments after it.
func (e *Editor) end(past int) int {
	next := e.offset(past)
	if past > 0 && e.blockText(past-1) && strings.Contains(e.blockHead(past-1).Value, "+") { // the empty lines are part of it
		if past == len(e.doc.tokens) {
			return len(strings.TrimSuffix(e.text, "\n"))
		}
		return strings.LastIndexByte(e.text[:next], '\n')
	}
	return len(strings.TrimRight(e.text[:next], " \t\n"))
}

// lineEnd is where the line ends that a place is in.
func (e *Editor) lineEnd(at int) int {
	if i := strings.IndexByte(e.text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(e.text)
}
