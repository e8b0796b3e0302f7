package screen

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is how many characters of a name or a content are shown.
const maxName = 120

// dots replaces the content of a password field, independent of its length.
const dots = "••••••••"

// RoleName returns the role of n: its Role, else that of its Class or NativeRole, else "generic".
func (n *Node) RoleName() string {
	if n.Role != "" {
		return n.Role
	}
	role := "generic"
	for _, class := range []*string{n.Class, n.NativeRole} {
		if class != nil && role == "generic" {
			role = RoleOfClass(*class)
		}
	}
	switch {
	case role != "generic" && role != "text":
		return role
	case n.Editable:
		return "textbox"
	case n.Heading:
		return "heading"
	}
	return role
}

// Name returns what a person calls the element, with white space folded: its label, else what labels it, else its text
// where the role is named by text, else its hint. It is empty when nothing names the element.
func (n *Node) Name() string {
	if n.Role == "text" && n.Label == nil {
		return fold(valueOf(n.Text))
	}
	if !blank(n.Label) {
		return fold(*n.Label)
	}
	if !blank(n.LabeledBy) {
		return fold(*n.LabeledBy)
	}
	if n.namedByText() && !blank(n.Text) {
		return fold(*n.Text)
	}
	for _, text := range []*string{n.Title, n.PaneTitle, n.Hint} {
		if !blank(text) {
			return fold(*text)
		}
	}
	return ""
}

func (n *Node) namedByText() bool { return !n.secret() && hasWord(namedByText, n.RoleName()) }

// secret reports whether n is a password field.
func (n *Node) secret() bool {
	for _, class := range []*string{n.Class, n.Subrole} {
		if strings.HasSuffix(valueOf(class), "SecureTextField") {
			return true
		}
	}
	return n.Password
}

// Content returns the content of the element besides its name, with white space folded; dots for the content of a
// password field.
func (n *Node) Content() string {
	content := fold(valueOf(n.Value))
	if content == "" {
		content = fold(valueOf(n.Text))
	}
	switch {
	case content == "" || n.ShowingHint || content == n.Name() || content == fold(valueOf(n.Hint)):
		return ""
	case n.secret():
		return dots
	}
	return content
}

// String returns role and name as in: button "Save". What is on the screen can neither end the quotes nor the line.
func (n *Node) String() string {
	return describe(n.RoleName(), n.Name())
}

func describe(role, name string) string { return describeUpTo(maxName, role, name) }

// describeUpTo is describe with the number of characters of the name that are shown.
func describeUpTo(length int, role, name string) string {
	role = safeRole(role)
	if name == "" {
		return role
	}
	return role + " " + quoteUpTo(length, name)
}

// safeRole returns role when it is one word of letters, else "generic".
func safeRole(role string) string {
	notLetter := func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }
	if role == "" || strings.ContainsFunc(role, notLetter) {
		return "generic"
	}
	return role
}

// quote returns s in double quotes on one line, without characters that change how other text looks, and shortened.
func quote(s string) string { return quoteUpTo(maxName, s) }

// quoteUpTo is quote with the number of characters that are shown.
func quoteUpTo(length int, s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range shorten(Visible(s), length) {
		if r == '"' || r == '\\' {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	b.WriteByte('"')
	return b.String()
}

// Visible returns s with white space folded, and without control, bidirectional, zero-width and other characters that
// are not seen themselves.
func Visible(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || r == '\u2028' || r == '\u2029':
			return ' '
		case invisible(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return fold(s)
}

// invisible reports whether r is a control or format character, a variation selector beyond those of emoji, or a
// filler.
func invisible(r rune) bool {
	if r < unicode.MaxLatin1 {
		return unicode.IsControl(r) || r == '\u00ad'
	}
	return unicode.In(r, unicode.Cc, unicode.Cf) || r >= 0xe0100 && r <= 0xe01ef || r >= 0xe0000 && r <= 0xe007f ||
		r == '\u034f' || r == '\u115f' || r == '\u1160' || r == '\u17b4' || r == '\u17b5' || r == '\u2800' ||
		r == '\u3164' || r == '\uffa0' || r >= 0x180b && r <= 0x180f || r >= 0xfe00 && r <= 0xfe0d
}

// shorten cuts s to at most length characters, of which the last is "…" then.
func shorten(s string, length int) string {
	if utf8.RuneCountInString(s) <= length {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:length-1])) + "…"
}
