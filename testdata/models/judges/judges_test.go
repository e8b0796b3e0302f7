// Package judges_test lets the SDKs of Anthropic and OpenAI read what pkg/model sends, and what testdata/models answers.
package judges_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/trailblaze/trailblaze/pkg/model"
	"github.com/trailblaze/trailblaze/testdata/models"
)

var picture = []byte("\x89PNG\r\n\x1a\nnot looked at")

func request() model.Request {
	schema := json.RawMessage(`{"type":"object","properties":{"ref":{"type":"string"}},"required":["ref"]}`)
	return model.Request{
		System: "RULES", Tools: []model.Tool{{Name: "web_click", Description: "Clicks", Schema: schema}},
		Blocks: []model.Block{{Text: "TASK step: Add the mug"}, {Text: "screen"}, {Image: picture}},
	}
}

// serve starts the provider for tests, which calls a tool twice.
func serve(t *testing.T, fault models.Fault) (s *models.Server, url string) {
	t.Helper()
	call := func(ref string) models.Call {
		return models.Call{Name: "web_click", Args: map[string]any{"ref": ref}}
	}
	s = &models.Server{
		Policy: models.Script(models.Reply{Text: "I add it.", Calls: []models.Call{call("e1"), call("e2")}}),
		Key:    "k", Fault: models.Always(fault),
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server.URL
}

// sent returns the request that a model sends.
func sent(t *testing.T, protocol model.Protocol, settings model.Settings) []byte {
	t.Helper()
	s, url := serve(t, "")
	c, err := model.New(model.Options{
		Provider: model.Provider{Name: "test", Protocol: protocol, BaseURL: url, KeyEnv: "KEY"}, Model: "scripted", Key: "k", Settings: settings, CacheKey: "web",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, _, err := c.Ask(t.Context(), request()); err != nil {
		t.Fatal(err)
	}
	return []byte(s.Received()[0].Body)
}

// asked is a request of Responses. The SDK writes messages without a type, which the API takes, but it reads a list of
// input only with types; so each message is read as what it is.
type asked struct{ responses.ResponseNewParams }

func (a *asked) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &a.ResponseNewParams); err != nil {
		return err
	}
	var messages struct {
		Input []responses.EasyInputMessageParam `json:"input"`
	}
	if err := json.Unmarshal(data, &messages); err != nil {
		return err
	}
	a.Input = responses.ResponseNewParamsInputUnion{}
	for _, m := range messages.Input {
		a.Input.OfInputItemList = append(a.Input.OfInputItemList, responses.ResponseInputItemUnionParam{OfMessage: &m})
	}
	return nil
}

// same fails when a request is another one after an SDK has read and written it.
func same(t *testing.T, request []byte, read any) {
	t.Helper()
	if err := json.Unmarshal(request, read); err != nil {
		t.Fatalf("the SDK cannot read %s: %v", request, err)
	}
	written, err := json.Marshal(read)
	if err != nil {
		t.Fatal(err)
	}
	var want, got map[string]any
	if err := json.Unmarshal(request, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(written, &got); err != nil {
		t.Fatal(err)
	}
	delete(want, "stream") // it is false, which the SDKs do not write
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-sent +as the SDK understands it):\n%s", diff)
	}
}

func TestSDKsUnderstandRequests(t *testing.T) {
	t.Parallel()
	temperature := 0.5
	for name, settings := range map[string]model.Settings{
		"plain": {}, "reasoning": {Reasoning: "low"}, "temperature": {Temperature: &temperature},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, sent(t, model.Anthropic, settings), &anthropic.MessageNewParams{})
			same(t, sent(t, model.OpenAIResponses, settings), &asked{})
			same(t, sent(t, model.OpenAIChat, settings), &openai.ChatCompletionNewParams{})
		})
	}
	structured := model.Settings{JSONCalls: true}
	same(t, sent(t, model.OpenAIResponses, structured), &asked{})
	same(t, sent(t, model.OpenAIChat, structured), &openai.ChatCompletionNewParams{})
}

func TestSDKsUnderstandAnswers(t *testing.T) {
	t.Parallel()
	_, url := serve(t, "")
	want := []string{`web_click {"ref":"e1"}`, `web_click {"ref":"e2"}`}

	var params anthropic.MessageNewParams
	read(t, sent(t, model.Anthropic, model.Settings{}), &params)
	client := anthropic.NewClient(anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey("k"))
	message, err := client.Messages.New(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	for _, block := range message.Content {
		if use, ok := block.AsAny().(anthropic.ToolUseBlock); ok {
			calls = append(calls, use.Name+" "+string(use.Input))
		}
	}
	judge(t, "anthropic", calls, want, message.StopReason == anthropic.StopReasonToolUse && message.Usage.InputTokens > 0)

	openAI := openai.NewClient(openaioption.WithBaseURL(url), openaioption.WithAPIKey("k"))
	var question asked
	read(t, sent(t, model.OpenAIResponses, model.Settings{}), &question)
	response, err := openAI.Responses.New(t.Context(), question.ResponseNewParams)
	if err != nil {
		t.Fatal(err)
	}
	calls = nil
	for _, item := range response.Output {
		if call, ok := item.AsAny().(responses.ResponseFunctionToolCall); ok {
			calls = append(calls, call.Name+" "+call.Arguments)
		}
	}
	judge(t, "responses", calls, want, response.Status == responses.ResponseStatusCompleted && response.OutputText() == "I add it." && response.Usage.InputTokens > 0)

	var chatted openai.ChatCompletionNewParams
	read(t, sent(t, model.OpenAIChat, model.Settings{}), &chatted)
	completion, err := openAI.Chat.Completions.New(t.Context(), chatted)
	if err != nil {
		t.Fatal(err)
	}
	calls = nil
	for _, call := range completion.Choices[0].Message.ToolCalls {
		calls = append(calls, call.Function.Name+" "+call.Function.Arguments)
	}
	judge(t, "chat", calls, want, completion.Choices[0].FinishReason == "tool_calls" && completion.Usage.PromptTokens > 0)
}

func read(t *testing.T, request []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(request, to); err != nil {
		t.Fatal(err)
	}
}

func judge(t *testing.T, protocol string, calls, want []string, rest bool) {
	t.Helper()
	if diff := cmp.Diff(want, calls); diff != "" || !rest {
		t.Errorf("%s: calls (-want +as the SDK reads them):\n%s", protocol, diff)
	}
}
