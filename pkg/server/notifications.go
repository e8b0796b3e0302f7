package server

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

// handleNotification is called with every notification of the server, in the order in which they were received among
// its responses. It does not block.
func (s *Server) handleNotification(method string, params json.RawMessage) {
	switch method {
	case "notifications/progress":
		s.handleProgress(params)
	case "notifications/message":
		s.handleLogMessage(params)
	case "notifications/tools/list_changed":
		s.handleToolsChanged()
	}
}

// handleToolsChanged notes that the listing in use is out of date. The session keeps its tools unless a trail asks for
// others, so that a replay does not depend on when a server changes.
func (s *Server) handleToolsChanged() {
	s.toolsChanged.Store(true)
	if s.started.Load() {
		s.changeLogged.Do(func() {
			s.log("debug",
				"announced that its tools changed; this session keeps the tools it started with; call reloadTools to list them again", "")
		})
	}
}

// withChangeHint adds a hint to the result of a call to an unknown tool if the server announced that its tools changed.
func (s *Server) withChangeHint(name string, r tool.Result) tool.Result {
	text := strings.ToLower(r.Text)
	unknown := strings.Contains(text, "unknown tool") || strings.Contains(text, "not found")
	if !r.OK && unknown && strings.Contains(r.Text, name) && s.toolsChanged.Load() {
		r.Hint = "the server announced that its tools changed since they were listed: call reloadTools first, or start a new session"
	}
	return r
}

func (s *Server) handleProgress(params json.RawMessage) {
	var progress struct {
		Token   any      `json:"progressToken"`
		Message string   `json:"message"`
		Done    float64  `json:"progress"`
		Total   *float64 `json:"total"`
	}
	if json.Unmarshal(params, &progress) != nil {
		return
	}
	text := progress.Message
	if text == "" && progress.Total != nil {
		text = fmt.Sprintf("%g of %g", progress.Done, *progress.Total)
	}
	token, _ := progress.Token.(string)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.pending[token]
	if c == nil {
		return // the call has finished
	}
	if len(c.progress) < progressBuffer {
		c.progress = append(c.progress, text)
	}
	select {
	case c.progressed <- struct{}{}:
	default:
	}
}

func (s *Server) handleLogMessage(params json.RawMessage) {
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
