package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// failure is a failed call whose text names server and tool.
func (s *Server) failure(name string, kind fault.Kind, hint, format string, args ...any) tool.Result {
	text := fmt.Sprintf("server %q, tool %q: %s", s.cfg.Name, name, fmt.Sprintf(format, args...))
	return tool.Result{Kind: kind, Text: text, Hint: hint}
}

// rejected is a call that was answered with a JSON-RPC error. A link that answers in the server's place, because it could not
// take the answer, wraps it in a *fault.Error that says more.
func (s *Server) rejected(name string, err error, rpc *jsonrpc.Error) tool.Result {
	if known := fault.As(err); known != nil {
		return s.failure(name, known.Kind, "trying again will not help: "+known.Hint, "%s", known.Message)
	}
	hint := "trying again can help"
	switch rpc.Code {
	case jsonrpc.CodeInvalidParams, jsonrpc.CodeInvalidRequest, jsonrpc.CodeMethodNotFound, jsonrpc.CodeParseError:
		hint = "trying again will not help: the server refuses the call as it is"
	}
	return s.outdated(name, s.failure(name, fault.ProtocolError, hint, "protocol error %d: %s", rpc.Code, rpc.Message))
}

// callResult is the answer of tools/call, as much of it as matters here.
type callResult struct {
	Content    json.RawMessage `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
	ResultType string          `json:"resultType"`
	Meta       json.RawMessage `json:"_meta"`
}

// result maps the answer of a call. Parts of it that make no sense are left out; they do not fail the call.
func (s *Server) result(name string, raw json.RawMessage) tool.Result {
	var wire callResult
	if absent(raw) {
		return s.failure(name, fault.ProtocolError, "trying again will not help", "its answer is empty")
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return s.failure(name, fault.ProtocolError, "trying again will not help", "its answer is no tool result: %v", err)
	}
	if wire.ResultType == "input_required" {
		return s.failure(name, fault.ProtocolError, "trying again will not help", "it asks for input while it runs, and nobody is there to give any")
	}
	out := tool.Result{OK: !wire.IsError, Text: firstText(wire.Content)}
	if !absent(wire.Structured) {
		out.Structured = wire.Structured
	}
	notes := s.readNotes(name, wire.Meta)
	if out.OK {
		out.MemoryDelta, out.MemoryDeletions = notes.delta, notes.deletions
		return out
	}
	out.Kind, out.Fatal = fault.ToolFailed, notes.variant == "FatalError"
	if out.Fatal {
		out.Kind = fault.ToolFatal
	}
	if out.Text == "" {
		out.Text = s.failure(name, out.Kind, "", "it failed and did not say why").Text
	}
	return s.outdated(name, out)
}

// firstText returns the first text among the contents, whatever else is there.
func firstText(content json.RawMessage) string {
	var parts []json.RawMessage
	if json.Unmarshal(content, &parts) != nil {
		parts = []json.RawMessage{content} // older servers send a single one
	}
	for _, part := range parts {
		var text struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		if json.Unmarshal(part, &text) == nil && text.Type == "text" {
			return text.Text
		}
	}
	return ""
}

// notes is _meta.trailblaze of a result.
type notes struct {
	variant   string
	delta     map[string]any
	deletions []string
}

// readNotes takes what has the right type and warns of the rest.
func (s *Server) readNotes(name string, raw json.RawMessage) notes {
	var meta struct {
		Trailblaze map[string]json.RawMessage `json:"trailblaze"`
	}
	var out notes
	if absent(raw) {
		return out
	}
	if err := json.Unmarshal(raw, &meta); err != nil {
		s.odd(name, "_meta.trailblaze is no object")
		return out
	}
	_ = json.Unmarshal(meta.Trailblaze["variant"], &out.variant)
	var delta map[string]json.RawMessage
	if in := meta.Trailblaze["memoryDelta"]; !absent(in) && json.Unmarshal(in, &delta) != nil {
		s.odd(name, "memoryDelta is no object")
	}
	for _, key := range slices.Sorted(maps.Keys(delta)) {
		var value *string
		if json.Unmarshal(delta[key], &value) != nil || value == nil {
			s.odd(name, fmt.Sprintf("memoryDelta[%q] is no string", key))
			continue
		}
		if out.delta == nil {
			out.delta = map[string]any{}
		}
		out.delta[key] = *value
	}
	var deletions []json.RawMessage
	if in := meta.Trailblaze["memoryDeletions"]; !absent(in) && json.Unmarshal(in, &deletions) != nil {
		s.odd(name, "memoryDeletions is no list")
	}
	for _, in := range deletions {
		var key *string
		if json.Unmarshal(in, &key) != nil || key == nil {
			s.odd(name, "memoryDeletions holds something that is no string")
			continue
		}
		out.deletions = append(out.deletions, *key)
	}
	return out
}

func (s *Server) odd(name, what string) {
	s.log("warn", fmt.Sprintf("answered tool %q with something that is ignored: %s", name, what), "")
}
