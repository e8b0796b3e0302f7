package yamldoc_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

func TestMessagesOfSyntaxErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, src, want string }{
		{"token", "a: {{email}}\n", "1:4: a value that starts with {{ is a mapping to YAML"},
		{"token in flow", "a: {text: {{email}}}\n", "1:11: a value that starts with {{ is a mapping to YAML"},
		{"token in list", "- {{x}}\n", "1:3: a value that starts with {{ is a mapping to YAML"},
		{"double quote", "a: \"x\n\nb: c\n", `1:4: the text that starts with " here is never closed`},
		{"short escape", "a: \"C:\\Users\"\n", `1:7: \u, \U and \x in double quotes need 4, 8 and 2 hexadecimal digits`},
		{
			"short escape at the end",
			"a: \"\\x4\"\n", `1:4: \u, \U and \x in double quotes need 4, 8 and 2 hexadecimal digits`,
		},
		{"wrong digits", "a: \"C:\\Users\\bob\\file.txt\"\n", `1:7: \u, \U and \x in double quotes need 4, 8 and 2 hexadecimal digits`},
		{"wrong digits of \\x", "a: b\nc: [\"d\", \"C:\\xampp\\bin\"]\n", `2:13: \u, \U and \x in double quotes need 4, 8 and 2 hexadecimal digits`},
		{"wrong digits of \\u", "a: \"b\n  é \\u12G4\"\n", `2:5: \u, \U and \x in double quotes need 4, 8 and 2 hexadecimal digits`},
		{"wrong digits behind tabs", "{a:\t\"x\", b:\t\"\\x-1\"}\n", `1:14: \u, \U and \x in double quotes need 4, 8 and 2 hexadecimal digits`},
		{"wrong digits of the other half", "a: \"\\ud83d\\udc:0\"\n", `1:5: \u, \U and \x in double quotes need 4, 8 and 2 hexadecimal digits`},
		{"the other half alone", "a: \"\\ude00\"\n", "1:5: this escape sequence stands for no character"},
		{"beyond Unicode", "a: \"\\U00110000\"\n", "1:5: this escape sequence stands for no character"},
		{"tab in double quotes", "{ text: \"a\tb\", index: 2 }\n", "1:11: a tab in double-quoted text"},
		{"tabs in a list", "a: [\"a\tb\tc\td\te\tf\", \"x\", \"y\"]\n", "1:7: a tab in double-quoted text"},
		{"tab before a quote that is closed elsewhere", "a: \"b\tc\"\"d\n", "1:6: a tab in double-quoted text"},
		{"tab in a second line", "a: \"b\n  c\td\"\n", "2:4: a tab in double-quoted text"},
		{"colon in a list in braces", "a: { slots: [10:30, 11] }\n", "1:14: a colon without a space after it"},
		{"URL in a list in braces", "{ a: [http://127.0.0.1:8080] }\n", "1:7: a colon without a space after it"},
		{"quotes behind a colon", "{ a: [b:\"c\"] }\n", "1:7: a colon without a space after it"},
		{"colon first", "{ a: [:b] }\n", "1:6: a colon without a space after it"},
		{"tab in text", "text: Total\t10\n", "1:7: a tab in text without quotes"},
		{"tab in a number", "a: [1\t0]\n", "1:5: a tab in text without quotes"},
		{"tab in a key", "a\tb: 1\n", "1:1: a tab in text without quotes"},
		{"tab in a second line without quotes", "a: b\n  c\td\n", "1:4: a tab in text without quotes"},
		{"half a surrogate pair", "a: \"\\ud83dxxxxxxxx\"\n", "1:5: half of a surrogate pair is not a character"},
		{"escaped quote", "a: \"say \\\"hi\n", `1:4: the text that starts with " here is never closed`},
		{"single quote", "a: 'x\nb: c\n", "1:4: the text that starts with ' here is never closed"},
		{"apostrophe", "a: 'it's'\n", "1:8: text after the closing quote"},
		{"text after quotes", "a: \"x\" y\n", "1:8: text after the closing quote"},
		{"bracket in the middle", "a: [1\nb: 2\n", "2:1: the list that opens with [ before this is not closed"},
		{"bracket at the end", "key: [a, b\n", "1:6: the list that opens with [ is never closed"},
		{"brace in the middle", "a: {b: 1\nc: 2\n", "2:1: the mapping that opens with { before this is not closed"},
		{"brace at the end", "a: {x\n", "1:5: the mapping that opens with { is never closed"},
		{"lone bracket", "a: ]\n", "1:4: this ] has no opening ["},
		{"brace too many", "{a: 1}}\n", "1:7: unexpected text after a complete value"},
		{"tab before a key", "\ta: 1\n", "1:2: a tab in the indentation"},
		{"tab below a key", "a:\n\tb: 1\n", "2:1: a tab in the indentation"},
		{"tab in a block", "a: >\n\tx\n", "2:1: a tab in the indentation"},
		{"colon without space", "a:b\nc: 1\n", "1:1: a colon without a space after it"},
		{"no colon", "a\nb: 1\n", "1:1: this line has no colon"},
		{"no colon later", "a: 1\nb\nc: 2\n", "2:1: this line has no colon"},
		{"second colon", "- step: Create a user: now\n", "1:9: a second colon in one line"},
		{
			"deeper",
			"a:\n  b: 1\n    c: 2\n", "3:5: this line is indented deeper than the line above, which already has its value",
		},
		{"shallower", "a:\n  b: 1\n c: 2\n", "3:2: the indentation of this line matches no line above it"},
		{"below quotes", "a: \"x\"\n  b: 1\n", "2:3: the indentation of this line matches no line above it"},
		{"block ends early", "a: |\n  x\n y\n", "3:2: the indentation of this line matches no line above it"},
		{"key after list", "- a\nb: c\n", "2:1: the indentation of this line matches no line above it"},
		{"list among keys", "a: 1\n- b\n", "2:1: a list entry between the keys of a mapping"},
		{"list in the key's line", "a: - b\n", "1:4: a list cannot start in the line of its key"},
		{"at sign", "a: @foo\n", "1:4: text cannot start with @"},
		{"backquote", "a: `x`\n", "1:4: text cannot start with a backquote"},
		{"percent", "a: %x\n", "1:4: text cannot start with %"},
		{"escape", "a: \"\\q\"\n", "1:6: this is not an escape sequence of double-quoted text"},
		{"anchor without value", "a: &x\n", "1:4: & defines an anchor, but no value follows"},
		{"star without name", "a: *\n", "1:4: * refers to an anchor, but no name follows"},
		{"star text", "a: *bold*\n", "1:4: *bold* refers to an anchor, but no &bold* is defined before it"},
		{"alias before its anchor", "a: *x\nb: &x 1\n", "1:4: *x refers to an anchor, but no &x is defined before it"},
		{"anchor twice", "a: &x 1\nb: &x 2\n", "2:4: the anchor &x is defined twice"},
		{"tag", "a: !important x\n", "1:4: the YAML tag !important is not supported"},
		{"text block header", "a: |x\n  y\n", "1:4: this is not a valid header of a block of text"},
		{"two documents", "a: 1\n---\nb: 2\n", "3:1: a second YAML document; a file holds only one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := read(tt.src, func(n yamldoc.Node) { n.Value() })
			if diff := cmp.Diff([]string{"f.yaml:" + tt.want}, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHintsForValuesOfWrongKind(t *testing.T) {
	t.Parallel()
	list := func(n yamldoc.Node) { n.Items() }
	mapping := func(n yamldoc.Node) { n.Entries() }
	for src, tt := range map[string]struct {
		read func(yamldoc.Node)
		hint string
	}{
		"a:\n  b: 1\n":  {list, `put "- " before each entry`},
		"a:\n  -b: 1\n": {list, "put a space after the -"},
		"a: { b: 1 }\n": {list, ""},
		"a: b\n":        {list, "write a list: [a, b]"},
		"a:\n  - b\n":   {mapping, `remove the "- "`},
		"a: [b]\n":      {mapping, ""},
		"a: Yes\n":      {func(n yamldoc.Node) { n.Bool() }, "write true"},
		"a: off\n":      {func(n yamldoc.Node) { n.Bool() }, "write false"},
		"a: true\n":     {func(n yamldoc.Node) { n.Str() }, `write it in quotes: "true"`},
	} {
		t.Run(src, func(t *testing.T) {
			t.Parallel()
			doc, root := yamldoc.Parse("f.yaml", fault.Config, []byte(src))
			tt.read(root.Entries()[0].Value)
			if p := doc.Problems(); len(p) != 1 || p[0].Hint != tt.hint {
				t.Errorf("problems %v, hint %q; want the hint %q", p, p[0].Hint, tt.hint)
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		src  string
		want any
	}{
		{"7", int64(7)},
		{"-7", int64(-7)},
		{"+7", int64(7)},
		{"0", int64(0)},
		{"0x1F", int64(31)},
		{"0o17", int64(15)},
		{"9223372036854775807", int64(9223372036854775807)},
		{"18446744073709551615", uint64(18446744073709551615)},
		{"1.10", 1.1},
		{".5", 0.5},
		{"1e3", 1000.0},
		{"1.5e-3", 0.0015},
		{"1e+21", 1e21},
		{"yes", "yes"},
		{"1:30", "1:30"},
		{"2024-01-01", "2024-01-01"},
		{`"1e3"`, "1e3"},
		{"!!str 0123", "0123"},
		{"!!str 1e3", "1e3"},
		{"1.2.3", "1.2.3"},
		{"12ab", "12ab"},
		{"-", nil},
		{"~", nil},
	} {
		t.Run(tt.src, func(t *testing.T) {
			t.Parallel()
			var got any
			problems := read("- "+tt.src+"\n", func(n yamldoc.Node) { got = n.Items()[0].Value() })
			if list, ok := got.([]any); ok && tt.want == nil && len(list) == 1 {
				got = list[0] // "- -" is a list of nothing
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || problems != nil {
				t.Errorf("value (-want +got):\n%s%v", diff, problems)
			}
		})
	}
}

func TestAmbiguousNumbersAreProblems(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"0123":                    "f.yaml:1:4: 0123 is ambiguous: some YAML readers take it for a number, others for text",
		"08":                      "f.yaml:1:4: 08 is ambiguous: some YAML readers take it for a number, others for text",
		"1_000":                   "f.yaml:1:4: 1_000 is ambiguous: some YAML readers take it for a number, others for text",
		"0b11":                    "f.yaml:1:4: 0b11 is ambiguous: some YAML readers take it for a number, others for text",
		"007.5":                   "f.yaml:1:4: 007.5 is ambiguous: some YAML readers take it for a number, others for text",
		"12345678901234567890123": "f.yaml:1:4: the number 12345678901234567890123 is too large",
		"-9223372036854775809":    "f.yaml:1:4: the number -9223372036854775809 is too large",
		"1e400":                   "f.yaml:1:4: the number 1e400 is too large",
		".inf":                    "f.yaml:1:4: .inf cannot be sent to a tool: JSON has no such number",
	} {
		t.Run(src, func(t *testing.T) {
			t.Parallel()
			got := read("a: "+src+"\n", func(n yamldoc.Node) { n.Value() })
			if diff := cmp.Diff([]string{want}, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
