package model_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/model"
	"github.com/trailblaze/trailblaze/testdata/models"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-test-0123456789"

var onePixel = []byte("\x89PNG\r\n\x1a\nnot looked at")

// protocols returns the path under which each protocol is served.
func protocols() map[model.Protocol]string {
	return map[model.Protocol]string{model.Anthropic: "", model.OpenAIResponses: "/v1", model.OpenAIChat: "/v1"}
}

// options returns a model of a provider at a URL. Its waits are short.
func options(protocol model.Protocol, url string) model.Options {
	return model.Options{
		Provider: model.Provider{Name: "test", Protocol: protocol, BaseURL: url + protocols()[protocol], KeyEnv: "TEST_KEY"},
		Model:    "scripted", Key: key, CacheKey: "web", Limits: model.Limits{Wait: time.Millisecond},
	}
}

// serve starts a provider and returns a model of it.
func serve(t *testing.T, s *models.Server, protocol model.Protocol, change func(*model.Options)) *model.Client {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.Key = key
	o := options(protocol, server.URL)
	if change != nil {
		change(&o)
	}
	return newClient(t, o)
}

func newClient(t *testing.T, o model.Options) *model.Client {
	t.Helper()
	c, err := model.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func tool(name string) model.Tool {
	return model.Tool{
		Name: name, Description: "Does " + name,
		Schema: json.RawMessage(`{"properties":{"ref":{"type":"string"}},"required":["ref"],"type":"object"}`),
	}
}

// request returns a request as a task makes it.
func request() model.Request {
	return model.Request{
		Task: model.Task{Trail: "trails/a.trail.yaml", Step: "2", Kind: "step"}, Tools: []model.Tool{tool("web_click"), tool("web_type")}, System: "RULES",
		Blocks: []model.Block{{Text: "TASK step: Add the mug"}, {Text: `- button "Add <1>" [ref=e35]`}, {Image: onePixel}},
	}
}

func click(ref string) models.Call {
	return models.Call{Name: "web_click", Args: map[string]any{"ref": ref}}
}

func TestProtocolsAskAndAnswerTheSame(t *testing.T) {
	t.Parallel()
	for protocol := range protocols() {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			s := &models.Server{Policy: models.Script(models.Reply{Text: "I add it.", Calls: []models.Call{click("e35"), click("e36")}})}
			c := serve(t, s, protocol, nil)
			answer, usage, err := c.Ask(t.Context(), request())
			if err != nil {
				t.Fatal(err)
			}
			want := model.Answer{End: model.Called, Text: "I add it.", Calls: []model.Call{
				{Name: "web_click", Args: json.RawMessage(`{"ref":"e35"}`)}, {Name: "web_click", Args: json.RawMessage(`{"ref":"e36"}`)},
			}}
			if diff := cmp.Diff(want, answer); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if usage.Estimated || usage.Attempts != 1 || usage.Uncached == 0 || usage.Output == 0 {
				t.Errorf("usage is %+v", usage)
			}
			schema := map[string]any{
				"type": "object", "required": []any{"ref"}, "properties": map[string]any{"ref": map[string]any{"type": "string"}},
			}
			prompt := models.Prompt{
				Protocol: string(protocol), Model: "scripted", System: "RULES", Required: true,
				Tools: []models.Tool{
					{Name: "web_click", Description: "Does web_click", Schema: schema}, {Name: "web_type", Description: "Does web_type", Schema: schema},
				},
				Blocks: []models.Block{
					{Text: "TASK step: Add the mug"}, {Text: `- button "Add <1>" [ref=e35]`}, {Image: onePixel},
				},
			}
			if diff := cmp.Diff([]models.Prompt{prompt}, s.Prompts()); diff != "" {
				t.Errorf("prompt (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequestsOnTheWire(t *testing.T) {
	t.Parallel()
	const image = `iVBORw0KGgpub3QgbG9va2VkIGF0`
	const schema = `{"properties":{"ref":{"type":"string"}},"required":["ref"],"type":"object"}`
	for protocol, want := range map[model.Protocol]string{
		model.Anthropic: `{"model":"scripted","max_tokens":1024,
			"system":[{"type":"text","text":"RULES","cache_control":{"type":"ephemeral"}}],
			"tools":[{"name":"web_click","description":"Does web_click","input_schema":` + schema + `}],
			"tool_choice":{"type":"any"},
			"messages":[{"role":"user","content":[
				{"type":"text","text":"TASK"},{"type":"text","text":"screen","cache_control":{"type":"ephemeral"}},
				{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + image + `"}}]}]}`,
		model.OpenAIResponses: `{"model":"scripted","store":false,"max_output_tokens":1024,"prompt_cache_key":"KEY","tool_choice":"required",
			"parallel_tool_calls":true,"instructions":"RULES",
			"tools":[{"type":"function","name":"web_click","description":"Does web_click","strict":false,"parameters":` + schema + `}],
			"input":[{"role":"user","content":[{"type":"input_text","text":"TASK"},{"type":"input_text","text":"screen"},
				{"type":"input_image","image_url":"data:image/png;base64,` + image + `"}]}]}`,
		model.OpenAIChat: `{"model":"scripted","max_tokens":1024,"tool_choice":"required","stream":false,
			"tools":[{"type":"function","function":{"name":"web_click","description":"Does web_click","parameters":` + schema + `}}],
			"messages":[{"role":"system","content":"RULES"},{"role":"user","content":[{"type":"text","text":"TASK"},{"type":"text","text":"screen"},
				{"type":"image_url","image_url":{"url":"data:image/png;base64,` + image + `"}}]}]}`,
	} {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			s := &models.Server{Policy: models.Script(models.Reply{Calls: []models.Call{click("e1")}})}
			c := serve(t, s, protocol, nil)
			r := request()
			r.Tools, r.Blocks = r.Tools[:1], []model.Block{{Text: "TASK"}, {Text: "screen"}, {Image: onePixel}}
			if _, _, err := c.Ask(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			var got, expected map[string]any
			decode(t, s.Received()[0].Body, &got)
			decode(t, want, &expected)
			if cacheKey, _ := got["prompt_cache_key"].(string); strings.HasPrefix(cacheKey, "trailblaze-") {
				got["prompt_cache_key"] = "KEY"
			}
			if diff := cmp.Diff(expected, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func decode(t *testing.T, data string, to any) {
	t.Helper()
	if err := json.Unmarshal([]byte(data), to); err != nil {
		t.Fatal(err)
	}
}

func TestEndsOfAnswers(t *testing.T) {
	t.Parallel()
	calls := []models.Call{click("e1")}
	for name, test := range map[string]struct {
		reply models.Reply
		fault models.Fault
		want  model.Answer
	}{
		"text":          {models.Reply{Text: "hello"}, "", model.Answer{End: model.Said, Text: "hello"}},
		"nothing":       {models.Reply{}, "", model.Answer{End: model.Said}},
		"cut off":       {models.Reply{Text: "I", CutOff: true}, "", model.Answer{End: model.CutOff, Text: "I"}},
		"cut in a call": {models.Reply{Calls: calls}, models.HalfCall, model.Answer{End: model.CutOff}},
		"refused":       {models.Reply{Text: "no", Refused: true}, "", model.Answer{End: model.Refused, Text: "no"}},
		"stop with calls": {models.Reply{Calls: calls}, models.FinishStop, model.Answer{
			End: model.Called, Calls: []model.Call{{Name: "web_click", Args: json.RawMessage(`{"ref":"e1"}`)}},
		}},
		"empty ids": {models.Reply{Calls: calls}, models.EmptyIDs, model.Answer{
			End: model.Called, Calls: []model.Call{{Name: "web_click", Args: json.RawMessage(`{"ref":"e1"}`)}},
		}},
		"arguments that are not JSON": {models.Reply{Calls: []models.Call{{Name: "web_click", Raw: `{"ref":`}}}, "", model.Answer{
			End: model.Called, Calls: []model.Call{{Name: "web_click", Problem: "the arguments are not a JSON object"}},
		}},
		"arguments that are a list": {models.Reply{Calls: []models.Call{{Name: "web_click", Raw: `[1]`}}}, "", model.Answer{
			End: model.Called, Calls: []model.Call{{Name: "web_click", Problem: "the arguments are not a JSON object"}},
		}},
		"large arguments": {models.Reply{Calls: []models.Call{click(strings.Repeat("x", 17<<10))}}, "", model.Answer{
			End: model.Called, Calls: []model.Call{{Name: "web_click", Problem: "the arguments have 17418 bytes, more than 16 KB"}},
		}},
		"deep arguments": {
			models.Reply{Calls: []models.Call{{Name: "web_click", Raw: `{"a":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`}}},
			"",
			model.Answer{End: model.Called, Calls: []model.Call{{Name: "web_click", Problem: "the arguments are nested"}}},
		},
	} {
		for protocol := range protocols() {
			if name == "deep arguments" && protocol == model.Anthropic {
				continue // where arguments are part of the answer, which cannot be read
			}
			t.Run(name+" by "+string(protocol), func(t *testing.T) {
				t.Parallel()
				c := serve(t, &models.Server{Policy: models.Script(test.reply), Fault: models.Always(test.fault)}, protocol, nil)
				got, _, err := c.Ask(t.Context(), request())
				if err != nil {
					t.Fatal(err)
				}
				for i, call := range got.Calls {
					if want := test.want.Calls[i].Problem; want != "" && strings.HasPrefix(call.Problem, want) {
						got.Calls[i].Problem = want
					}
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestStructuredAnswersAreCalls(t *testing.T) {
	t.Parallel()
	for _, protocol := range []model.Protocol{model.OpenAIChat, model.OpenAIResponses} {
		s := &models.Server{Policy: models.Script(models.Reply{Calls: []models.Call{click("e1")}}, models.Reply{Text: "I cannot."},
			models.Reply{Text: "Here:\n```json\n{\"calls\":[{\"name\":\"web_click\",\"arguments\":\"{\\\"ref\\\":\\\"e1\\\"}\"}]}\n```"})}
		c := serve(t, s, protocol, func(o *model.Options) { o.Settings.JSONCalls = true })
		want := model.Answer{End: model.Called, Calls: []model.Call{{Name: "web_click", Args: json.RawMessage(`{"ref":"e1"}`)}}}
		for i, want := range []model.Answer{want, {End: model.Said, Text: "I cannot."}, want} {
			got, _, err := c.Ask(t.Context(), request())
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%s: answer %d (-want +got):\n%s%v", protocol, i, diff, err)
			}
		}
		if p := s.Prompts()[0]; !p.JSON || len(p.Tools) > 0 || !strings.Contains(p.System, "- web_click: Does web_click") {
			t.Errorf("%s: prompt is %+v", protocol, p)
		}
	}
}

func TestSettingsAreSentOnlyIfConfigured(t *testing.T) {
	t.Parallel()
	zero := 0.0
	for _, test := range []struct {
		protocol model.Protocol
		model    string
		settings model.Settings
		want     string
	}{
		{
			model.Anthropic, "claude",
			model.Settings{Reasoning: "low"},
			`"tool_choice":{"type":"auto"} "thinking":{"type":"adaptive"} "output_config":{"effort":"low"} "max_tokens":8192`,
		},
		{model.Anthropic, "claude", model.Settings{Temperature: &zero}, `"temperature":0, "tool_choice":{"type":"any"} "max_tokens":1024`},
		{
			model.OpenAIResponses, "gpt-6",
			model.Settings{Reasoning: "low", Temperature: &zero, MaxOutputTokens: 9},
			`"reasoning":{"effort":"low"} "temperature":0, "max_output_tokens":16`,
		},
		{model.OpenAIChat, "gpt-5-mini", model.Settings{Reasoning: "low"}, `"reasoning_effort":"low" "max_completion_tokens":8192`},
		{model.OpenAIChat, "prod-gpt5", model.Settings{}, `"max_completion_tokens":1024`}, // as Azure names what it deploys
		{model.OpenAIChat, "qwen3", model.Settings{Temperature: &zero}, `"max_tokens":1024 "temperature":1e-45`},
	} {
		s := &models.Server{Policy: models.Script(models.Reply{Text: "x"})}
		c := serve(t, s, test.protocol, func(o *model.Options) { o.Model, o.Settings = test.model, test.settings })
		if _, _, err := c.Ask(t.Context(), request()); err != nil {
			t.Fatalf("%s: %v", test.model, err)
		}
		asked := s.Received()
		for part := range strings.FieldsSeq(test.want) {
			if body := asked[len(asked)-1].Body; !strings.Contains(body, strings.TrimSuffix(part, ",")) {
				t.Errorf("%s: %s is not in %s", test.model, part, body)
			}
		}
		if _, usage, err := c.Ask(t.Context(), request()); err != nil || usage.Attempts != 1 {
			t.Errorf("%s: %d attempts for the next request: %v", test.model, usage.Attempts, err)
		}
	}
}

func TestUsageIsNormalized(t *testing.T) {
	t.Parallel()
	for protocol := range protocols() {
		s := &models.Server{
			Policy: models.Script(models.Reply{Calls: []models.Call{click("e1")}}),
			Fault:  func(n int) models.Fault { return map[int]models.Fault{3: models.NoUsage, 4: models.Thoughts}[n] },
		}
		c := serve(t, s, protocol, nil)
		r := request()
		r.Blocks = []model.Block{{Text: strings.Repeat("screen ", 1000)}}
		var usages []model.Usage
		for range 4 {
			_, usage, err := c.Ask(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			usages = append(usages, usage)
			r.Blocks = append(r.Blocks, model.Block{Text: "more"})
		}
		first, second, third := usages[0], usages[1], usages[2]
		if first.CacheRead != 0 || second.CacheRead != first.Uncached || second.Uncached > 10 || second.Estimated {
			t.Errorf("%s: usage is %+v, then %+v", protocol, first, second)
		}
		if !third.Estimated || third.Uncached < 1750 || third.Output == 0 {
			t.Errorf("%s: estimated usage is %+v", protocol, third)
		}
		if thought := usages[3].Output - first.Output; usages[3].Estimated || (thought == 100) != (protocol == model.OpenAIChat) {
			t.Errorf("%s: usage with thoughts is %+v, without %+v", protocol, usages[3], first)
		}
	}
}

// A provider that reports less than nothing would have no budget end a task.
func TestUsageThatCannotBeIsEstimated(t *testing.T) {
	t.Parallel()
	for _, wrong := range []models.Fault{models.LessUsage, models.MoreUsage} {
		for protocol := range protocols() {
			s := &models.Server{Policy: models.Script(models.Reply{Calls: []models.Call{click("e1")}}), Fault: models.Always(wrong)}
			r := request()
			r.Blocks = []model.Block{{Text: strings.Repeat("screen ", 1000)}}
			_, usage, err := serve(t, s, protocol, nil).Ask(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if !usage.Estimated || usage.Uncached < 1750 || usage.Uncached > 5000 || usage.CacheRead+usage.CacheWrite != 0 || usage.Output < 1 || usage.Output > 1000 {
				t.Errorf("%s by %s: %+v", wrong, protocol, usage)
			}
		}
	}
}

func TestCostIsUnknownWithoutPrice(t *testing.T) {
	t.Parallel()
	u := model.Usage{Uncached: 1000, CacheRead: 2000, CacheWrite: 3000, Output: 100}
	if cost, ok := (&model.Price{Input: 3, CacheRead: 0.3, CacheWrite: 3.75, Output: 15}).Cost(u); !ok || cost != 0.01635 {
		t.Errorf("cost is %v, %v", cost, ok)
	}
	if _, ok := (*model.Price)(nil).Cost(u); ok {
		t.Error("a cost without a price")
	}
}

func TestBugsAreNotSent(t *testing.T) {
	t.Parallel()
	s := &models.Server{Policy: models.Script(models.Reply{Text: "x"})}
	c := serve(t, s, model.OpenAIChat, func(o *model.Options) { o.Settings.NoImages = true })
	schema := func(s string) []model.Tool { return []model.Tool{{Name: "a", Schema: json.RawMessage(s)}} }
	text := []model.Block{{Text: "x"}}
	for name, r := range map[string]model.Request{
		"no blocks":           {},
		"an empty block":      {Blocks: []model.Block{{Text: "x"}, {Text: " \n"}}},
		"a picture":           {Blocks: []model.Block{{Text: "x"}, {Image: onePixel}}},
		"not a picture":       {Blocks: []model.Block{{Text: "x"}, {Image: []byte("GIF")}}},
		"a name with a dot":   {Blocks: text, Tools: []model.Tool{tool("web.click")}},
		"a long name":         {Blocks: text, Tools: []model.Tool{tool(strings.Repeat("a", 65))}},
		"two of a name":       {Blocks: text, Tools: []model.Tool{tool("a"), tool("a")}},
		"no schema":           {Blocks: text, Tools: schema("")},
		"a schema of a text":  {Blocks: text, Tools: schema(`{"type":"string"}`)},
		"a schema with anyOf": {Blocks: text, Tools: schema(`{"type":"object","anyOf":[]}`)},
	} {
		if _, usage, err := c.Ask(t.Context(), r); fault.KindOf(err) != fault.Bug || usage.Attempts != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(s.Received()); n > 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestOptionsThatAreMisuse(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*model.Options){
		"TEST_KEY is not set":        func(o *model.Options) { o.Key = "" },
		"no model":                   func(o *model.Options) { o.Model = "" },
		`unknown protocol "grpc"`:    func(o *model.Options) { o.Provider.Protocol = "grpc" },
		"is not a URL":               func(o *model.Options) { o.Provider.BaseURL = "ftp://x" },
		"contains a user":            func(o *model.Options) { o.Provider.BaseURL = "https://a:b@x" },
		"public address":             func(o *model.Options) { o.Provider.BaseURL = "http://8.8.8.8/v1" },
		"toolCalls: json is for the": func(o *model.Options) { o.Settings.JSONCalls = true },
	} {
		o := options(model.Anthropic, "https://llm.test")
		change(&o)
		if _, err := model.New(o); fault.KindOf(err) != fault.Misuse || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestKnownProvidersAreModels(t *testing.T) {
	t.Parallel()
	for _, name := range model.KnownNames() {
		p, ok := model.Known(name)
		c, err := model.New(model.Options{Provider: p, Model: "m", Key: "k"})
		if !ok || err != nil || c.Name() != name+"/m" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
