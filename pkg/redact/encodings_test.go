package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRedactsBase64OfJSON(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"hunter2", "p\"w<\\é>", "line one\nline two\n"} {
		r := New(map[string]string{"S": secret})
		for _, name := range []string{"p", "pw", "pwd"} { // moves the secret to each alignment
			encoded, err := json.Marshal(map[string]string{name: secret})
			if err != nil {
				t.Fatal(err)
			}
			text := base64.StdEncoding.EncodeToString(encoded)
			if got := r.Text(text); !strings.Contains(got, "{{S}}") {
				t.Errorf("Text(%q) = %q, of %s", text, got, encoded)
			}
		}
	}
}

const pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\n" +
	"C7VJTUt9Us8cKjMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDu\nictGeurT8jNbvJZHtCSuYEvu\n-----END PRIVATE KEY-----\n"

func TestRedactsLinesOfSecret(t *testing.T) {
	t.Parallel()
	r := New(map[string]string{"KEY": pem})
	crlf := strings.ReplaceAll(strings.TrimSpace(pem), "\n", "\r\n")
	lines := strings.Split(strings.TrimSpace(pem), "\n")
	quoted, err := json.Marshal(crlf)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ in, out string }{
		"CRLF":           {"key: " + crlf + "!", "key: {{KEY}}!"},
		"CRLF in JSON":   {string(quoted), `"{{KEY}}"`},
		"CRLF in base64": {base64.StdEncoding.EncodeToString([]byte(crlf)), "{{KEY}}"},
		"indented": {
			"key: |\n  " + strings.Join(lines, "\n  "),
			"key: |\n  {{KEY}}",
		},
		"one line":    {"error at " + lines[2] + ".", "error at {{KEY}}."},
		"not secret":  {lines[0] + " is missing", lines[0] + " is missing"},
		"half a line": {lines[2][:20], lines[2][:20]},
	} {
		if diff := cmp.Diff(tt.out, r.Text(tt.in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestRedactsUpperAndLowerCase(t *testing.T) {
	t.Parallel()
	r := New(map[string]string{"LONG": "Sesame-Open-1", "SHORT": "Sesame"})
	const in = "Sesame-Open-1 sesame-open-1 SESAME-OPEN-1 seSAME-open-1; Sesame sesame SESAME"
	const want = "{{LONG}} {{LONG}} {{LONG}} seSAME-open-1; {{SHORT}} sesame SESAME"
	if got := r.Text(in); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestShortSecretsAreNotRedacted(t *testing.T) {
	t.Parallel()
	r := New(map[string]string{"ONE": "1", "PIN": "471 ", "FOUR": "4711", "UMLAUTS": "ääü", "EMPTY": " "})
	const in = "step 1 of 471, 4711 ääü"
	if got, want := r.Text(in), "step 1 of 471, {{FOUR}} ääü"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	const why = " is not redacted: its value has fewer than 4 characters, which are part of too many other words"
	if diff := cmp.Diff([]string{"secret ONE" + why, "secret PIN" + why, "secret UMLAUTS" + why}, r.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if got := New(map[string]string{"A": "long enough"}).Warnings(); got != nil {
		t.Errorf("warnings: %q", got)
	}
}

// TestTimeIsLinear compares the times for texts that look like secrets or escapes nearly everywhere to that for another
// text. A search that tries each place anew takes over a thousand times as long.
func TestTimeIsLinear(t *testing.T) {
	t.Parallel()
	const size = 1 << 16
	r := New(map[string]string{"S": strings.Repeat("A", 2000) + "B", "T": strings.Repeat(`\A`, 500) + "B"})
	took := func(text string) time.Duration {
		least := time.Duration(1<<63 - 1)
		for range 3 {
			begun := time.Now()
			if got := r.Text(text); got != text {
				t.Errorf("a text of %q changed", text[:10])
			}
			least = min(least, time.Since(begun))
		}
		return least
	}
	other := took(strings.Repeat("AC", size/2))
	for _, part := range []string{"A", `\A`, `\`, "%25", `\u0041`, "&amp;", "\x1b[m", "A\x1b[m", "A\x1b]", "A\x1b[1", " ", "A\u200b"} {
		if slow := took(strings.Repeat(part, size/len(part))); slow > 200*other {
			t.Errorf("%q takes %s, other text %s", part, slow, other)
		}
	}
}

// TestEscapesAreDecodedInPieces checks that a Writer finds what Text finds wherever the text is divided.
func TestEscapesAreDecodedInPieces(t *testing.T) {
	t.Parallel()
	r := New(map[string]string{"S": canary})
	for name, form := range encoded(t, canary) {
		text := "x" + form + "&" + form + `\`
		want := r.Text(text)
		for size := 1; size < 20; size++ {
			var out bytes.Buffer
			w := r.Writer(&out)
			for rest := []byte(text); len(rest) > 0; {
				n := min(size, len(rest))
				_, _ = w.Write(rest[:n])
				rest = rest[n:]
			}
			if err := w.Close(); err != nil || out.String() != want {
				t.Errorf("%s, %d bytes at a time: %q, want %q", name, size, out.String(), want)
			}
		}
	}
}
