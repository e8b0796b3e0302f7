package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

const hintNoRetry = "trying again will not help"

// failedResult returns the result of a failed call. Its text begins with the names of server and tool.
func (s *Server) failedResult(name string, kind fault.Kind, hint, format string, args ...any) tool.Result {
	text := fmt.Sprintf("server %q, tool %q: %s", s.cfg.Name, name, fmt.Sprintf(format, args...))
	return tool.Result{Kind: kind, Text: text, Hint: hint}
}

// rpcErrorResult returns the result of a call whose response is a JSON-RPC error. A link that had to replace a response
// wraps it in a *fault.Error with the reason.
func (s *Server) rpcErrorResult(name string, err error, rpc *jsonrpc.Error) tool.Result {
	if known := fault.As(err); known != nil {
		return s.failedResult(name, known.Kind, hintNoRetry+": "+known.Hint, "%s", known.Message)
	}
	hint := "trying again can help"
	switch rpc.Code {
	case jsonrpc.CodeInvalidParams, jsonrpc.CodeInvalidRequest, jsonrpc.CodeMethodNotFound, jsonrpc.CodeParseError:
		hint = hintNoRetry + ": the server rejects the call as it is"
	}
	return s.withChangeHint(name, s.failedResult(name, fault.ProtocolError, hint, "protocol error %d: %s", rpc.Code,
		rpc.Message))
}

