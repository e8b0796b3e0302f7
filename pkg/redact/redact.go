// Package redact replaces the values of secrets by {{NAME}}, and capabilities (package tool) by {{capability}}, in whatever
// leaves the program.
//
// A secret is found as it is, and in these disguises, also mixed and up to three times over ("JSON in a query in JSON"):
// JSON escapes (\", \/, \u00e9, surrogate pairs), percent-encoding with either case of hex digits, + for a space; and in
// base64, standard or URL alphabet, padded or not. A secret of at least six bytes is also found inside a longer base64
// text, such as the "user:secret" of Basic authentication, whatever its alignment; a shorter one only where its own
// base64 form stands, because fewer fixed bits would match by chance. Base64 broken into lines is not found. Colour codes
// inside a secret do not hide it.
//
// A capability is found wherever its prefix stands plain, which JSON does not change; without secrets that search is all
// there is, and costs next to nothing.
//
// It refuses to guess: case, other encodings and parts of a secret stay. White space around a value is not part of the
// secret (a file ends with a newline, what a tool prints of it does not).
//
// A Redactor never changes and may be used from any goroutine; a Writer belongs to one goroutine.
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
	names    map[string]string // of the secrets, with their values
	patterns []pattern
	secrets  bool  // there are some; otherwise there is only the pattern of capabilities
	first    index // bit i%64 is set when pattern i can start so
	second   index // the same for what follows a first byte that is no escape
}

// New makes a Redactor from names and values. Values that are empty but for white space are ignored.
func New(secrets map[string]string) *Redactor {
	r := &Redactor{names: maps.Clone(secrets)}
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		value := strings.TrimSpace(secrets[name])
		if value == "" {
			continue
		}
		r.secrets = true
		replacement := "{{" + name + "}}"
		r.add(plain(replacement, value))
		if strings.Contains(value, "{{") {
			r.add(plain(replacement, strings.ReplaceAll(value, "{{", `\{{`))) // as it is written in a trail
		}
		for _, p := range base64s(replacement, value) {
			r.add(p)
		}
	}
	r.add(capabilities())
	return r
}

// With returns a Redactor that replaces more secrets. One whose name is taken by another value gets a prime behind its name.
func (r *Redactor) With(secrets map[string]string) *Redactor {
	all := map[string]string{}
	maps.Copy(all, r.names)
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		value := secrets[name]
		for known, taken := all[name]; taken && known != value; known, taken = all[name] {
			name += "'"
		}
		all[name] = value
	}
	return New(all)
}

func (r *Redactor) add(p pattern) {
	bit := uint64(1) << (len(r.patterns) % 64)
	r.patterns = append(r.patterns, p)
	r.first.add(bit, p.chars[0])
	if len(p.chars) > 1 && !slices.ContainsFunc(p.chars[0], func(c rune) bool { return c >= utf8.RuneSelf }) {
		r.second.add(bit, p.chars[1])
	} else {
		r.second.addAny(bit)
	}
}

func (r *Redactor) idle() bool { return r == nil || len(r.patterns) == 0 }

// Text returns s with every occurrence of a secret or capability replaced. At any place the longest secret wins; where occurrences
// overlap, the whole stretch is replaced by their names in order. What was put in is not looked at again.
func (r *Redactor) Text(s string) string {
	if r.idle() || !r.secrets && !strings.Contains(s, tool.CapabilityPrefix) {
		return s
	}
	out := r.Bytes([]byte(s))
	if string(out) == s {
		return s
	}
	return string(out)
}

// Bytes is Text for bytes; b is left alone.
func (r *Redactor) Bytes(b []byte) []byte {
	if r.idle() || !r.secrets && !bytes.Contains(b, []byte(tool.CapabilityPrefix)) {
		return b
	}
	s := scanner{r: r}
	out, _ := s.scan(make([]byte, 0, len(b)), text{b, true})
	return out
}

// Value returns v with every string, map key and number in it redacted; a number that shows a secret becomes a string.
// v is left alone. Without secrets it is returned as it is when no capability is in it. What is not JSON-like goes through
// its JSON encoding.
func (r *Redactor) Value(v any) any {
	if r.idle() || !r.secrets && !hasCapability(v) {
		return v
	}
	return r.value(v)
}

func (r *Redactor) value(v any) any {
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
			list[i] = r.value(e)
		}
		return list
	case map[string]any:
		if v == nil {
			return v
		}
		object := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			object[r.Text(k)] = r.value(v[k])
		}
		return object
	default:
		return r.encoded(v)
	}
}

// encoded redacts a value by way of JSON: numbers, and types that Value does not know.
func (r *Redactor) encoded(v any) any {
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
		return r.value(plain)
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
