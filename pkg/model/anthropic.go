package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
)

// anthropicCodec speaks Anthropic's Messages.
type anthropicCodec struct{ *Client }

type anthropicRequest struct {
	Model        string             `json:"model"`
	MaxTokens    int                `json:"max_tokens"`
	System       []anthropicBlock   `json:"system,omitempty"`
	Tools        []anthropicTool    `json:"tools,omitempty"`
	ToolChoice   *anthropicType     `json:"tool_choice,omitempty"`
	Messages     []anthropicMessage `json:"messages"`
	Temperature  *float64           `json:"temperature,omitempty"`
	Thinking     *anthropicType     `json:"thinking,omitempty"`
	OutputConfig *anthropicEffort   `json:"output_config,omitempty"`
}

type anthropicType struct {
	Type string `json:"type"`
}

type anthropicEffort struct {
	Effort string `json:"effort"`
}

type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type anthropicMessage struct {
	Role    string           `json:"role"`
	Content []anthropicBlock `json:"content"`
}

type anthropicBlock struct {
	Type         string           `json:"type"`
	Text         string           `json:"text,omitempty"`
	Source       *anthropicSource `json:"source,omitempty"`
	CacheControl *anthropicType   `json:"cache_control,omitempty"`
}

type anthropicSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"` // base64 in JSON
}

type anthropicAnswer struct {
	Type    string `json:"type"`
	Content []struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"content"`
	StopReason  string `json:"stop_reason"`
	StopDetails struct {
		Explanation string `json:"explanation"`
	} `json:"stop_details"`
	Usage struct {
		InputTokens              int `json:"input_tokens"`
		CacheCreationInputTokens int `json:"cache_creation_input_tokens"`
		CacheReadInputTokens     int `json:"cache_read_input_tokens"`
		OutputTokens             int `json:"output_tokens"`
	} `json:"usage"`
}

func (c anthropicCodec) authorize(h http.Header, key string) { h.Set("X-Api-Key", key) }

func (c anthropicCodec) inspect(body []byte) *failure {
	var a anthropicAnswer
	if err := json.Unmarshal(body, &a); err != nil || a.Type != "message" {
		return notAnAnswer(body, "it is not a message")
	}
	return nil
}

func (c anthropicCodec) request(r Request) anthropicRequest {
	mark := &anthropicType{"ephemeral"}
	q := anthropicRequest{Model: c.Model, MaxTokens: r.MaxOutputTokens, Temperature: c.Settings.Temperature}
	if r.System != "" {
		q.System = []anthropicBlock{{Type: "text", Text: r.System, CacheControl: mark}}
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, anthropicTool{t.Name, t.Description, t.Schema})
	}
	if len(r.Tools) > 0 {
		q.ToolChoice = &anthropicType{"any"}
	}
	if c.Settings.reasons() {
		q.Thinking, q.OutputConfig = &anthropicType{"adaptive"}, &anthropicEffort{c.Settings.Reasoning}
		if q.ToolChoice != nil {
			q.ToolChoice.Type = "auto" // the others are refused with thinking
		}
	}
	content := make([]anthropicBlock, len(r.Blocks))
	for i, b := range r.Blocks {
		content[i] = anthropicBlock{Type: "text", Text: b.Text}
		if len(b.Image) > 0 {
			content[i] = anthropicBlock{Type: "image", Source: &anthropicSource{"base64", "image/png", b.Image}}
		}
	}
	if last := lastText(r.Blocks); last >= 0 { // a picture is not in the next request
		content[last].CacheControl = mark
	}
	q.Messages = []anthropicMessage{{"user", content}}
	return q
}

func (c anthropicCodec) ask(ctx context.Context, client *http.Client, r Request) (Answer, Usage, error) {
	body, err := json.Marshal(c.request(r))
	if err != nil {
		return Answer{}, Usage{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.String()+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return Answer{}, Usage{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	resp, err := client.Do(req)
	if err != nil {
		return Answer{}, Usage{}, err
	}
	defer func() { _ = resp.Body.Close() }() // it is in memory
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return Answer{}, Usage{}, err
	}
	var a anthropicAnswer
	if err := json.Unmarshal(raw, &a); err != nil {
		return Answer{}, Usage{}, err
	}
	u := a.Usage
	return a.answer(), Usage{Uncached: u.InputTokens, CacheRead: u.CacheReadInputTokens, CacheWrite: u.CacheCreationInputTokens, Output: u.OutputTokens}, nil
}

func (a anthropicAnswer) answer() Answer {
	var said []string
	var calls []Call
	for _, b := range a.Content {
		switch b.Type { // others, such as thinking, are not for us
		case "text":
			said = append(said, b.Text)
		case "tool_use":
			calls = append(calls, newCall(b.Name, string(b.Input)))
		}
	}
	answer := newAnswer(said, calls)
	switch a.StopReason {
	case "max_tokens", "model_context_window_exceeded":
		return Answer{End: CutOff, Text: answer.Text}
	case "refusal":
		return Answer{End: Refused, Text: cmp.Or(a.StopDetails.Explanation, answer.Text)}
	}
	return answer
}
