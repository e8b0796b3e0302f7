package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/live"
)

// lines are what is on a screen: how many elements look alike.
type lines map[line]int

// line is an element with a name or a content, both folded.
type line struct{ role, name, content, states string }

// passage is the role of a line for texts side by side, as in <strong>1</strong> item left. Its content has no spaces.
const passage = "a passage"

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
			all[line{e.Role, fold(e.Name), fold(e.Content), strings.Join(e.States, " ")}]++
		}
		for _, child := range e.Children {
			add(child)
		}
		for _, text := range passages(e.Children) {
			all[line{role: passage, content: text}]++
		}
	}
	add(l.Root)
	return all, named
}

// passages returns what reads as one text although several elements have it, without spaces.
func passages(children []*live.Element) (all []string) {
	parts, text := 0, ""
	for _, e := range append(slices.Clone(children), nil) {
		if e != nil && len(e.Children) == 0 && slices.Contains(phrasing(), e.Role) {
			parts, text = parts+1, text+unspaced(fold(cmp.Or(e.Content, e.Name)))
			continue
		}
		if parts > 1 {
			all = append(all, text)
		}
		parts, text = 0, ""
	}
	return all
}

// phrasing are the roles of elements that stand within a sentence.
func phrasing() []string {
	return []string{"text", "strong", "emphasis", "generic", "code", "mark", "time", "link"}
}

func unspaced(text string) string { return strings.ReplaceAll(text, " ", "") }

// gained reports whether a text is in the name or the content of an element that was added or changed since an earlier
// screen. A text with less than three letters and digits is all of it.
func (l lines) gained(before lines, text string) bool {
	text = fold(text)
	is := func(s string) bool { return s == text }
	if lettersAndDigits(text) >= 3 {
		is = func(s string) bool { return strings.Contains(s, text) }
	}
	for line, n := range l {
		if line.role != passage && n > before[line] && (is(line.name) || is(line.content)) {
			return true
		}
	}
	return lettersAndDigits(text) >= 3 && l.passagesWith(text) > before.passagesWith(text)
}

func (l lines) passagesWith(text string) (n int) {
	for line, times := range l {
		if line.role == passage && strings.Contains(line.content, unspaced(text)) {
			n += times
		}
	}
	return n
}

func lettersAndDigits(text string) (n int) {
	for _, c := range text {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			n++
		}
	}
	return n
}

// fold returns a text with single spaces and in lower case, as it is compared.
func fold(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// shownLine matches a line of the text form of a screen with its role, its name in quotes, and its reference.
var shownLine = lazyregexp.New(`(?m)^[\s+~-]*- ([^\s":\[]+)( "(?:[^"\\]|\\.)*")? \[ref=(e\d+)\]`)

// mentionedElement matches an element in a message, as screen.Describe writes it.
var mentionedElement = lazyregexp.New(`([a-z]+)( "(?:[^"\\]|\\.)*")? \[ref=(e\d+)\]`)

// shownElements are the elements that the model was shown.
type shownElements struct {
	described map[string]string // by reference, as in: button "Save"
	order     []string          // references, as they were shown first
}

// showLines adds the elements of lines of a screen, and showMessage those that a message names.
func (s *shownElements) showLines(text string) { s.add(shownLine().FindAllStringSubmatch(text, -1)) }

func (s *shownElements) showMessage(text string) {
	s.add(mentionedElement().FindAllStringSubmatch(text, -1))
}

func (s *shownElements) add(found [][]string) {
	for _, m := range found {
		if _, known := s.described[m[3]]; !known {
			s.order = append(s.order, m[3])
		}
		s.described[m[3]] = m[1] + m[2]
	}
}

// element returns an element by its reference, "" for one that was not shown. One of several that look alike has its
// number among them, as in: button "Save" #2. So it means the same in another session that shows the same.
func (s *shownElements) element(ref string) string {
	what, n := s.described[ref], 0
	for _, other := range s.order {
		if s.described[other] == what {
			n++
		}
		if other == ref {
			break
		}
	}
	if n < 2 {
		return what
	}
	return fmt.Sprintf("%s #%d", what, n)
}

// reference returns the reference of an element as element describes it, "" if none was shown.
func (s *shownElements) reference(element string) string {
	for _, ref := range s.order {
		if s.element(ref) == element {
			return ref
		}
	}
	return ""
}
