package aria

import (
	"encoding/json"
	"strings"
)

// String returns the tree in YAML, in Playwright's format.
func (t *Tree) String() string {
	var b strings.Builder
	for i, l := range t.lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		l.write(&b, i+1 < len(t.lines) && t.lines[i+1].Depth > l.Depth)
	}
	return b.String()
}

func (l *Line) write(b *strings.Builder, hasMore bool) {
	margin := strings.Repeat("  ", l.Depth)
	b.WriteString(margin + "- ")
	if l.node == nil {
		b.WriteString("text: " + yamlValue(l.Text))
		return
	}
	b.WriteString(yamlKey(l.key()))
	switch {
	case len(l.Properties) > 0:
		b.WriteByte(':')
		for _, p := range l.Properties {
			b.WriteString("\n" + margin + "  - /" + p.Name + ": " + yamlValue(p.Value))
		}
		if l.Text != "" {
			b.WriteString("\n" + margin + "  - text: " + yamlValue(l.Text))
		}
	case l.Text != "":
		b.WriteString(": " + yamlValue(l.Text))
	case hasMore:
		b.WriteByte(':')
	}
}

// key returns role, name and states in Playwright's format.
func (l *Line) key() string {
	words := []string{l.Role}
	if l.Name != "" {
		words = append(words, quoteJSON(l.Name))
	}
	for _, a := range l.Attributes {
		words = append(words, "["+a+"]")
	}
	return strings.Join(words, " ")
}

func quoteJSON(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be encoded
	return strings.TrimSuffix(b.String(), "\n")
}

func yamlKey(s string) string {
	if !needsQuotes(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

func yamlValue(s string) string {
	if !needsQuotes(s) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '\\' || r == '"':
			b.WriteByte('\\')
			b.WriteRune(r)
		case strings.ContainsRune("\b\f\n\r\t", r):
			b.WriteString(quoteJSON(string(r))[1:3])
		case isControl(r):
			const hex = "0123456789abcdef"
			b.WriteString(`\x`)
			b.WriteByte(hex[r>>4])
			b.WriteByte(hex[r&15])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func isControl(r rune) bool { return r < ' ' || r >= 0x7f && r <= 0x9f }

// needsQuotes reports whether YAML would parse s as something else than this text.
func needsQuotes(s string) bool {
	if s == "" || trim(s) != s || strings.ContainsAny(s, "{}`\n\r") || strings.ContainsAny(s[:1], `&*],?!>|@"'#%[-`) {
		return true
	}
	if strings.ContainsFunc(s, func(r rune) bool { return isControl(r) && r != '\t' }) || endsKey(s) {
		return true
	}
	switch lower := strings.ToLower(s); lower {
	case "y", "n", "yes", "no", "true", "false", "on", "off", "null", "~":
		return true
	case ".inf", ".nan", "+.inf", "+.nan":
		return true
	}
	return isNumber(s)
}

// endsKey reports whether s has a colon before a space or its end, or a space before a hash.
func endsKey(s string) bool {
	last := 'x'
	for _, r := range s {
		if last == ':' && isSpace(r) || isSpace(last) && r == '#' {
			return true
		}
		last = r
	}
	return last == ':'
}
