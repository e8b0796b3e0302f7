package yamldoc

import "github.com/goccy/go-yaml/token"

// MaxSize is the size in bytes of the largest file that Parse accepts.
const MaxSize = 4 << 20

// The limits of one file. Beyond them the parser needs quadratic time or a deep stack; real files are far below.
const (
	maxDepth        = 200      // levels of nesting
	maxKeys         = 5_000    // keys of one mapping
	maxValues       = 500_000  // values read, aliases expanded; nested aliases grow exponentially
	maxText         = 16 << 20 // bytes of text in those values
	maxProblems     = 100      // reported of one file
	maxNumber       = 400      // bytes of text that is checked for being a number
	maxSnippetWidth = 160      // columns of a line in a snippet
	maxBlockLines   = 8        // of a block in a snippet
)

// checkLimits reports nesting and mappings that are too large for the parser. It is called before the tokens are
// parsed.
func (d *Doc) checkLimits(tokens token.Tokens) bool {
	var g nesting
	for _, t := range tokens {
		g.add(t)
		line, col := position(t)
		if g.flow+len(g.open) > maxDepth {
			d.add(line, col, "", "nested deeper than %d levels", maxDepth)
			return false
		}
		if n := len(g.open); n > 0 && g.open[n-1].keys > maxKeys {
			d.add(line, col, "make it a list, or split it", "a mapping with more than %d keys", maxKeys)
			return false
		}
	}
	return true
}

// nesting tracks the nesting of a token stream: brackets, and block collections by their columns.
type nesting struct {
	flow int
	open []block
}

type block struct {
	column int
	list   bool
	keys   int
}

func (g *nesting) add(t *token.Token) {
	switch t.Type {
	case token.SequenceStartType, token.MappingStartType:
		g.flow++
	case token.SequenceEndType, token.MappingEndType:
		g.flow = max(0, g.flow-1)
	case token.SequenceEntryType, token.MappingKeyType, token.AnchorType, token.TagType:
		g.enter(block{column: t.Position.Column, list: true})
	case token.MappingValueType:
		if t.Prev != nil {
			g.enter(block{column: t.Prev.Position.Column})
		}
	}
}

// enter closes the blocks that a collection at b's column ends, and opens b unless it is open already.
func (g *nesting) enter(b block) {
	if g.flow > 0 {
		return
	}
	n := len(g.open)
	for n > 0 && (g.open[n-1].column > b.column || g.open[n-1].column == b.column && g.open[n-1].list && !b.list) {
		n--
	}
	g.open = g.open[:n]
	if n == 0 || g.open[n-1].column < b.column || b.list && !g.open[n-1].list {
		g.open = append(g.open, b)
	}
	if !b.list {
		g.open[len(g.open)-1].keys++
	}
}
