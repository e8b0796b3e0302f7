package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
)

func TestCIWriter(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a::b\n":                   "a::b\n",
		"::error::bad\n":           ": :error::bad\n",
		"ok\n::stop-commands::x\n": "ok\n: :stop-commands::x\n",
		" \t::error::bad":          " \t: :error::bad",
		"\u00a0\u2003::error::bad": "\u00a0\u2003: :error::bad",
		"a\r::error::bad":          "a\r: :error::bad",
		":\n::x":                   ":\n: :x",
		":::x":                     ": ::x",
		": :x":                     ": :x",
		"##[error]bad":             "## [error]bad",
		"text ##[group]":           "text ## [group]",
		"###[x":                    "### [x",
		"##vso[task.setvariable]":  "##vso [task.setvariable]",
		"##vs##vso[x":              "##vs##vso [x",
		"##teamcity[x":             "##teamcity [x",
		"## Title\n[link](x)":      "## Title\n[link](x)",
		"##\n[x":                   "##\n[x",
		"é::x\n":                   "é::x\n",
		"\xff::x":                  "\xff: :x",
	} {
		for size := 1; size <= len(in); size++ {
			var out bytes.Buffer
			w := NewCIWriter(&out, false)
			for rest := in; rest != ""; rest = rest[min(size, len(rest)):] {
				if n, err := io.WriteString(w, rest[:min(size, len(rest))]); err != nil || n != min(size, len(rest)) {
					t.Fatalf("Write = %d, %v", n, err)
				}
			}
			if got := out.String(); got != want && (size == len(in) || !separates(got, in)) {
				t.Errorf("%q, %d bytes at a time: %q, want %q", in, size, got, want)
			}
		}
	}
}

// separates reports whether got is text without commands: where a character is divided, white space may be assumed
// before colons.
func separates(got, text string) bool {
	return !regexp.MustCompile(`(?m)^\s*::|##(vso|teamcity)?\[`).MatchString(got) && strings.ReplaceAll(got, " ", "") == strings.ReplaceAll(text, " ", "")
}

func TestCIWriterKeepsJSONValues(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	in := []string{"##[error]", `a\##vso[x]`, "\n::error::", "##teamcity["}
	if err := json.NewEncoder(NewCIWriter(&out, true)).Encode(in); err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || strings.Join(got, "|") != strings.Join(in, "|") {
		t.Errorf("%v, %q", err, got)
	}
	if regexp.MustCompile(`(?m)^\s*::|##(vso|teamcity)?\[`).Match(out.Bytes()) {
		t.Errorf("a command is left in %s", out.Bytes())
	}
}

func TestCIWriterReturnsErrors(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	r, w := io.Pipe()
	_ = r.CloseWithError(full)
	if n, err := NewCIWriter(w, false).Write([]byte("x")); n != 0 || !errors.Is(err, full) {
		t.Errorf("Write = %d, %v", n, err)
	}
}
