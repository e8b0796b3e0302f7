package aria

import (
	"strings"
	"unicode/utf8"
)

// maxShown is how many characters of a name or a text a list shows.
const maxShown = 120

// List is the tree in short, for a person or a model to read: one line for everything that has a number and for every
// text between, in at most maxBytes bytes. left counts the lines that there was no room for.
func (t *Tree) List(maxBytes int) (list string, left int) {
	var b strings.Builder
	for _, l := range t.lines {
		text := l.Short()
		if text == "" {
			continue
		}
		if b.Len() > 0 {
			text = "\n" + text
		}
		if left > 0 || b.Len()+len(text) > maxBytes {
			left++
			continue
		}
		b.WriteString(text)
	}
	return b.String(), left
}

// Short is a line as List shows it: e12 button "Pay" [disabled]. It is empty for a line without a number that is
// neither a text nor a frame.
func (l *Line) Short() string {
	if l.node == nil {
		return "text: " + quoted(shorten(l.Text))
	}
	if l.Ref == "" && l.Role != "iframe" {
		return ""
	}
	short := *l
	short.Name = shorten(l.Name)
	line := strings.TrimLeft(l.Ref+" "+short.key(), " ")
	if l.Text != "" {
		line += ": " + quoted(shorten(l.Text))
	}
	return line
}

func shorten(s string) string {
	if utf8.RuneCountInString(s) <= maxShown {
		return s
	}
	return string([]rune(s)[:maxShown-1]) + "…"
}
