package model

import (
	"maps"
	"slices"
)

// Protocol is what a provider speaks.
type Protocol string

// Protocols of providers.
const (
	Anthropic       Protocol = "anthropic"        // Messages
	OpenAIResponses Protocol = "openai-responses" // Responses
	OpenAIChat      Protocol = "openai-chat"      // Chat Completions
)

// Protocols returns the protocols as files name them.
func Protocols() []string {
	return []string{string(Anthropic), string(OpenAIResponses), string(OpenAIChat)}
}

// Provider is a service of models.
type Provider struct {
	Name     string
	Protocol Protocol
	BaseURL  string // http or https; the protocol's path is added to it

	// KeyEnv is the environment variable with the key, KeyCommand the command that prints it. At most one is set, and none
	// for a provider without a key.
	KeyEnv     string
	KeyCommand []string

	Headers       map[string]string // sent with each request; may be nil
	MaxConcurrent int               // requests at the same time; 0 for no limit
}

// Known returns a provider that needs no configuration beyond its key.
func Known(name string) (p Provider, ok bool) {
	p, ok = known()[name]
	p.Name = name
	return p, ok
}

// KnownNames returns the names of the providers that Known returns, sorted.
func KnownNames() []string { return slices.Sorted(maps.Keys(known())) }

func known() map[string]Provider {
	local := func(port string) Provider {
		return Provider{Protocol: OpenAIChat, BaseURL: "http://127.0.0.1:" + port + "/v1"}
	}
	return map[string]Provider{
		"anthropic":  {Protocol: Anthropic, BaseURL: "https://api.anthropic.com", KeyEnv: "ANTHROPIC_API_KEY"},
		"openai":     {Protocol: OpenAIResponses, BaseURL: "https://api.openai.com/v1", KeyEnv: "OPENAI_API_KEY"},
		"google":     {Protocol: OpenAIChat, BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", KeyEnv: "GEMINI_API_KEY"},
		"openrouter": {Protocol: OpenAIChat, BaseURL: "https://openrouter.ai/api/v1", KeyEnv: "OPENROUTER_API_KEY"},
		"ollama":     local("11434"),
		"lmstudio":   local("1234"),
		"llamacpp":   local("8080"),
		"vllm":       local("8000"),
	}
}

// Settings are what is configured for one model.
type Settings struct {
	Price           *Price   // nil when it is not known
	NoImages        bool     // the model does not take pictures
	MaxOutputTokens int      // 0 for 1,024, or 8,192 with reasoning
	JSONCalls       bool     // calls are asked for as a structured answer, for models that cannot call tools
	Reasoning       string   // the effort, in the provider's words; not sent when empty
	Temperature     *float64 // not sent when nil
}

// reasons reports whether the model is asked to reason.
func (s Settings) reasons() bool { return s.Reasoning != "" && s.Reasoning != "none" }

// OutputLimit returns how many tokens an answer may have. Reasoning counts as output.
func (s Settings) OutputLimit() int {
	switch {
	case s.MaxOutputTokens > 0:
		return s.MaxOutputTokens
	case s.reasons():
		return 8192
	}
	return 1024
}

// Price is what a million tokens cost.
type Price struct{ Input, CacheRead, CacheWrite, Output float64 }

// Cost returns what a usage costs, in the unit of the price. ok is false without a price.
func (p *Price) Cost(u Usage) (cost float64, ok bool) {
	if p == nil {
		return 0, false
	}
	sum := float64(u.Uncached)*p.Input + float64(u.CacheRead)*p.CacheRead + float64(u.CacheWrite)*p.CacheWrite + float64(u.Output)*p.Output
	return sum / 1e6, true
}
