package models

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// anthropic is Anthropic's Messages.
type anthropic struct{}

func (anthropic) authorized(h http.Header, key string) bool {
	return h.Get("Anthropic-Version") == "2023-06-01" && (key == "" || h.Get("X-Api-Key") == key)
}

func (anthropic) fail(_ int, kind, code, message string) any {
	e := map[string]any{"type": kind, "message": message}
	if code == "insufficient_quota" {
		e["type"], e["details"] = "rate_limit_error", map[string]any{"error_code": "enforced_spend_limit_reached"}
	}
	return map[string]any{"type": "error", "error": e, "request_id": "req_1"}
}

type anthropicBlock struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Source *struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      []byte `json:"data"`
	} `json:"source"`
	CacheControl *struct {
		Type string `json:"type"`
	} `json:"cache_control"`
}

func (anthropic) read(body []byte) (Prompt, error) {
	var q struct {
		Model      string           `json:"model"`
		MaxTokens  int              `json:"max_tokens"`
		System     []anthropicBlock `json:"system"`
		ToolChoice *struct {
			Type string `json:"type"`
		} `json:"tool_choice"`
		Tools []struct {
			Name        string         `json:"name"`
			Description string         `json:"description"`
			InputSchema map[string]any `json:"input_schema"`
		} `json:"tools"`
		Messages []struct {
			Role    string           `json:"role"`
			Content []anthropicBlock `json:"content"`
		} `json:"messages"`
		Temperature *float64 `json:"temperature"`
		Thinking    *struct {
			Type string `json:"type"`
		} `json:"thinking"`
		OutputConfig *struct {
			Effort string `json:"effort"`
		} `json:"output_config"`
	}
	if err := strict(body, &q); err != nil {
		return Prompt{}, err
	}
	p := Prompt{Protocol: "anthropic", Model: q.Model}
	switch {
	case q.Model == "":
		return p, fmt.Errorf("model: Field required")
	case q.MaxTokens < 1:
		return p, fmt.Errorf("max_tokens: Field required")
	case len(q.Messages) == 0 || q.Messages[len(q.Messages)-1].Role != "user":
		return p, fmt.Errorf("messages: the conversation must end with a user message")
	case q.ToolChoice != nil && len(q.Tools) == 0:
		return p, fmt.Errorf("tool_choice: may only be specified while providing tools")
	case q.Thinking != nil && q.ToolChoice != nil && q.ToolChoice.Type != "auto" && q.ToolChoice.Type != "none":
		return p, fmt.Errorf("Thinking may not be enabled when tool_choice forces tool use")
	case q.Thinking != nil && q.Temperature != nil && *q.Temperature != 1:
		return p, fmt.Errorf("temperature may only be set to 1 when thinking is enabled")
	}
	marks := 0
	for _, blocks := range [][]anthropicBlock{q.System, q.Messages[len(q.Messages)-1].Content} {
		for i, b := range blocks {
			if b.CacheControl != nil {
				marks++
			}
			switch {
			case b.Type == "text" && strings.TrimSpace(b.Text) == "":
				return p, fmt.Errorf("messages: text content blocks must be non-empty (%d)", i)
			case b.Type == "image" && (b.Source == nil || b.Source.Type != "base64" || b.Source.MediaType != "image/png" || !isPNG(b.Source.Data)):
				return p, fmt.Errorf("messages: could not process image (%d)", i)
			case b.Type != "text" && b.Type != "image":
				return p, fmt.Errorf("messages: unexpected type %q", b.Type)
			}
		}
	}
	if marks > 4 {
		return p, fmt.Errorf("a maximum of 4 blocks with cache_control may be provided, found %d", marks)
	}
	for _, b := range q.System {
		p.System += b.Text
	}
	for _, b := range q.Messages[len(q.Messages)-1].Content {
		block := Block{Text: b.Text}
		if b.Source != nil {
			block.Image = b.Source.Data
		}
		p.Blocks = append(p.Blocks, block)
	}
	for _, t := range q.Tools {
		p.Tools = append(p.Tools, Tool{t.Name, t.Description, t.InputSchema})
	}
	p.Required = q.ToolChoice != nil && q.ToolChoice.Type == "any"
	return p, checkTools(p.Tools)
}

func (anthropic) write(r Reply, u usage, f Fault) any {
	content := []any{map[string]any{"type": "thinking", "thinking": "", "signature": "c2ln"}}
	if r.Text != "" {
		content = append(content, map[string]any{"type": "text", "text": r.Text})
	}
	stop := "end_turn"
	for i, c := range r.Calls {
		id := fmt.Sprintf("toolu_%d", i)
		if f == EmptyIDs {
			id = ""
		}
		args := json.RawMessage(c.arguments())
		if !json.Valid(args) {
			args, _ = json.Marshal(c.Raw)
		}
		content = append(content, map[string]any{"type": "tool_use", "id": id, "name": c.Name, "input": args})
		if f != FinishStop {
			stop = "tool_use"
		}
	}
	if r.CutOff || f == HalfCall {
		stop = "max_tokens"
	}
	answer := map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": content, "stop_reason": stop, "stop_sequence": nil,
	}
	if r.Refused {
		answer["stop_reason"], answer["stop_details"] = "refusal", map[string]any{"type": "refusal", "category": "cyber", "explanation": r.Text}
	}
	answer["usage"] = map[string]any{
		"input_tokens": u.input - u.cached, "cache_creation_input_tokens": 0, "cache_read_input_tokens": u.cached, "output_tokens": u.output, "service_tier": "standard",
	}
	if f == NoUsage {
		delete(answer, "usage")
	}
	return answer
}
