package model

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"

	"github.com/sashabaranov/go-openai"
)

// responsesCodec speaks OpenAI's Responses.
type responsesCodec struct{ *Client }

// minOutputTokens is the smallest max_output_tokens that is not refused.
const minOutputTokens = 16

func (c responsesCodec) authorize(h http.Header, key string) { bearer(h, key) }

func (c responsesCodec) inspect(body []byte) *failure {
	var a struct {
		Status openai.ResponseStatus `json:"status"`
		Error  *openai.ResponseError `json:"error"`
		Output []json.RawMessage     `json:"output"`
	}
	err := json.Unmarshal(body, &a)
	switch {
	case err == nil && a.Status == openai.ResponseStatusFailed && a.Error != nil:
		return failedResponse(a.Error.Code, a.Error.Message)
	case err != nil || a.Output == nil:
		return notAnAnswer(body, "it has no output")
	}
	return nil
}

func (c responsesCodec) request(r Request) openai.CreateResponseRequest {
	yes, no := true, false
	q := openai.CreateResponseRequest{
		Model: c.Model, Store: &no, MaxOutputTokens: max(r.MaxOutputTokens, minOutputTokens), Instructions: r.System,
	}
	if c.CacheKey != "" {
		sum := sha256.Sum256([]byte(c.Model + "\x00" + c.CacheKey))
		q.PromptCacheKey = "trailblaze-" + hex.EncodeToString(sum[:8])
	}
	if c.Settings.Reasoning != "" {
		q.Reasoning = &openai.ResponseReasoning{Effort: c.Settings.Reasoning}
	}
	if t := c.Settings.Temperature; t != nil {
		temperature := float32(*t)
		q.Temperature = &temperature
	}
	switch {
	case len(r.Tools) == 0:
	case c.Settings.JSONCalls:
		q.Instructions = structuredRules(r.System, r.Tools)
		q.Text = &openai.ResponseTextConfig{Format: &openai.ResponseTextFormat{
			Type: "json_schema", Name: "calls", Schema: structuredSchema(r.Tools),
		}}
	default:
		q.ToolChoice, q.ParallelToolCalls = "required", &yes
		for _, t := range r.Tools {
			f := openai.NewResponseFunctionTool(openai.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: t.Schema})
			f.Parameters["strict"] = false // else the API may require what is optional
			q.Tools = append(q.Tools, f)
		}
	}
	content := make([]any, len(r.Blocks))
	for i, b := range r.Blocks {
		content[i] = openai.ResponseInputText{Type: "input_text", Text: b.Text}
		if len(b.Image) > 0 {
			content[i] = openai.ResponseInputImage{Type: "input_image", ImageURL: dataURL(b.Image)}
		}
	}
	q.Input = []openai.ResponseInputMessage{{Role: "user", Content: content}}
	return q
}

func (c responsesCodec) ask(ctx context.Context, client *http.Client, r Request) (Answer, Usage, error) {
	a, err := c.openAI(client).CreateResponse(ctx, c.request(r))
	if err != nil {
		return Answer{}, Usage{}, c.undecodable(err)
	}
	answer, err := c.answer(a)
	if err != nil {
		return Answer{}, Usage{}, c.undecodable(err)
	}
	var usage Usage
	if u := a.Usage; u != nil {
		usage = Usage{Uncached: u.InputTokens, Output: u.OutputTokens}
		if d := u.InputTokensDetails; d != nil {
			usage.CacheRead = min(d.CachedTokens, u.InputTokens)
			usage.CacheWrite = min(d.CacheWriteTokens, u.InputTokens-usage.CacheRead)
			usage.Uncached -= usage.CacheRead + usage.CacheWrite
		}
	}
	return answer, usage, nil
}

func (c responsesCodec) answer(a openai.CreateResponseResponse) (Answer, error) {
	var said []string
	var calls []Call
	var refusal string
	for _, raw := range a.Output {
		if m, ok := raw.(map[string]any); !ok || m["type"] != "function_call" && m["type"] != "message" {
			continue // others, such as reasoning, are not for us
		}
		encoded, err := json.Marshal(raw)
		if err != nil {
			return Answer{}, err
		}
		var item openai.ResponseOutputItem
		if err := json.Unmarshal(encoded, &item); err != nil {
			return Answer{}, err
		}
		if item.Type == "function_call" {
			calls = append(calls, newCall(item.Name, item.Arguments))
		}
		for _, part := range item.Content {
			said, refusal = append(said, part.Text), cmp.Or(refusal, part.Refusal)
		}
	}
	answer := newAnswer(said, calls)
	filtered := a.IncompleteDetails != nil && a.IncompleteDetails.Reason == "content_filter"
	switch {
	case refusal != "" || filtered:
		return Answer{End: Refused, Text: cmp.Or(refusal, answer.Text)}, nil
	case a.Status == openai.ResponseStatusIncomplete:
		return Answer{End: CutOff, Text: answer.Text}, nil
	case c.Settings.JSONCalls && len(calls) == 0:
		return structuredAnswer(said), nil
	}
	return answer, nil
}
