package source

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/text"
)

// element is an element of XML. Its text is left out: servers write everything into attributes.
type element struct {
	name       string
	attributes []attribute
	children   []*element
}

type attribute struct{ name, value string }

// value returns the value of an attribute, "" without it.
func (e *element) value(name string) string {
	for _, a := range e.attributes {
		if a.name == name {
			return a.value
		}
	}
	return ""
}

// parseXML returns the root element. What is around it is ignored, as the message that uiautomator prints after a dump.
//
// It exists because encoding/xml refuses the whole document for a control character in the text of one element, which
// serializers of Android do write, and because it takes three times as long.
func parseXML(data []byte) (*element, error) {
	p := xmlParser{text: string(data)}
	for {
		done, err := p.next()
		if err != nil {
			return nil, fmt.Errorf("%w at byte %d", err, p.at)
		}
		if done {
			return p.root, nil
		}
	}
}

// xmlParser reads markup from position at on.
type xmlParser struct {
	text     string
	at       int
	root     *element
	open     []*element // the elements around the position
	elements int
}

// next reads up to the end of the next tag, comment or declaration. It reports whether the root has ended.
func (p *xmlParser) next() (done bool, err error) {
	start := strings.IndexByte(p.text[p.at:], '<')
	if start < 0 {
		p.at = len(p.text)
		if len(p.open) > 0 {
			return false, fmt.Errorf("it ends inside <%s>", p.open[len(p.open)-1].name)
		}
		return false, fmt.Errorf("it is not XML")
	}
	p.at += start
	rest := p.text[p.at:]
	switch {
	case strings.HasPrefix(rest, "<?"):
		return false, p.skip("?>")
	case strings.HasPrefix(rest, "<!--"):
		return false, p.skip("-->")
	case strings.HasPrefix(rest, "<![CDATA["):
		return false, p.skip("]]>")
	case strings.HasPrefix(rest, "<!"):
		return false, p.skip(">")
	case strings.HasPrefix(rest, "</"):
		return p.endTag()
	}
	return p.startTag()
}

// skip moves behind the next occurrence of end.
func (p *xmlParser) skip(end string) error {
	at := strings.Index(p.text[p.at:], end)
	if at < 0 {
		return fmt.Errorf("%q is missing", end)
	}
	p.at += at + len(end)
	return nil
}

func (p *xmlParser) endTag() (done bool, err error) {
	end := strings.IndexByte(p.text[p.at:], '>')
	if end < 0 {
		return false, fmt.Errorf("a tag does not end")
	}
	name := strings.TrimSpace(p.text[p.at+2 : p.at+end])
	if len(p.open) == 0 || p.open[len(p.open)-1].name != name {
		return false, fmt.Errorf("</%s> ends an element that is not open", shorten(name))
	}
	p.at += end + 1
	p.open = p.open[:len(p.open)-1]
	return len(p.open) == 0, nil
}

func (p *xmlParser) startTag() (done bool, err error) {
	p.at++
	const usual = 32 // no server writes more attributes
	e := &element{name: p.word(), attributes: make([]attribute, 0, usual)}
	if e.name == "" {
		return false, fmt.Errorf("a tag has no name")
	}
	p.elements++
	if p.elements > maxNodes {
		return false, fmt.Errorf("it has more than %d elements", maxNodes)
	}
	if len(p.open) >= maxDepth {
		return false, fmt.Errorf("its elements are nested more than %d deep", maxDepth)
	}
	empty, err := p.attributes(e)
	if err != nil {
		return false, err
	}
	if len(p.open) > 0 {
		parent := p.open[len(p.open)-1]
		parent.children = append(parent.children, e)
	} else {
		p.root = e
	}
	if empty {
		return len(p.open) == 0, nil
	}
	p.open = append(p.open, e)
	return false, nil
}

// attributes reads the rest of a start tag. It reports whether the element ends with it.
func (p *xmlParser) attributes(e *element) (empty bool, err error) {
	for {
		p.space()
		switch rest := p.text[p.at:]; {
		case strings.HasPrefix(rest, ">"):
			p.at++
			return false, nil
		case strings.HasPrefix(rest, "/>"):
			p.at += 2
			return true, nil
		}
		a := attribute{name: p.word()}
		if a.name == "" {
			return false, fmt.Errorf("<%s> does not end", shorten(e.name))
		}
		if a.value, err = p.attributeValue(); err != nil {
			return false, fmt.Errorf("the attribute %s of <%s> %w", shorten(a.name), shorten(e.name), err)
		}
		e.attributes = append(e.attributes, a)
	}
}

// attributeValue reads the value of an attribute with the equals sign before it.
func (p *xmlParser) attributeValue() (string, error) {
	p.space()
	if !strings.HasPrefix(p.text[p.at:], "=") {
		return "", fmt.Errorf("has no value")
	}
	p.at++
	p.space()
	rest := p.text[p.at:]
	if rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return "", fmt.Errorf("has a value without quotes")
	}
	end := strings.IndexByte(rest[1:], rest[0])
	if end < 0 {
		return "", fmt.Errorf("does not end")
	}
	p.at += end + 2
	return unescape(rest[1 : end+1]), nil
}

func (p *xmlParser) space() {
	for p.at < len(p.text) && isSpace(p.text[p.at]) {
		p.at++
	}
}

// word reads a name.
func (p *xmlParser) word() string {
	start := p.at
	for p.at < len(p.text) && !isSpace(p.text[p.at]) && strings.IndexByte(`/>="'<`, p.text[p.at]) < 0 {
		p.at++
	}
	return p.text[start:p.at]
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// unescape replaces the references in a value. What is not one stays as it is.
func unescape(value string) string {
	value = strings.ToValidUTF8(value, "\ufffd")
	at := strings.IndexByte(value, '&')
	if at < 0 {
		return value
	}
	var b strings.Builder
	for ; at >= 0; at = strings.IndexByte(value, '&') {
		b.WriteString(value[:at])
		value = value[at:]
		r, length := reference(value)
		if low, more := reference(value[length:]); utf16.IsSurrogate(r) && utf16.IsSurrogate(low) {
			r, length = utf16.DecodeRune(r, low), length+more // some serializers write the halves of an emoji
		}
		b.WriteRune(r) // U+FFFD for what is not a character
		value = value[length:]
	}
	b.WriteString(value)
	return b.String()
}

// reference returns the character for the reference at the start of text, and the length of the reference; for other
// text its first byte, and 0 for none. A character may be half of a surrogate pair.
func reference(text string) (rune, int) {
	const longest = len("&#x0010FFFF;")
	end := strings.IndexByte(text[:min(len(text), longest)], ';')
	if end < 0 || text[0] != '&' {
		return first(text)
	}
	switch name := text[1:end]; name {
	case "amp":
		return '&', end + 1
	case "lt":
		return '<', end + 1
	case "gt":
		return '>', end + 1
	case "quot":
		return '"', end + 1
	case "apos":
		return '\'', end + 1
	default:
		number, ok := strings.CutPrefix(name, "#")
		if !ok {
			return first(text)
		}
		base := 10
		if hex, ok := strings.CutPrefix(number, "x"); ok {
			number, base = hex, 16
		}
		code, err := strconv.ParseUint(number, base, 32)
		if err != nil {
			return first(text)
		}
		if code == 0 || code > utf8.MaxRune {
			return utf8.RuneError, end + 1
		}
		return rune(code), end + 1
	}
}

// first returns the first character of text, and its length.
func first(text string) (rune, int) { return utf8.DecodeRuneInString(text) }

// shorten returns name for a message.
func shorten(name string) string { return text.HeadBytes(name, 60) }
