package redact

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

const digits = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// withAndWithoutSecrets returns redactors that treat capabilities the same.
func withAndWithoutSecrets() map[string]*Redactor {
	return map[string]*Redactor{"without secrets": New(nil), "with secrets": New(map[string]string{"S": "hunter2"})}
}

func TestRedactsCapabilities(t *testing.T) {
	t.Parallel()
	capability := tool.NewCapability()
	quoted, err := json.Marshal(map[string]string{capability: `"` + capability + `"`})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, in, out string }{
		{"alone", capability, "{{capability}}"},
		{"in a text", "id=" + capability + "\ttbk_ " + capability + "\n", "id={{capability}}\ttbk_ {{capability}}\n"},
		{"neighbours", capability + capability, "{{capability}}{{capability}}"},
		{"in a word", "x" + capability + "abc", "x{{capability}}abc"},
		{"after the beginning of another one", "tbk_0tbk_" + digits, "tbk_0{{capability}}"},
		{"in JSON in JSON", quote(t, string(quoted)), `{\"{{capability}}\":\"\\\"{{capability}}\\\"\"}`},
		{"too short", "tbk_" + digits[1:], "tbk_" + digits[1:]},
		{"upper case", "tbk_" + strings.ToUpper(digits), "tbk_" + strings.ToUpper(digits)},
		{"another prefix", "tbk-" + digits, "tbk-" + digits},
		{"the beginning of one", "t tb tbk tbk_", "t tb tbk tbk_"},
	}
	for with, r := range withAndWithoutSecrets() {
		for _, tt := range tests {
			if got := r.Text(tt.in); got != tt.out {
				t.Errorf("%s, %s: Text(%q) = %q, want %q", with, tt.name, tt.in, got, tt.out)
			}
			if got := string(r.Bytes([]byte(tt.in))); got != tt.out {
				t.Errorf("%s, %s: Bytes(%q) = %q, want %q", with, tt.name, tt.in, got, tt.out)
			}
			for size := range len(tt.in) {
				if got := inPieces(t, r, tt.in, size+1); got != tt.out {
					t.Errorf("%s, %s, %d bytes at a time: %q became %q, want %q", with, tt.name, size+1, tt.in, got, tt.out)
				}
			}
		}
	}
}

func inPieces(t *testing.T, r *Redactor, text string, size int) string {
	t.Helper()
	var out bytes.Buffer
	w := r.Writer(&out)
	for rest := []byte(text); len(rest) > 0; {
		n := min(size, len(rest))
		if _, err := w.Write(rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestValueRedactsCapabilities(t *testing.T) {
	t.Parallel()
	const capability = "tbk_" + digits
	type other struct{ Name string }
	for with, r := range withAndWithoutSecrets() {
		for name, tt := range map[string]struct{ in, out any }{
			"text":         {capability, "{{capability}}"},
			"key":          {map[string]any{capability: 1}, map[string]any{"{{capability}}": 1}},
			"value":        {map[string]any{"a": 1, "b": "is " + capability}, map[string]any{"a": 1, "b": "is {{capability}}"}},
			"deep":         {[]any{true, map[string]any{"a": []any{capability}}}, []any{true, map[string]any{"a": []any{"{{capability}}"}}}},
			"list of text": {[]string{"a", capability}, []any{"a", "{{capability}}"}},
			"raw JSON":     {json.RawMessage(`"` + capability + `"`), "{{capability}}"},
			"struct":       {&other{capability}, map[string]any{"Name": "{{capability}}"}},
			"not JSON":     {struct{ A, B any }{math.NaN(), capability}, "{NaN {{capability}}}"},
		} {
			if diff := cmp.Diff(tt.out, r.Value(tt.in)); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", with, name, diff)
			}
		}
	}
}

func TestWriterHoldsBackOnlyBeginningsOfCapabilities(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := New(nil).Writer(&out)
	for _, step := range []struct{ in, want string }{
		{"not", "no"},
		{" so t", "not so "},
		{"bk_012", "not so "},
		{"g", "not so tbk_012g"},
		{"tbk_" + digits[:63], "not so tbk_012g"},
		{digits[63:], "not so tbk_012g{{capability}}"},
		{"\n", "not so tbk_012g{{capability}}\n"},
	} {
		if _, err := w.Write([]byte(step.in)); err != nil {
			t.Fatal(err)
		}
		if out.String() != step.want {
			t.Errorf("after %q: %q is out, want %q", step.in, out.String(), step.want)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// Without secrets, all of them should take about as long as bytes.Contains.
func BenchmarkWithoutSecrets(b *testing.B) {
	text := bytes.Repeat([]byte(`{"time":"2026-11-20T10:00:00Z","level":"info","msg":"GET /a%20b?c=d, 100% of the text it got"}`+"\n"), 64<<10/96)
	value := map[string]any{"a": 1, "list": []any{"text", 2.5, true}, "text": string(text)}
	r, w := New(nil), New(nil).Writer(&keeper{})
	for name, f := range map[string]func() bool{
		"Contains": func() bool { return !bytes.Contains(text, []byte(tool.CapabilityPrefix)) },
		"Bytes":    func() bool { return len(r.Bytes(text)) == len(text) },
		"Writer":   func() bool { n, err := w.Write(text); return n == len(text) && err == nil },
		"Value":    func() bool { return r.Value(value) != nil },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if !f() {
					b.Fatal("unexpected result")
				}
			}
		})
	}
}
