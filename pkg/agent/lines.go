package agent

import (
	"strings"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/live"
)

// lines are what is on a screen: how many elements look alike, by role, name, content and states.
type lines map[string]int

// linesOf returns the lines of a screen, and how many of its elements have a name.
func linesOf(l live.Look) (all lines, named int) {
	all = lines{}
	var add func(e *live.Element)
	add = func(e *live.Element) {
		if e == nil {
			return
		}
		if e.Name != "" {
			named++
		}
		if e.Name+e.Content != "" {
			all[e.Role+" "+fold(e.Name+"\n"+e.Content)+" "+strings.Join(e.States, " ")]++
		}
		for _, child := range e.Children {
			add(child)
		}
	}
	add(l.Root)
	return all, named
}

// gained reports whether a text is in a line that was added or changed since an earlier screen.
func (l lines) gained(before lines, text string) bool {
	for line, n := range l {
		if n > before[line] && strings.Contains(line, fold(text)) {
			return true
		}
	}
	return false
}

// fold returns a text with single spaces and in lower case, as it is compared.
func fold(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// shownLine matches a line of the text form of a screen with its role, its name in quotes, and its reference.
var shownLine = lazyregexp.New(`(?m)^[\s+~-]*- ([^\s":\[]+)( "(?:[^"\\]|\\.)*")? \[ref=(e\d+)\]`)

// references returns the elements that lines of a screen show, by reference, as in: button "Save".
func references(text string) map[string]string {
	out := map[string]string{}
	for _, m := range shownLine().FindAllStringSubmatch(text, -1) {
		out[m[3]] = m[1] + m[2]
	}
	return out
}

// mentionedElement matches an element in a message, as screen.Describe writes it.
var mentionedElement = lazyregexp.New(`([a-z]+)( "(?:[^"\\]|\\.)*")? \[ref=(e\d+)\]`)

// mentioned returns the elements that a message names, by reference.
func mentioned(text string) map[string]string {
	out := map[string]string{}
	for _, m := range mentionedElement().FindAllStringSubmatch(text, -1) {
		out[m[3]] = m[1] + m[2]
	}
	return out
}
