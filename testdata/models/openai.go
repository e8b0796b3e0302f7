package models

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
)

// strict reads JSON without unknown keys.
func strict(body []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: ") + ": Extra inputs are not permitted")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more than one value")
	}
	return nil
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func checkTools(tools []Tool) error {
	names := map[string]bool{}
	for i, t := range tools {
		switch {
		case !toolName.MatchString(t.Name):
			return fmt.Errorf("tools.%d.name: String should match pattern '%s'", i, toolName)
		case names[t.Name]:
			return fmt.Errorf("tools: Tool names must be unique")
		case t.Schema["type"] != "object":
			return fmt.Errorf("tools.%d.input_schema.type: Input should be 'object'", i)
		case t.Schema["oneOf"] != nil || t.Schema["anyOf"] != nil || t.Schema["allOf"] != nil:
			return fmt.Errorf("tools.%d.input_schema: does not support oneOf, allOf, or anyOf at the top level", i)
		}
		names[t.Name] = true
	}
	return nil
}

func isPNG(data []byte) bool { return bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")) }

// png reads a data URL.
func png(url string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(url, "data:image/png;base64,")
	data, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || !isPNG(data) {
		return nil, errors.New("Invalid image data")
	}
	return data, nil
}

func bearer(h http.Header, key string) bool {
	return key == "" || h.Get("Authorization") == "Bearer "+key
}

func openAIError(kind, code, message string) any {
	e := map[string]any{"message": message, "type": kind, "param": nil, "code": nil}
	if code != "" {
		e["code"] = code
	}
	return map[string]any{"error": e}
}

// format is the form of a structured answer.
type format struct {
	Type   string         `json:"type"`
	Name   string         `json:"name"`
	Strict bool           `json:"strict"`
	Schema map[string]any `json:"schema"`
}

func (f *format) check() error {
	if f != nil && (f.Type != "json_schema" || !toolName.MatchString(f.Name) || f.Schema["type"] != "object") {
		return errors.New("Invalid schema for response_format")
	}
	return nil
}

// chat is OpenAI's Chat Completions.
type chat struct{}

func (chat) authorized(h http.Header, key string) bool { return bearer(h, key) }

func (chat) fail(_ int, kind, code, message string) any { return openAIError(kind, code, message) }

func (chat) read(body []byte) (Prompt, error) {
	var q struct {
		Model               string   `json:"model"`
		MaxTokens           int      `json:"max_tokens"`
		MaxCompletionTokens int      `json:"max_completion_tokens"`
		Temperature         *float64 `json:"temperature"`
		Stream              bool     `json:"stream"`
		ReasoningEffort     string   `json:"reasoning_effort"`
		ToolChoice          string   `json:"tool_choice"`
		Tools               []struct {
			Type     string `json:"type"`
			Function struct {
				Name        string         `json:"name"`
				Description string         `json:"description"`
				Parameters  map[string]any `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
		ResponseFormat *struct {
			Type       string  `json:"type"`
			JSONSchema *format `json:"json_schema"`
		} `json:"response_format"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := strict(body, &q); err != nil {
		return Prompt{}, err
	}
	p := Prompt{Protocol: "openai-chat", Model: q.Model, Required: q.ToolChoice == "required"}
	switch {
	case q.Model == "":
		return p, errors.New("you must provide a model parameter")
	case q.MaxTokens > 0 && q.MaxCompletionTokens > 0:
		return p, errors.New("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	case q.MaxTokens > 0 && regexp.MustCompile(`^(gpt-[0-9]|o[0-9]|prod-gpt5)`).MatchString(q.Model):
		return p, errors.New("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
	case q.ToolChoice != "" && len(q.Tools) == 0:
		return p, errors.New("'tool_choice' is only allowed when 'tools' are specified.")
	case strings.HasPrefix(q.Model, "gpt-5.6") && len(q.Tools) > 0 && q.ReasoningEffort != "none":
		return p, errors.New("Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.")
	case len(q.Messages) == 0 || q.Messages[len(q.Messages)-1].Role != "user":
		return p, errors.New("messages: the last one has to be of the user")
	}
	if f := q.ResponseFormat; f != nil {
		if p.JSON = true; f.Type != "json_schema" || f.JSONSchema == nil {
			return p, errors.New("response_format: json_schema is missing")
		}
		f.JSONSchema.Type = f.Type
		if err := f.JSONSchema.check(); err != nil {
			return p, err
		}
	}
	for _, m := range q.Messages {
		if m.Role == "system" {
			if err := json.Unmarshal(m.Content, &p.System); err != nil {
				return p, err
			}
			continue
		}
		var parts []struct {
			Type     string `json:"type"`
			Text     string `json:"text"`
			ImageURL *struct {
				URL string `json:"url"`
			} `json:"image_url"`
		}
		if err := strict(m.Content, &parts); err != nil {
			return p, err
		}
		for _, part := range parts {
			b := Block{Text: part.Text}
			if part.ImageURL != nil {
				var err error
				if b.Image, err = png(part.ImageURL.URL); err != nil {
					return p, err
				}
			}
			p.Blocks = append(p.Blocks, b)
		}
	}
	for _, t := range q.Tools {
		p.Tools = append(p.Tools, Tool{t.Function.Name, t.Function.Description, t.Function.Parameters})
	}
	return p, checkTools(p.Tools)
}

func (chat) write(r Reply, u usage, f Fault) any {
	message := map[string]any{"role": "assistant", "content": nil, "refusal": nil}
	finish := "stop"
	if r.Text != "" {
		message["content"] = r.Text
	}
	var calls []any
	for i, c := range r.Calls {
		id := fmt.Sprintf("call_%d", i)
		if f == EmptyIDs {
			id = ""
		}
		var args any = c.arguments()
		switch f {
		case ArgsObject:
			args = json.RawMessage(c.arguments())
		case HalfCall:
			args = c.arguments()[:len(c.arguments())/2]
		}
		calls = append(calls, map[string]any{"id": id, "type": "function", "function": map[string]any{"name": c.Name, "arguments": args}})
	}
	if len(calls) > 0 {
		message["tool_calls"] = calls
		if f != FinishStop {
			finish = "tool_calls"
		}
	}
	if r.CutOff || f == HalfCall {
		finish = "length"
	}
	if r.Refused {
		message["content"], message["refusal"] = nil, r.Text
	}
	total := u.input + u.output
	if f == Thoughts {
		total += 100
	}
	answer := map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "scripted",
		"choices": []any{map[string]any{"index": 0, "finish_reason": finish, "logprobs": nil, "message": message}},
		"usage": map[string]any{
			"prompt_tokens": u.input, "completion_tokens": u.output, "total_tokens": total,
			"prompt_tokens_details": map[string]any{"cached_tokens": u.cached}, "completion_tokens_details": map[string]any{"reasoning_tokens": 0},
		},
	}
	if f == NoUsage {
		delete(answer, "usage")
	}
	return answer
}

// responses is OpenAI's Responses.
type responses struct{}

func (responses) authorized(h http.Header, key string) bool { return bearer(h, key) }

func (responses) fail(status int, kind, code, message string) any {
	if strings.Contains(message, "after it began") {
		return map[string]any{"id": "resp_1", "object": "response", "status": "failed", "error": map[string]any{"code": code, "message": message}, "output": []any{}}
	}
	return openAIError(kind, code, message)
}

func (responses) read(body []byte) (Prompt, error) {
	var q struct {
		Model             string   `json:"model"`
		Store             *bool    `json:"store"`
		MaxOutputTokens   int      `json:"max_output_tokens"`
		PromptCacheKey    string   `json:"prompt_cache_key"`
		ToolChoice        string   `json:"tool_choice"`
		ParallelToolCalls bool     `json:"parallel_tool_calls"`
		Instructions      string   `json:"instructions"`
		Temperature       *float64 `json:"temperature"`
		Reasoning         *struct {
			Effort string `json:"effort"`
		} `json:"reasoning"`
		Text *struct {
			Format *format `json:"format"`
		} `json:"text"`
		Tools []struct {
			Type        string         `json:"type"`
			Name        string         `json:"name"`
			Description string         `json:"description"`
			Parameters  map[string]any `json:"parameters"`
			Strict      *bool          `json:"strict"`
		} `json:"tools"`
		Input []struct {
			Role    string `json:"role"`
			Content []struct {
				Type     string `json:"type"`
				Text     string `json:"text"`
				ImageURL string `json:"image_url"`
			} `json:"content"`
		} `json:"input"`
	}
	if err := strict(body, &q); err != nil {
		return Prompt{}, err
	}
	p := Prompt{Protocol: "openai-responses", Model: q.Model, System: q.Instructions, Required: q.ToolChoice == "required"}
	switch {
	case q.Model == "":
		return p, errors.New("Missing required parameter: 'model'.")
	case q.MaxOutputTokens < 16:
		return p, errors.New("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16.")
	case q.Store == nil || *q.Store:
		return p, errors.New("store: this provider stores nothing")
	case q.ToolChoice != "" && len(q.Tools) == 0:
		return p, errors.New("Tool choice 'required' must be specified with 'tools' parameter.")
	case len(q.Input) == 0 || q.Input[len(q.Input)-1].Role != "user":
		return p, errors.New("Missing required parameter: 'input'.")
	}
	if q.Text != nil {
		p.JSON = q.Text.Format != nil
		if err := q.Text.Format.check(); err != nil {
			return p, err
		}
	}
	for _, part := range q.Input[len(q.Input)-1].Content {
		b := Block{Text: part.Text}
		switch part.Type {
		case "input_text":
		case "input_image":
			var err error
			if b.Image, err = png(part.ImageURL); err != nil {
				return p, err
			}
		default:
			return p, fmt.Errorf("Invalid value: '%s'. Supported values are: 'input_text', 'input_image'.", part.Type)
		}
		p.Blocks = append(p.Blocks, b)
	}
	for _, t := range q.Tools {
		if t.Type != "function" {
			return p, fmt.Errorf("Invalid value: '%s'", t.Type)
		}
		if t.Strict == nil || *t.Strict { // without it, the real one may make optional properties required
			return p, errors.New("Missing required parameter: 'tools[0].strict'.")
		}
		p.Tools = append(p.Tools, Tool{t.Name, t.Description, t.Parameters})
	}
	return p, checkTools(p.Tools)
}

func (responses) write(r Reply, u usage, f Fault) any {
	output := []any{map[string]any{"type": "reasoning", "id": "rs_1", "summary": []any{}}}
	status := "completed"
	var incomplete any
	if r.CutOff || f == HalfCall {
		status, incomplete = "incomplete", map[string]any{"reason": "max_output_tokens"}
	}
	switch {
	case r.Refused:
		output = append(output, map[string]any{
			"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": []any{map[string]any{"type": "refusal", "refusal": r.Text}},
		})
	case r.Text != "":
		output = append(output, map[string]any{
			"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": r.Text, "annotations": []any{}}},
		})
	}
	for i, c := range r.Calls {
		var args any = c.arguments()
		switch f {
		case ArgsObject:
			args = json.RawMessage(c.arguments())
		case HalfCall:
			args = c.arguments()[:len(c.arguments())/2]
		}
		id := fmt.Sprintf("call_%d", i)
		if f == EmptyIDs {
			id = ""
		}
		output = append(output, map[string]any{
			"type": "function_call", "id": "fc_1", "call_id": id, "name": c.Name, "arguments": args, "status": status,
		})
	}
	answer := map[string]any{
		"id": "resp_1", "object": "response", "created_at": 1, "status": status, "error": nil, "incomplete_details": incomplete, "model": "scripted",
		"output": output, "parallel_tool_calls": true, "tool_choice": "required", "tools": []any{},
		"usage": map[string]any{
			"input_tokens": u.input, "input_tokens_details": map[string]any{"cached_tokens": u.cached, "cache_write_tokens": 0},
			"output_tokens": u.output, "output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": u.input + u.output,
		},
	}
	if f == NoUsage {
		answer["usage"] = nil
	}
	return answer
}
