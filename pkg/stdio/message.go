package stdio

import (
	"bytes"
	stdjson "encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/segmentio/encoding/json" // of the MCP SDK; 80 times as fast for a response of 20 kB

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// wireMessage is a JSON-RPC object whose values are not decoded.
type wireMessage struct {
	Version json.RawMessage `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  json.RawMessage `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// nextMessage finds the first message in text, which may have other text before it. Without one, start is the length of
// text. Objects inside an object that is not a message are not searched: a logger may well print messages inside its
// own.
func nextMessage(text []byte) (msg jsonrpc.Message, start, end int) {
	last := len(text)             // no message begins after it
	budget := 4*len(text) + 1<<20 // text that opens many braces must not take time in proportion to its square
	for at := 0; at <= last && budget > 0; {
		brace := bytes.IndexByte(text[at:], '{')
		if brace < 0 {
			break
		}
		at += brace
		msg, length := parse(text[at:])
		if msg != nil {
			return msg, at, at + length
		}
		if last == len(text) {
			last = bytes.LastIndex(text, []byte(`"jsonrpc"`))
		}
		budget -= len(text) - at
		at += max(1, length)
	}
	return nil, len(text), len(text)
}

// parse returns the message that text begins with, and the length of the object that it begins with; nil or 0 when it
// begins with none. The message shares the memory of text.
func parse(text []byte) (msg jsonrpc.Message, length int) {
	if mayRecurseTooDeep(text) {
		var err error
		if text, err = firstValue(text); err != nil {
			return nil, 0
		}
	}
	var w wireMessage
	rest, err := json.Parse(text, &w, json.ZeroCopy|json.DontMatchCaseInsensitiveStructFields)
	if err != nil {
		return nil, 0
	}
	return w.message(), len(text) - len(rest)
}

// mayRecurseTooDeep reports whether text has so many brackets that json.Parse, which recurses for each level and has no
// limit, could run out of stack.
func mayRecurseTooDeep(text []byte) bool {
	const safe = 100_000 // levels, in some 50 MB of stack
	return len(text) > safe && bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) > safe
}

// firstValue returns the JSON value that text begins with. Its levels are limited to 10,000.
func firstValue(text []byte) (stdjson.RawMessage, error) {
	var value stdjson.RawMessage
	err := stdjson.NewDecoder(bytes.NewReader(text)).Decode(&value)
	return value, err
}

// syntaxError returns what is wrong with text that is not JSON.
func syntaxError(text []byte) error {
	_, err := firstValue(text)
	return err
}

// message returns nil when the object is not a message.
func (w *wireMessage) message() jsonrpc.Message {
	id, err := parseID(w.ID)
	if err != nil || string(w.Version) != `"2.0"` {
		return nil
	}
	if w.Method != nil {
		var method string
		if stdjson.Unmarshal(w.Method, &method) != nil {
			return nil
		}
		return &jsonrpc.Request{ID: id, Method: method, Params: w.Params}
	}
	if !id.IsValid() {
		return nil
	}
	resp := &jsonrpc.Response{ID: id, Result: w.Result}
	if w.Error != nil && string(w.Error) != "null" {
		wire := &jsonrpc.Error{}
		if stdjson.Unmarshal(w.Error, wire) != nil {
			wire = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: string(w.Error)}
		}
		resp.Error = wire
	}
	return resp
}

// parseID returns the zero ID when there is none.
func parseID(raw []byte) (jsonrpc.ID, error) {
	const longest = 256 // far above any id that a client sends
	if raw == nil {
		return jsonrpc.ID{}, nil
	}
	if len(raw) > longest {
		return jsonrpc.ID{}, errors.New("the id is too long")
	}
	var value any
	if err := stdjson.Unmarshal(raw, &value); err != nil {
		return jsonrpc.ID{}, err
	}
	return jsonrpc.MakeID(value)
}

// How the SDKs begin or end a response: with its id, beside the version.
var (
	responseHead = lazyregexp.New(`^\s*\{\s*(?:` + versionAndID + `)\s*,\s*"(?:result|error)"\s*:`)
	responseTail = lazyregexp.New(`,\s*(?:` + versionAndID + `)\s*\}\s*$`)
	resultFirst  = lazyregexp.New(`^\s*\{\s*"(?:result|error)"\s*:`)
)

// endsSize is how much of the head and of the tail of a line is searched for an id.
const endsSize = 4 << 10

const (
	versionAndID = `"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*` + idValue + `|"id"\s*:\s*` + idValue + `\s*,\s*"jsonrpc"\s*:\s*"2\.0"`
	idValue      = `(-?\d+|"(?:[^"\\]|\\.)*")`
)

// responseID returns the id of a response that cannot be parsed, from the head and the tail of its line.
func responseID(head, tail []byte) (id jsonrpc.ID, ok bool) {
	head, tail = head[:min(endsSize, len(head))], tail[max(0, len(tail)-endsSize):]
	found := responseHead().FindSubmatch(head)
	if found == nil && resultFirst().Match(head) {
		found = responseTail().FindSubmatch(tail)
	}
	for _, raw := range found[min(1, len(found)):] {
		if raw != nil {
			id, err := parseID(raw)
			return id, err == nil && id.IsValid()
		}
	}
	return jsonrpc.ID{}, false
}
