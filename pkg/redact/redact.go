// Package redact replaces the values of secrets by {{NAME}}, and capabilities (package tool) by {{capability}}, in
// everything that the program writes.
//
// A secret is found in these encodings, and in any mixture of the first three, nested up to three times (JSON in a
// query in JSON):
//   - backslash escapes as in JSON, shells and source code: \", \/, \u00e9, surrogate pairs, \x41;
//   - percent-encoding with either case of hex digits, and + for a space;
//   - character references of HTML: &amp;, &#39;, &#x27;;
//   - hexadecimal in either case, and single-quoted for a shell;
//   - base64 with the standard or the URL alphabet, padded or not, of the value or of JSON that contains it. A value of
//     at least six bytes is also found within a longer base64 text, such as "user:value"; base64 broken into lines is
//     not decoded;
//   - wholly in upper or in lower case, from eight bytes on;
//   - of a value with several lines also each line of at least twelve bytes, whatever its indentation, and with either
//     line end.
//
// A secret is also found when escape sequences, control characters or characters without width separate its characters,
// and when its spaces are other white space, such as a line break. It is not found when its first bytes belong to an
// escape that begins before them: decoding the text does not yield the secret either.
//
// Values of fewer than MinLength characters are not redacted, because they are part of too many other words; Warnings
// says so. White space around a value is not part of the secret, because a file with the value ends with a newline, and
// output of a tool may not.
//
// The time is linear in the length of the text for any secrets. A Redactor never changes and may be used by any
// goroutine. A Writer must be used by one goroutine at a time.
package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Redactor replaces secrets and capabilities. A nil one and a zero one replace nothing.
type Redactor struct {
	secrets     map[string]string
	names       []string // of the secrets that are redacted; their ids are the indexes
	matcher     *matcher
	escapes     [escapeKinds]escape
	leads       [256]uint8 // for each byte, a bit for each kind of escape that begins with it
	interesting [256]bool  // those, and bytes with which a secret or a capability begins
}

// New makes a Redactor from names and values.
func New(secrets map[string]string) *Redactor {
	r := &Redactor{secrets: maps.Clone(secrets), matcher: newMatcher(), escapes: allEscapes()}
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		value := strings.TrimSpace(secrets[name])
		if utf8.RuneCountInString(value) < MinLength {
			continue
		}
		for _, text := range encodings(value) {
			r.matcher.add(text, len(r.names))
		}
		r.names = append(r.names, name)
	}
	r.matcher.link()
	for b, state := range r.matcher.first {
		r.interesting[b] = state != 0
	}
	r.interesting[tool.CapabilityPrefix[0]] = true
	for kind, e := range r.escapes {
		for _, b := range []byte(e.leads) {
			r.leads[b] |= 1 << kind
			r.interesting[b] = r.interesting[b] || !e.last
		}
	}
	return r
}

// Warnings returns a sentence for each secret that is not redacted because its value is too short.
func (r *Redactor) Warnings() []string {
	var warnings []string
	for _, name := range slices.Sorted(maps.Keys(r.secrets)) {
		n := utf8.RuneCountInString(strings.TrimSpace(r.secrets[name]))
		if n > 0 && n < MinLength {
			warnings = append(warnings, fmt.Sprintf(
				"secret %s is not redacted: its value has fewer than %d characters, which are part of too many other words", name, MinLength))
		}
	}
	return warnings
}

// HasSecrets reports whether secrets are replaced.
func (r *Redactor) HasSecrets() bool { return !r.isZero() && len(r.names) > 0 }

func (r *Redactor) isZero() bool { return r == nil || r.matcher == nil }

// mayContain reports whether there may be something to replace in s.
func (r *Redactor) mayContain(s string) bool {
	return r.HasSecrets() || !r.isZero() && strings.Contains(s, tool.CapabilityPrefix)
}

// replacement returns what replaces a secret.
func (r *Redactor) replacement(id int) string {
	if id == capability {
		return "{{capability}}"
	}
	return "{{" + r.names[id] + "}}"
}

// Text returns s with every secret and capability replaced: texts, names of files before they are made safe, and
// everything else. Of secrets within each other the longest is replaced; where they overlap, all of them are replaced
// by their names in order. Replacements are not searched again.
func (r *Redactor) Text(s string) string {
	if !r.mayContain(s) {
		return s
	}
	b := []byte(s)
	out := r.Bytes(b)
	if len(b) == 0 || &out[0] == &b[0] {
		return s
	}
	return string(out)
}

// Bytes does what Text does, for bytes. It does not change b, and returns b itself when there is nothing to replace.
func (r *Redactor) Bytes(b []byte) []byte {
	if r.isZero() {
		return b
	}
	s := scanner{r: r}
	s.scan(b)
	s.close()
	if len(s.matches) == 0 {
		return b
	}
	return s.replace(make([]byte, 0, len(b)), b, 0, len(b))
}

// Value returns a copy of v in which every string, map key and number is redacted; a number that contains a secret
// becomes a string, and keys that become equal are numbered. v is not changed, and is returned itself when it certainly
// contains nothing to replace. Values of types that are not JSON-like are converted by encoding and decoding them as
// JSON.
func (r *Redactor) Value(v any) any {
	if r.isZero() || len(r.names) == 0 && !hasCapability(v) {
		return v
	}
	return r.redactValue(v)
}

func (r *Redactor) redactValue(v any) any {
	switch v := v.(type) {
	case nil, bool:
		return v
	case string:
		return r.Text(v)
	case []any:
		if v == nil {
			return v
		}
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = r.redactValue(e)
		}
		return list
	case map[string]any:
		if v == nil {
			return v
		}
		return r.redactObject(v)
	default:
		return r.redactEncoded(v)
	}
}

// redactObject redacts the keys and values of a mapping. Keys that become equal get a number from the second on.
func (r *Redactor) redactObject(v map[string]any) map[string]any {
	object := make(map[string]any, len(v))
	var redacted []string
	for _, k := range slices.Sorted(maps.Keys(v)) {
		if r.Text(k) != k {
			redacted = append(redacted, k)
			continue
		}
		object[k] = r.redactValue(v[k])
	}
	for _, k := range redacted {
		text := r.Text(k)
		name := text
		for n := 2; ; n++ {
			if _, taken := object[name]; !taken {
				break
			}
			name = fmt.Sprintf("%s %d", text, n)
		}
		object[name] = r.redactValue(v[k])
	}
	return object
}

// redactEncoded redacts a value after encoding it as JSON: numbers, and types that redactValue does not handle.
func (r *Redactor) redactEncoded(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		return r.Text(fmt.Sprint(v))
	}
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.UseNumber()
	var plain any
	if err := decoder.Decode(&plain); err != nil {
		return r.Text(string(b))
	}
	number, ok := plain.(json.Number)
	if !ok {
		return r.redactValue(plain)
	}
	if s := r.Text(number.String()); s != number.String() {
		return s
	}
	return v
}

// hasCapability reports whether the beginning of a capability is anywhere in v.
func hasCapability(v any) bool {
	switch v := v.(type) {
	case nil, bool, int, int64, uint64, float64, json.Number:
		return false
	case string:
		return strings.Contains(v, tool.CapabilityPrefix)
	case []any:
		return slices.ContainsFunc(v, hasCapability)
	case map[string]any:
		for k, e := range v {
			if hasCapability(k) || hasCapability(e) {
				return true
			}
		}
		return false
	default:
		b, err := json.Marshal(v)
		if err != nil {
			b = fmt.Append(nil, v)
		}
		return bytes.Contains(b, []byte(tool.CapabilityPrefix))
	}
}