// toolResult is the part of a tools/call result that is used.
type toolResult[C ~[]content] struct {
	Content    C               `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
	ResultType string          `json:"resultType"`
	Meta       json.RawMessage `json:"_meta"`
}

// decodeResult decodes the result of a call. Malformed parts are ignored with a warning; they do not fail the call.
func (s *Server) decodeResult(name string, raw json.RawMessage) tool.Result {
	if isAbsent(raw) {
		return s.failedResult(name, fault.ProtocolError, hintNoRetry, "its response has no result")
	}
	result, err := readResult(raw)
	if err != nil {
		return s.failedResult(name, fault.ProtocolError, hintNoRetry, "its response is not a tool result: %s",
			explainDecodeError(raw, err))
	}
	if result.ResultType == "input_required" {
		return s.failedResult(name, fault.ProtocolError, hintNoRetry,
			"it asks for input while it runs (input_required), which is not supported")
	}
	out := tool.Result{OK: !result.IsError}
	s.readContent(name, result.Content, &out)
	if !isAbsent(result.Structured) {
		out.Structured = result.Structured
		if out.Text == "" {
			out.Text = string(result.Structured)
		}
	}
	meta := s.readResultMeta(name, result.Meta)
	if out.OK && meta.tooLarge {
		return s.failedResult(name, fault.ProtocolError, "let the tool change fewer values",
			"it changes more than %d values of memory", maxChanges)
	}
	if out.OK {
		out.MemoryDelta, out.MemoryDeletions = meta.memoryDelta, meta.memoryDeletions
		return out
	}
	out.Kind, out.Fatal = fault.ToolFailed, meta.variant == "FatalError"
	if out.Fatal {
		out.Kind = fault.ToolFatal
	}
	if out.Text == "" {
		out.Text = s.failedResult(name, out.Kind, "", "it failed without a message").Text
	}
	if meta.thrownAt != "" {
		out.Hint = "thrown at " + s.relative(meta.thrownAt)
	}
	return s.withChangeHint(name, out)
}

// readResult decodes a result, also one with malformed content, or with more parts than are read.
func readResult(raw json.RawMessage) (toolResult[[]content], error) {
	if bytes.Count(raw, []byte(",")) < maxParts {
		var result toolResult[[]content]
		if err := json.Unmarshal(raw, &result); err == nil {
			return result, nil
		}
	}
	var tolerant toolResult[contentList]
	err := json.Unmarshal(raw, &tolerant)
	return toolResult[[]content]{
		tolerant.Content, tolerant.Structured, tolerant.IsError, tolerant.ResultType, tolerant.Meta,
	}, err
}

// explainDecodeError returns what a response that is not a toolResult is instead, and what was expected.
func explainDecodeError(raw json.RawMessage, err error) string {
	const example = `{"content": [{"type": "text", "text": "done"}]}`
	wrong, isType := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case isType && wrong.Field == "":
		return fmt.Sprintf("it is %s %s; expected an object such as %s", article(wrong.Value), excerpt(raw), example)
	case isType:
		return fmt.Sprintf("its %s is %s; expected %s", wrong.Field, article(wrong.Value),
			article(wrong.Type.Kind().String()))
	}
	return err.Error()
}

// article returns the name of a JSON type with an article.
func article(kind string) string {
	kind, _, _ = strings.Cut(kind, " ") // "number 1.5"
	switch kind {
	case "bool":
		return "true or false"
	case "array", "object":
		return "an " + kind
	}
	return "a " + kind
}

// excerpt returns the first bytes of a response.
func excerpt(raw json.RawMessage) string { return text.HeadBytes(string(raw), 100) }

// resultMeta is _meta.trailblaze of a result.
type resultMeta struct {
	variant         string
	thrownAt        string // file and line of the project, such as /project/tools/shop.ts:42
	memoryDelta     map[string]any
	memoryDeletions []string
	tooLarge        bool // it changes more than maxChanges values, and the changes were not read
}

// maxChanges is how many values of memory the result of a call may set, and how many it may delete. Each takes far more
// memory than the few bytes that it may have in the message.
const maxChanges = 10_000

// separators returns the number of commas between the members of a JSON object or list.
func separators(raw []byte) (commas int) {
	depth, inString := 0, false
	for i := 0; i < len(raw); i++ {
		switch b := raw[i]; {
		case inString && b == '\\':
			i++
		case b == '"':
			inString = !inString
		case inString:
		case b == '{', b == '[':
			depth++
		case b == '}', b == ']':
			depth--
		case b == ',' && depth == 1:
			commas++
		}
	}
	return commas
}

// readResultMeta returns the values of the right type and warns about the others.
func (s *Server) readResultMeta(name string, raw json.RawMessage) resultMeta {
	if isAbsent(raw) {
		return resultMeta{}
	}
	var meta struct {
		Trailblaze map[string]json.RawMessage `json:"trailblaze"`
	}
	var out resultMeta
	if err := json.Unmarshal(raw, &meta); err != nil {
		s.warnIgnored(name, "_meta.trailblaze is not an object")
		return out
	}
	_ = json.Unmarshal(meta.Trailblaze["variant"], &out.variant)
	_ = json.Unmarshal(meta.Trailblaze["thrownAt"], &out.thrownAt)
	if separators(meta.Trailblaze["memoryDelta"]) >= maxChanges || separators(meta.Trailblaze["memoryDeletions"]) >= maxChanges {
		out.tooLarge = true
		return out
	}
	var delta map[string]json.RawMessage
	if in := meta.Trailblaze["memoryDelta"]; !isAbsent(in) && json.Unmarshal(in, &delta) != nil {
		s.warnIgnored(name, "memoryDelta is not an object")
	}
	for _, key := range slices.Sorted(maps.Keys(delta)) {
		var value *string
		if json.Unmarshal(delta[key], &value) != nil || value == nil {
			s.warnIgnored(name, fmt.Sprintf("memoryDelta[%q] is not a string", key))
			continue
		}
		if out.memoryDelta == nil {
			out.memoryDelta = map[string]any{}
		}
		out.memoryDelta[key] = *value
	}
	var deletions []json.RawMessage
	if in := meta.Trailblaze["memoryDeletions"]; !isAbsent(in) && json.Unmarshal(in, &deletions) != nil {
		s.warnIgnored(name, "memoryDeletions is not a list")
	}
	for i, in := range deletions {
		var key *string
		if json.Unmarshal(in, &key) != nil || key == nil {
			s.warnIgnored(name, fmt.Sprintf("memoryDeletions[%d] is not a string", i))
			continue
		}
		out.memoryDeletions = append(out.memoryDeletions, *key)
	}
	return out
}

// relative returns a position in a file of the project with the path relative to its root, and others as they are.
func (s *Server) relative(position string) string {
	if rel, err := filepath.Rel(s.cfg.Root, filepath.FromSlash(position)); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return position
}

// warnIgnored warns that a part of a result is ignored.
func (s *Server) warnIgnored(name, what string) {
	s.log("warn", fmt.Sprintf("sent a malformed result for tool %q; this part is ignored: %s", name, what), "")
}
