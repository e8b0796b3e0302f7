package callback

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"
)

// protocolVersion is the only one there is.
const protocolVersion = 1

// question is a request as it came in.
type question struct {
	Request
	version    float64
	session    string  // empty when the form has none
	invocation *string // nil when the one in flight is meant
}

// unsupported says what is wrong with the version, "" for ours.
func (q question) unsupported() string {
	if q.version == protocolVersion {
		return ""
	}
	return fmt.Sprintf("unsupported version %v, this trailblaze speaks %d; upgrade trailblaze or use an SDK of version %[2]d",
		q.version, protocolVersion)
}

// form is one of the ways to ask.
type form struct {
	decode func(body []byte) (question, error)
	encode func(a Answer, wrong string) []byte // wrong is why there is no answer
}

// formOf returns nil for a path that is none.
func formOf(r *http.Request) *form {
	switch r.URL.EscapedPath() {
	case callbackPath:
		return &form{decodeCallback, encodeResult}
	case executePath:
		return &form{decodeExecute, encodeMessage}
	}
	return nil
}

func decodeCallback(body []byte) (question, error) {
	top, err := object(body)
	if err != nil {
		return question{}, fmt.Errorf("the body is not %w", err)
	}
	d := decoder{}
	action := need[map[string]any](&d, top, "action", "an object")
	q := question{
		version: d.number(top, "version"),
		session: d.text(top, "session_id"),
		Request: Request{Tool: d.text(action, "action.tool_name"), Args: d.arguments(action, "action.arguments_json")},
	}
	if id, given := may[string](&d, top, "invocation_id", "a string"); given {
		q.invocation = &id
	}
	if d.text(action, "action.type") != "call_tool" {
		d.fail("action.type is not known; there is call_tool")
	}
	q.MemoryDelta = d.delta(action, "action.memory_delta")
	q.MemoryDeletions = d.deletions(action, "action.memory_deletions")
	return q, d.err
}

func decodeExecute(body []byte) (question, error) {
	top, err := object(body)
	if err != nil {
		return question{}, fmt.Errorf("the body is not %w", err)
	}
	d := decoder{}
	q := question{version: protocolVersion, Request: Request{Tool: d.text(top, "tool_name"), Args: d.arguments(top, "params_json")}}
	return q, d.err
}

// object reads JSON as it is spelt; with a struct to fill, encoding/json would take "Version" for the version. Its errors tell
// nothing of what was sent but a character.
func object(text []byte) (map[string]any, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("UTF-8")
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	var v any
	if err := in.Decode(&v); err != nil {
		return nil, fmt.Errorf("JSON: %w", err)
	}
	if rest := text[in.InputOffset():]; len(bytes.TrimLeft(rest, " \t\r\n")) > 0 {
		return nil, errors.New("JSON alone: there is more after it")
	}
	o, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("a JSON object")
	}
	return o, nil
}

// decoder keeps the first thing that is wrong. What it says names fields and not their values. Fields are found under the last
// part of their names.
type decoder struct{ err error }

func (d *decoder) fail(why string) {
	if d.err == nil {
		d.err = errors.New(why)
	}
}

// may returns a field of o that may be missing or null.
func may[T any](d *decoder, o map[string]any, name, kind string) (value T, given bool) {
	v := o[name[strings.LastIndexByte(name, '.')+1:]]
	if v == nil {
		return value, false
	}
	value, ok := v.(T)
	if !ok {
		d.fail(name + " is not " + kind)
	}
	return value, ok
}

func need[T any](d *decoder, o map[string]any, name, kind string) T {
	value, given := may[T](d, o, name, kind)
	if !given {
		d.fail(name + " is missing")
	}
	return value
}

func (d *decoder) number(o map[string]any, name string) float64 {
	n, _ := need[json.Number](d, o, name, "a number").Float64() // infinite when it is too large
	return n
}

func (d *decoder) text(o map[string]any, name string) string {
	text := need[string](d, o, name, "a string")
	if text == "" {
		d.fail(name + " is empty")
	}
	return text
}

func (d *decoder) arguments(o map[string]any, name string) map[string]any {
	args, err := object([]byte(d.text(o, name)))
	if err != nil {
		d.fail(name + " is not " + err.Error())
	}
	return args
}

func (d *decoder) delta(o map[string]any, name string) map[string]string {
	in, given := may[map[string]any](d, o, name, "an object of strings")
	if !given {
		return nil
	}
	out := make(map[string]string, len(in))
	for key, value := range in {
		text, ok := value.(string)
		if !ok {
			d.fail(name + " is not an object of strings")
		}
		out[key] = text
	}
	return out
}

func (d *decoder) deletions(o map[string]any, name string) []string {
	in, _ := may[[]any](d, o, name, "a list of strings")
	var out []string
	for _, value := range in {
		text, ok := value.(string)
		if !ok {
			d.fail(name + " is not a list of strings")
		}
		out = append(out, text)
	}
	return out
}

type toolResult struct {
	Type            string          `json:"type"`
	Success         bool            `json:"success"`
	Text            string          `json:"text_content"`
	Error           string          `json:"error_message"`
	Structured      json.RawMessage `json:"structured_content,omitempty"`
	MemoryDelta     map[string]any  `json:"memory_delta,omitempty"`
	MemoryDeletions []string        `json:"memory_deletions,omitempty"`
}

type wrongCallback struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

func encodeResult(a Answer, wrong string) []byte {
	type response struct {
		Result any `json:"result"`
	}
	if wrong != "" {
		out, _ := encode(response{wrongCallback{"error", wrong}}) // strings can be written
		return out
	}
	result := toolResult{"call_tool_result", a.OK, a.Text, a.Error, a.Structured, a.MemoryDelta, a.MemoryDeletions}
	out, err := encode(response{result})
	if err != nil {
		out, _ = encode(response{toolResult{Type: "call_tool_result", Error: "internal error: the answer cannot be written: " + err.Error()}})
	}
	return out
}

func encodeMessage(a Answer, wrong string) []byte {
	response := struct {
		IsError bool   `json:"is_error"`
		Message string `json:"message"`
	}{!a.OK, a.Error}
	switch {
	case wrong != "":
		response.Message = wrong
	case a.OK:
		response.Message = a.Text
	}
	out, _ := encode(response) // strings can be written
	return out
}

func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return out.Bytes(), err
}
