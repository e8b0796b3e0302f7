package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// chatCodec speaks OpenAI's Chat Completions.
type chatCodec struct{ *Client }

// newerOpenAI matches OpenAI's own models, which take max_completion_tokens in place of max_tokens. At Azure they have
// any name, and are known by the answer.
var newerOpenAI = lazyregexp.New(`^(gpt-[0-9]|o[0-9])`)

func (c chatCodec) authorize(h http.Header, key string) { bearer(h, key) }

func (c chatCodec) inspect(body []byte) *failure {
	var a struct {
		Choices []json.RawMessage `json:"choices"`
	}
	if err := json.Unmarshal(body, &a); err != nil || len(a.Choices) == 0 {
		return notAnAnswer(body, "it has no choices")
	}
	var choice struct {
		FinishReason string `json:"finish_reason"`
		Error        any    `json:"error"`
	}
	if err := json.Unmarshal(a.Choices[0], &choice); err == nil && (choice.Error != nil || choice.FinishReason == "error") {
		return notAnAnswer(a.Choices[0], "it ended with an error")
	}
	return nil
}

func (c chatCodec) request(r Request) openai.ChatCompletionRequest {
	q := openai.ChatCompletionRequest{Model: c.Model, ReasoningEffort: c.Settings.Reasoning}
	if c.isNewer.Load() || newerOpenAI().MatchString(c.Model) {
		q.MaxCompletionTokens = r.MaxOutputTokens
	} else {
		q.MaxTokens = r.MaxOutputTokens //nolint:staticcheck // other providers know only this one
	}
	if t := c.Settings.Temperature; t != nil {
		q.Temperature = float32(max(*t, math.SmallestNonzeroFloat32)) // the library does not send 0
	}
	system := r.System
	switch {
	case len(r.Tools) == 0:
	case c.Settings.JSONCalls:
		system = structuredRules(system, r.Tools)
		q.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: "calls", Schema: structuredSchema(r.Tools)},
		}
	default:
		q.ToolChoice = "required"
		for _, t := range r.Tools {
			q.Tools = append(q.Tools, openai.Tool{
				Type:     openai.ToolTypeFunction,
				Function: &openai.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: t.Schema},
			})
		}
	}
	if system != "" {
		q.Messages = append(q.Messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: system})
	}
	parts := make([]openai.ChatMessagePart, len(r.Blocks))
	for i, b := range r.Blocks {
		parts[i] = openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: b.Text}
		if len(b.Image) > 0 {
			parts[i] = openai.ChatMessagePart{Type: openai.ChatMessagePartTypeImageURL, ImageURL: &openai.ChatMessageImageURL{URL: dataURL(b.Image)}}
		}
	}
	q.Messages = append(q.Messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, MultiContent: parts})
	return q
}

func (c chatCodec) ask(ctx context.Context, client *http.Client, r Request) (Answer, Usage, error) {
	q := c.request(r)
	a, err := c.openAI(client).CreateChatCompletion(ctx, q)
	if err != nil && q.MaxCompletionTokens == 0 && strings.Contains(err.Error(), "max_completion_tokens") {
		c.isNewer.Store(true)
		return c.ask(ctx, client, r)
	}
	switch {
	case errors.Is(err, openai.ErrReasoningToolsRequireResponses):
		return Answer{}, Usage{}, fault.New(fault.Provider, "set protocol: openai-responses for the provider, or reasoning: none for the model",
			"%s calls tools by protocol openai-chat only without reasoning", c.Name())
	case err != nil:
		return Answer{}, Usage{}, c.undecodable(err)
	}
	u := a.Usage
	usage := Usage{Uncached: u.PromptTokens, Output: max(u.CompletionTokens, u.TotalTokens-u.PromptTokens)} // Google counts thoughts in the total only
	if d := u.PromptTokensDetails; d != nil {
		usage.CacheRead = min(d.CachedTokens, usage.Uncached)
		usage.Uncached -= usage.CacheRead
	}
	return c.answer(a.Choices[0]), usage, nil
}

func (c chatCodec) answer(choice openai.ChatCompletionChoice) Answer {
	m := choice.Message
	said := []string{m.Content}
	for _, part := range m.MultiContent {
		said = append(said, part.Text)
	}
	var calls []Call
	for _, t := range m.ToolCalls {
		calls = append(calls, newCall(t.Function.Name, t.Function.Arguments))
	}
	answer := newAnswer(said, calls)
	switch {
	case choice.FinishReason == openai.FinishReasonLength:
		return Answer{End: CutOff, Text: answer.Text}
	case m.Refusal != "" || choice.FinishReason == openai.FinishReasonContentFilter:
		return Answer{End: Refused, Text: cmp.Or(m.Refusal, answer.Text)}
	case c.Settings.JSONCalls && len(calls) == 0:
		return structuredAnswer(said)
	}
	return answer
}
