// Package pagetext writes what comes from an app for a model: between marks, so that it is not taken for instructions, and
// in a bounded size.
package pagetext

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Page is a text that comes from the app. It is marked, so that an agent does not take it for instructions.
type Page struct{ text string }

// IsEmpty reports whether nothing was added.
func (p Page) IsEmpty() bool { return p.text == "" }

// Line adds one item. Line ends in it are marked, so that it cannot look like another item.
func (p *Page) Line(text string) {
	p.text += strings.ReplaceAll(strings.TrimRight(lineFeeds(text), "\n"), "\n", "\n  | ") + "\n"
}

// lineFeeds returns a text in which everything that its reader may take as the end of a line is a line
// feed.
func lineFeeds(text string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
			return '\n'
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}

// Place adds where the device is: a page with its title, or an app of a phone, which has no URL.
func (p *Page) Place(url, title string) {
	switch {
	case url != "":
		p.Line("url: " + url)
		p.Line("title: " + title)
	case title != "":
		p.Line("app: " + title)
	}
}

// Lines adds lines that cannot be forged, such as those of a snapshot.
func (p *Page) Lines(text string) {
	if text = strings.TrimRight(text, "\n"); text != "" {
		p.text += text + "\n"
	}
}

// Bounded returns the first lines, together at most n bytes. Where it leaves some out, it says what shows them.
func (p Page) Bounded(n int, remedy string) Page { return Page{CutLines(p.text, n, remedy)} }

// Append adds what another page has.
func (p *Page) Append(other Page) { p.text += other.text }

// MarksBytes is how many bytes the marks around a text take at most.
const MarksBytes = 40

// Marked returns the text between marks that nothing in it can contain, and "" for an empty one.
func (p Page) Marked(n Nonce) string {
	if p.text == "" {
		return ""
	}
	mark := "page n=" + string(n)
	text := strings.ReplaceAll(strings.TrimRight(p.text, "\n"), mark, "page …") // a model may have typed it
	return "<" + mark + ">\n" + text + "\n</" + mark + ">"
}

// String returns the text between marks with a nonce of their own.
func (p Page) String() string { return p.Marked(NewNonce()) }

// Nonce tells marks from what an app could write.
type Nonce string

// NewNonce returns a random nonce. It has digits only, which are the shortest for a model.
func NewNonce() Nonce {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never returns an error
	return Nonce(strconv.Itoa(int(binary.BigEndian.Uint32(random[:])) % 1e9))
}

// Cut returns at most n bytes of a text.
func Cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n -= len("…"); n > 0 && !utf8.RuneStart(text[n]); n-- {
	}
	return text[:max(0, n)] + "…"
}

// CutLines returns the first lines of a text, together at most n bytes. Where it leaves some out, it says what shows them.
func CutLines(text string, n int, remedy string) string {
	if len(text) <= n {
		return text
	}
	note := "\n… more; " + remedy
	end := strings.LastIndexByte(text[:max(0, n-len(note))+1], '\n')
	if end < 0 {
		return Cut(text, n)
	}
	return text[:end] + note
}

// CutMiddle returns a text without whole lines in its middle when it is longer than n bytes.
func CutMiddle(text string, n int) string {
	if len(text) <= n {
		return text
	}
	const room = 40
	head := text[:(n-room)*2/3]
	tail := text[len(text)-(n-room)/3:]
	if i := strings.LastIndexByte(head, '\n'); i > 0 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)-1 {
		tail = tail[i+1:]
	}
	left := len(text) - len(head) - len(tail)
	return strings.ToValidUTF8(head, "") + fmt.Sprintf("\n… %d bytes left out …\n", left) + strings.ToValidUTF8(tail, "")
}
