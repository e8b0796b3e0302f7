package livetool

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Answer is the answer of a tool.
type Answer struct {
	Text   string
	Image  []byte // PNG; nil for none
	Failed bool   // the tool did not do what was asked for
	limit  int    // of the text in bytes, when more than maxAnswer was asked for
}

// The largest sizes of answers and of their parts, in bytes.
const (
	maxAnswer    = 12 << 10
	maxRecording = 8 << 10
	maxSchema    = 2 << 10
	maxToolbox   = 1 << 10
	maxDiff      = 3 << 10
)

// faultText returns the message of an error and what to do about it.
func faultText(err error) string {
	var b strings.Builder
	for i, e := range fault.Split(err) {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(e.Error())
	}
	writeHints(&b, err)
	return cutMiddle(b.String(), 4<<10)
}

func writeHints(b *strings.Builder, err error) {
	for _, hint := range fault.Hints(err) {
		b.WriteString("\nhint: " + hint)
	}
}

// page is a text that comes from the app. It is marked, so that an agent does not take it for instructions.
type page struct{ text string }

// line adds one item. Line ends in it are marked, so that it cannot look like another item.
func (p *page) line(text string) {
	p.text += strings.ReplaceAll(strings.TrimRight(lineFeeds(text), "\n"), "\n", "\n  | ") + "\n"
}

// lineFeeds returns a text in which everything that Options.Output or a client may read as the end of a line is a line
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

// place adds where the device is: a page with its title, or an app of a phone, which has no URL.
func (p *page) place(url, title string) {
	switch {
	case url != "":
		p.line("url: " + url)
		p.line("title: " + title)
	case title != "":
		p.line("app: " + title)
	}
}

// lines adds lines that cannot be forged, such as those of a snapshot.
func (p *page) lines(text string) {
	if text = strings.TrimRight(text, "\n"); text != "" {
		p.text += text + "\n"
	}
}

// String returns the text between marks that nothing in it can contain, and "" for an empty one.
func (p page) String() string {
	if p.text == "" {
		return ""
	}
	var random [4]byte
	_, _ = rand.Read(random[:])                                      // never returns an error
	n := strconv.Itoa(int(binary.BigEndian.Uint32(random[:])) % 1e9) // digits are the shortest for a model
	return "<page n=" + n + ">\n" + strings.TrimRight(p.text, "\n") + "\n</page n=" + n + ">"
}

// cut returns at most n bytes of a text.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n -= len("…"); n > 0 && !utf8.RuneStart(text[n]); n-- {
	}
	return text[:max(0, n)] + "…"
}

// cutLines returns the first lines of a text, together at most n bytes. Where it leaves some out, it says what shows them.
func cutLines(text string, n int, remedy string) string {
	if len(text) <= n {
		return text
	}
	note := "\n… more; " + remedy
	end := strings.LastIndexByte(text[:max(0, n-len(note))+1], '\n')
	if end < 0 {
		return cut(text, n)
	}
	return text[:end] + note
}

// cutMiddle returns a text without whole lines in its middle when it is longer than n bytes.
func cutMiddle(text string, n int) string {
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
