package server

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

// hear takes the notifications of a server, in the order in which they come among its answers. It must not block.
func (s *Server) hear(method string, params json.RawMessage) {
	switch method {
	case "notifications/progress":
		s.hearProgress(params)
	case "notifications/message":
		s.hearMessage(params)
	case "notifications/tools/list_changed":
		s.hearChange()
	}
}

// hearChange notes that the tools changed. A replay whose tools change half-way is not a replay, unless it asks for that.
func (s *Server) hearChange() {
	s.changed.Store(true)
	if s.settled.Load() {
		s.noted.Do(func() {
			s.log("debug", "says that its tools changed; this session keeps those it started with; a call of reloadTools takes them up", "")
		})
	}
}

// outdated adds to a call that the server refuses, since it has no such tool, that it told of a change before.
func (s *Server) outdated(name string, r tool.Result) tool.Result {
	text := strings.ToLower(r.Text)
	unknown := strings.Contains(text, "unknown tool") || strings.Contains(text, "not found")
	if !r.OK && unknown && strings.Contains(r.Text, name) && s.changed.Load() {
		r.Hint = "its server said that its tools changed since they were listed: call reloadTools before it, or start a new session"
	}
	return r
}

func (s *Server) hearProgress(params json.RawMessage) {
	var progress struct {
		Token   any      `json:"progressToken"`
		Message string   `json:"message"`
		Done    float64  `json:"progress"`
		Total   *float64 `json:"total"`
	}
	if json.Unmarshal(params, &progress) != nil {
		return
	}
	token, _ := progress.Token.(string)
	s.mu.Lock()
	f := s.flights[token]
	s.mu.Unlock()
	if f == nil {
		return // of a call that is over
	}
	text := progress.Message
	if text == "" && progress.Total != nil {
		text = fmt.Sprintf("%g of %g", progress.Done, *progress.Total)
	}
	select {
	case f.progress <- text:
	default:
	}
}

func (s *Server) hearMessage(params json.RawMessage) {
	var message struct {
		Level string          `json:"level"`
		Data  json.RawMessage `json:"data"`
	}
	if json.Unmarshal(params, &message) != nil {
		return
	}
	text := string(message.Data)
	_ = json.Unmarshal(message.Data, &text)
	s.log("debug", fmt.Sprintf("logs %s: %s", message.Level, text), "")
}
