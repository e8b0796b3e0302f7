package config

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/model"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// LLM is what a project says of models.
type LLM struct {
	Model     string // PROVIDER/MODEL; empty when not set
	Context   string // sent with each request
	NoImages  bool   // pictures are never sent
	Heal      string // one of HealModes; empty when not set
	Providers map[string]model.Provider
	Models    map[string]model.Settings // by the name of the model
	Budget    LLMBudget
	Keys      map[string]string // of Providers and of those that model.Known returns, by variable; without those that are not set
}

// What is done with recordings that broke.
const (
	HealOff     = "off"
	HealPropose = "propose" // repairs are left in the folder of the session
	HealWrite   = "write"   // and written into the files of the trails
)

// HealModes returns the values of llm: heal:.
func HealModes() []string { return []string{HealOff, HealPropose, HealWrite} }

// LLMBudget is what models may use; zero where the file does not set it.
type LLMBudget struct {
	RequestsPerStep, RequestsPerTrail, TokensPerTrail int
	TimePerStep                                       time.Duration
	CostPerTrail, CostPerRun                          float64
}

// maxContext is the size of context in bytes.
const maxContext = 4 << 10

// Find returns the provider and the settings of a model that is named PROVIDER/MODEL, or of Model when the name is
// empty. Its errors are of kind Misuse.
func (c LLM) Find(name string) (p model.Provider, of string, s model.Settings, err error) {
	if name == "" {
		name = c.Model
	}
	provider, of, ok := strings.Cut(name, "/")
	if !ok || provider == "" || of == "" {
		if name == "" {
			return p, "", s, fault.New(fault.Misuse, "pass --llm PROVIDER/MODEL, or write llm: { model: PROVIDER/MODEL } in trailblaze.yaml", "no model is configured")
		}
		return p, "", s, fault.New(fault.Misuse, "write it like anthropic/claude-sonnet", "%q is not PROVIDER/MODEL", name)
	}
	if p, ok = c.Providers[provider]; !ok {
		if p, ok = model.Known(provider); !ok {
			known := slices.Sorted(maps.Keys(c.Providers))
			return p, "", s, fault.New(fault.Misuse, fault.DidYouMean(provider, append(known, model.KnownNames()...)),
				"unknown provider %q: llm: providers: does not have it either", provider)
		}
	}
	s = c.Models[of]
	s.NoImages = s.NoImages || c.NoImages
	return p, of, s, nil
}

// llm reads what the project says of models.
func (l *loader) llm(n yamldoc.Node) {
	c := &l.project.LLM
	n.Fields(map[string]func(yamldoc.Node){
		"model": func(n yamldoc.Node) {
			c.Model = text(n)
			l.model = n
		},
		"context": func(n yamldoc.Node) {
			if c.Context = text(n); len(c.Context) > maxContext {
				n.Errorf("shorten it: it is sent with each request", "context has %d bytes, more than 4 KB", len(c.Context))
			}
		},
		"heal":   func(n yamldoc.Node) { c.Heal = oneOf(n, "value", HealModes()...) },
		"images": func(n yamldoc.Node) { c.NoImages = oneOf(n, "value", "auto", "never") == "never" },
		"providers": func(n yamldoc.Node) {
			c.Providers = map[string]model.Provider{}
			for _, e := range n.Entries() {
				c.Providers[e.Key] = l.provider(e)
			}
		},
		"models": func(n yamldoc.Node) {
			c.Models = map[string]model.Settings{}
			for _, e := range n.Entries() {
				c.Models[e.Key] = modelSettings(e.Value)
			}
		},
		"budget": func(n yamldoc.Node) { c.Budget = llmBudget(n) },
	})
	if c.Model != "" {
		if _, _, _, err := c.Find(""); err != nil {
			l.model.Errorf(fault.As(err).Hint, "%s", err)
		}
	}
}

func (l *loader) provider(e yamldoc.Entry) model.Provider {
	p, known := model.Known(e.Key)
	p.Name = e.Key
	if e.Key == "" || strings.Contains(e.Key, "/") {
		e.At.Errorf("write a name without /", "%q is not the name of a provider", e.Key)
	}
	var hasProtocol, hasURL bool
	keys := once{keys: `"apiKeyEnv" and "apiKeyCommand"`}
	e.Value.Fields(map[string]func(yamldoc.Node){
		"protocol": func(n yamldoc.Node) {
			hasProtocol, p.Protocol = true, model.Protocol(oneOf(n, "protocol", model.Protocols()...))
		},
		"baseUrl": func(n yamldoc.Node) { hasURL, p.BaseURL = true, l.providerURL(n) },
		"apiKeyEnv": func(n yamldoc.Node) {
			name := text(n)
			if !keys.claim(n) {
				return
			}
			if p.KeyEnv = name; name != "" && !variableName().MatchString(name) {
				n.Errorf("name an environment variable, such as LLM_API_KEY; the key does not belong in this file", "this is not the name of a variable")
			}
		},
		"apiKeyCommand": func(n yamldoc.Node) {
			if !keys.claim(n) {
				return
			}
			if p.KeyEnv, p.KeyCommand = "", texts(n); n.Kind() == yamldoc.List && len(p.KeyCommand) == 0 {
				n.Errorf("write [PROGRAM, ARGUMENT, …]", "the command is empty")
			}
		},
		"headers":       func(n yamldoc.Node) { p.Headers = l.headers(n, l.maskValue) },
		"maxConcurrent": func(n yamldoc.Node) { p.MaxConcurrent = atLeast(n, 1) },
	})
	if !known && (!hasProtocol || !hasURL) && e.Value.Kind() == yamldoc.Mapping {
		e.At.Errorf(`write protocol: openai-chat and baseUrl: "https://…"`, "provider %q is not one that is known, so it needs a protocol and a baseUrl", e.Key)
	}
	return p
}

