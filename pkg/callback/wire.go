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

// protocolVersion is the only version of the protocol.
const protocolVersion = 1

// message is a decoded request body.
type message struct {
	Request
	version    float64
	session    string  // empty when the endpoint has none
	invocation *string // nil selects the only pending one
}

// versionProblem returns what is wrong with the version, "" for the supported one.
func (m message) versionProblem() string {
	if m.version == protocolVersion {
		return ""
	}
	return fmt.Sprintf("unsupported version %v, this trailblaze speaks %d; upgrade trailblaze or use an SDK of version %[2]d",
		m.version, protocolVersion)
}

// endpoint is one of the paths that callbacks are posted to, with its format.
type endpoint struct {
	decode func(body []byte) (message, error)
	encode func(r Response, problem string) []byte // problem is why no call was made, "" for a response of a call
}

// endpointOf returns nil for an unknown path.
func endpointOf(r *http.Request) *endpoint {
	switch r.URL.EscapedPath() {
	case callbackPath:
		return &endpoint{decodeCallback, encodeResult}
	case executePath:
		return &endpoint{decodeExecute, encodeMessage}
	}
	return nil
}

func decodeCallback(body []byte) (message, error) {
	top, err := object(body)
	if err != nil {
		return message{}, fmt.Errorf("the body is not %w", err)
	}
	d := decoder{}
	action := required[map[string]any](&d, top, "action", "an object")
	m := message{
		version: d.version(top),
		session: d.text(top, "session_id"),
		Request: Request{Tool: d.text(action, "action.tool_name"), Args: d.arguments(action, "action.arguments_json")},
	}
	if id, given := optional[string](&d, top, "invocation_id", "a string"); given {
		m.invocation = &id
	}
	if d.text(action, "action.type") != "call_tool" {
		d.fail("action.type is unknown; the only type is call_tool")
	}
	m.MemoryDelta = d.delta(action, "action.memory_delta")
	m.MemoryDeletions = d.deletions(action, "action.memory_deletions")
	return m, d.err
}

func decodeExecute(body []byte) (message, error) {
	top, err := object(body)
	if err != nil {
		return message{}, fmt.Errorf("the body is not %w", err)
	}
	d := decoder{}
	m := message{version: protocolVersion, Request: Request{Tool: d.text(top, "tool_name"), Args: d.arguments(top, "params_json")}}
	return m, d.err
}

// object decodes a JSON object into a map, because keys are case-sensitive and encoding/json would store "Version" in
// the version field of a struct. Its errors contain at most one character of the text.
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
		return nil, errors.New("a single JSON value: there is more after it")
	}
	o, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("a JSON object")
	}
	return o, nil
}

// decoder reads fields of decoded objects and keeps the first error. Errors contain the names of fields and not their
// values. A field's key is the last part of its name.
type decoder struct{ err error }

func (d *decoder) fail(why string) {
	if d.err == nil {
		d.err = errors.New(why)
	}
}

// optional returns a field of o that may be missing or null.
func optional[T any](d *decoder, o map[string]any, name, kind string) (value T, given bool) {
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

func required[T any](d *decoder, o map[string]any, name, kind string) T {
	value, given := optional[T](d, o, name, kind)
	if !given {
		d.fail(name + " is missing")
	}
	return value
}

// version returns the protocol version, 1 when it is missing, and infinity when it is too large for a float64.
func (d *decoder) version(o map[string]any) float64 {
	n, given := optional[json.Number](d, o, "version", "a number")
	if !given {
		return protocolVersion
	}
	version, _ := n.Float64()
	return version
}

func (d *decoder) text(o map[string]any, name string) string {
	text := required[string](d, o, name, "a string")
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
	in, given := optional[map[string]any](d, o, name, "an object of strings")
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
	in, _ := optional[[]any](d, o, name, "a list of strings")
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

type callbackError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

func encodeResult(r Response, problem string) []byte {
	type response struct {
		Result any `json:"result"`
	}
	if problem != "" {
		out, _ := encode(response{callbackError{"error", problem}}) // encoding strings cannot fail
		return out
	}
	result := toolResult{"call_tool_result", r.OK, r.Text, r.Error, r.Structured, r.delta, r.deletions}
	out, err := encode(response{result})
	if err != nil {
		out, _ = encode(response{toolResult{Type: "call_tool_result", Error: "internal error: the response cannot be encoded: " + err.Error()}})
	}
	return out
}

func encodeMessage(r Response, problem string) []byte {
	response := struct {
		IsError bool   `json:"is_error"`
		Message string `json:"message"`
	}{!r.OK, r.Error}
	switch {
	case problem != "":
		response.Message = problem
	case r.OK:
		response.Message = r.Text
	}
	out, _ := encode(response) // encoding strings cannot fail
	return out
}

func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return out.Bytes(), err
}
