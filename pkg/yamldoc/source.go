package yamldoc

import (
	"bytes"
	"sort"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// This file finds the start and end of values in the text of a document. The parser reports where a value starts; where
// it ends follows from the tokens.

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

// sourceOffset converts an offset in the text to an offset in the file, which may have a byte order mark and CRLF.
func (e *Editor) sourceOffset(at int) int {
	next := sort.Search(len(e.lines), func(i int) bool { return e.lines[i].text > at })
	start := e.lines[next-1]
	return start.source + at - start.text
}

// unwrap returns the value without anchors and tags; an alias stays an alias.
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

// find returns the index of the token that a node starts with.
func (e *Editor) find(n Node) int { return e.findAt(n.position()) }

func (e *Editor) findAt(line, column int) int {
	i, ok := e.index[tokenPosition{line, column}]
	if !ok {
		e.fail("write it in a simpler way", "the value in line %d, column %d cannot be edited", line, column)
	}
	return i
}

// keyOf returns the index of the token of n's key. ok is false for an item of a list and for the whole document.
func (e *Editor) keyOf(n Node) (key int, ok bool) {
	if n.at == nil || n.at.Type == token.SequenceEntryType || n.at.Type == token.SequenceStartType {
		return 0, false
	}
	return e.findAt(position(n.at)), true
}

func (e *Editor) line(i int) int { return e.doc.tokens[i].Position.Line }

// column counts from 0, like indentation.
func (e *Editor) column(i int) int { return e.doc.tokens[i].Position.Column - 1 }

// offset returns where a token starts in the text, the end of the text for the index after the last token. It checks
// that the token is there, because the parser's columns are wrong after tabs and unusual tags.
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
		e.fail("write it in a simpler way", "line %d cannot be edited", t.Position.Line)
		return len(e.text)
	}
	return e.lines[t.Position.Line-1].text + len(line) - len(after)
}

// skip returns the index of the first token from i on that is not a comment.
func (e *Editor) skip(i int) int {
	for i < len(e.doc.tokens) && e.doc.tokens[i].Type == token.CommentType {
		i++
	}
	return i
}

// past returns the index of the token after the value that starts with token i.
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
	case e.isBlockText(e.skip(i + 1)):
		return e.skip(i+1) + 1
	}
	return i + 1
}

// isBlock reports whether a list or mapping in block style starts with token i, which may be an anchor or a tag.
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

// pastBlock returns the index of the token after a block collection. Its tokens are in its column or deeper.
func (e *Editor) pastBlock(first int) int {
	column, list := e.column(first), e.doc.tokens[first].Type == token.SequenceEntryType
	last := first
	for i := first + 1; i < len(e.doc.tokens); i++ {
		t := e.doc.tokens[i]
		if t.Type == token.CommentType {
			continue
		}
		if e.depth[i] == 0 && !e.isBlockText(i) && (e.column(i) < column ||
			e.column(i) == column && list && t.Type != token.SequenceEntryType ||
			t.Type == token.DocumentHeaderType || t.Type == token.DocumentEndType) {
			break
		}
		last = i
	}
	return last + 1
}

// isBlockText reports whether a token is the text below a | or >.
func (e *Editor) isBlockText(i int) bool {
	head := e.blockHead(i)
	return head != nil && i < len(e.doc.tokens) && e.doc.tokens[i].Type == token.StringType
}

// blockHead returns the | or > before a token, nil when another token precedes it.
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

// end returns the offset of the end of the token before past, without the space and the comments after it.
func (e *Editor) end(past int) int {
	next := e.offset(past)
	if past > 0 && e.isBlockText(past-1) && strings.Contains(e.blockHead(past-1).Value, "+") {
		// The empty lines after the text are part of it.
		if past == len(e.doc.tokens) {
			return len(strings.TrimSuffix(e.text, "\n"))
		}
		return strings.LastIndexByte(e.text[:next], '\n')
	}
	return len(strings.TrimRight(e.text[:next], " \t\n"))
}

// lineEnd returns the offset of the end of the line that contains at.
func (e *Editor) lineEnd(at int) int {
	if i := strings.IndexByte(e.text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(e.text)
}