func (l *loader) providerURL(n yamldoc.Node) string {
	raw := text(n)
	address := l.expandVariables(n, raw)
	u, err := url.Parse(address)
	switch _, complete := l.environment(raw); {
	case raw == "" || !complete: // reported already
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "":
		n.Errorf(`write it like "https://llm.example.com/v1"`, "this is not a URL with http or https")
	case u.User != nil:
		n.Errorf("give the key by apiKeyEnv or apiKeyCommand", "the URL contains a user or a password")
	}
	return address
}

func modelSettings(n yamldoc.Node) model.Settings {
	var s model.Settings
	n.Fields(map[string]func(yamldoc.Node){
		"price":           func(n yamldoc.Node) { s.Price = price(n) },
		"images":          func(n yamldoc.Node) { s.NoImages = !n.Bool() },
		"maxOutputTokens": func(n yamldoc.Node) { s.MaxOutputTokens = atLeast(n, 16) },
		"toolCalls":       func(n yamldoc.Node) { s.JSONCalls = oneOf(n, "value", "native", "json") == "json" },
		"reasoning":       func(n yamldoc.Node) { s.Reasoning = text(n) },
		"temperature": func(n yamldoc.Node) {
			temperature := amount(n)
			s.Temperature = &temperature
		},
	})
	return s
}

// price reads what tokens cost. Without a price of their own, cached tokens cost what others do.
func price(n yamldoc.Node) *model.Price {
	var p model.Price
	given := map[string]bool{}
	field := func(name string, to *float64) func(yamldoc.Node) {
		return func(n yamldoc.Node) { *to, given[name] = amount(n), true }
	}
	n.Fields(map[string]func(yamldoc.Node){
		"input": field("input", &p.Input), "cacheRead": field("cacheRead", &p.CacheRead), "cacheWrite": field("cacheWrite", &p.CacheWrite),
		"output": field("output", &p.Output),
	})
	if n.Kind() == yamldoc.Mapping && (!given["input"] || !given["output"]) {
		n.Errorf("write price: { input: …, output: … }, per million tokens", "a price needs both input and output")
	}
	if !given["cacheRead"] {
		p.CacheRead = p.Input
	}
	if !given["cacheWrite"] {
		p.CacheWrite = p.Input
	}
	return &p
}

func llmBudget(n yamldoc.Node) LLMBudget {
	var b LLMBudget
	n.Fields(map[string]func(yamldoc.Node){
		"requestsPerStep":  func(n yamldoc.Node) { b.RequestsPerStep = atLeast(n, 1) },
		"requestsPerTrail": func(n yamldoc.Node) { b.RequestsPerTrail = atLeast(n, 1) },
		"tokensPerTrail":   func(n yamldoc.Node) { b.TokensPerTrail = atLeast(n, 1) },
		"timePerStep":      func(n yamldoc.Node) { b.TimePerStep = n.Duration() },
		"costPerTrail":     func(n yamldoc.Node) { b.CostPerTrail = positive(n) },
		"costPerRun":       func(n yamldoc.Node) { b.CostPerRun = positive(n) },
	})
	return b
}

// amount reads a number that is not negative.
func amount(n yamldoc.Node) float64 {
	var number float64
	switch v := n.Value().(type) {
	case json.Number:
		number, _ = v.Float64()
	case int:
		number = float64(v)
	case int64:
		number = float64(v)
	case uint64:
		number = float64(v)
	case float64:
		number = v
	default:
		n.Errorf("write a number, such as 0.5", "this is not a number")
		return 0
	}
	if number < 0 {
		n.Errorf("write a number that is not negative", "%s is negative", strconv.FormatFloat(number, 'g', -1, 64))
	}
	return number
}

// positive reads a number that is more than 0.
func positive(n yamldoc.Node) float64 {
	number := amount(n)
	if _, isText := n.Value().(string); number == 0 && !isText {
		n.Errorf("write an amount such as 0.5, or leave the limit out", "a limit of 0 allows nothing")
	}
	return number
}

// llmKeys looks up the keys of providers. Those of providers that the project names are secrets.
func (l *loader) llmKeys() {
	c := &l.project.LLM
	variables := map[string]bool{} // whether the project names a provider with the key
	for _, name := range model.KnownNames() {
		p, _ := model.Known(name)
		variables[p.KeyEnv] = variables[p.KeyEnv] || strings.HasPrefix(c.Model, name+"/")
	}
	for _, p := range c.Providers {
		variables[p.KeyEnv] = true
	}
	for variable, named := range variables {
		value, _ := l.env(variable)
		if variable == "" || value == "" {
			continue
		}
		if c.Keys == nil {
			c.Keys = map[string]string{}
		}
		c.Keys[variable] = value
		if named {
			l.maskValue(variable, value)
		}
	}
}
