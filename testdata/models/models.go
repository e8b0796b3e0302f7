// Package models is a provider of models for tests. It speaks the three protocols by path, refuses what the real ones
// refuse with 400, and answers what a Policy says. Faults of real providers can be switched on.
package models

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Prompt is what a model is asked, whatever the protocol.
type Prompt struct {
	Protocol string // as in the project file
	Model    string
	System   string
	Tools    []Tool
	Blocks   []Block
	Required bool // a call is required
	JSON     bool // calls are asked for as a structured answer
}

// Tool is a tool of a prompt.
type Tool struct {
	Name, Description string
	Schema            map[string]any
}

// Block is a part of the user message.
type Block struct {
	Text  string
	Image []byte
}

// Text returns the texts of the user message.
func (p Prompt) Text() string {
	texts := make([]string, len(p.Blocks))
	for i, b := range p.Blocks {
		texts[i] = b.Text
	}
	return strings.Join(texts, "\n")
}

// Has reports whether a prompt has a tool.
func (p Prompt) Has(tool string) bool {
	for _, t := range p.Tools {
		if t.Name == tool {
			return true
		}
	}
	return false
}

// Reply is what a model answers.
type Reply struct {
	Text    string `json:"text,omitempty"`
	Calls   []Call `json:"calls,omitempty"`
	CutOff  bool   `json:"cutOff,omitempty"`
	Refused bool   `json:"refused,omitempty"`
}

// Call is a call of a tool. Raw is sent in place of Args if it is set.
type Call struct {
	Name string         `json:"name"`
	Args map[string]any `json:"arguments"`
	Raw  string         `json:"-"`
}

func (c Call) arguments() string {
	if c.Raw != "" {
		return c.Raw
	}
	data, _ := json.Marshal(c.Args) // made of JSON
	if c.Args == nil {
		return "{}"
	}
	return string(data)
}

// Policy decides what a model answers.
type Policy func(Prompt) Reply

// Received is a request that reached the provider.
type Received struct {
	Path   string
	Header http.Header
	Body   string
	Status int // of the response; 0 if the connection was closed, Gone if the client has closed it
}

// Server is a provider. The fields are not changed after its first request.
type Server struct {
	Policy Policy
	Key    string              // that is accepted; empty for any
	Fault  func(n int) Fault   // of the nth request, from 1; nil for none
	Check  func(Prompt) string // returns why a prompt is refused; may be nil

	mu       sync.Mutex
	received []Received
	prompts  []Prompt
	seen     []string // prompts as text, for counting what is cached
}

// Received returns the requests so far.
func (s *Server) Received() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Received{}, s.received...)
}

// Prompts returns what was asked in the requests that were answered.
func (s *Server) Prompts() []Prompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Prompt{}, s.prompts...)
}

// protocol reads and writes one of the protocols.
type protocol interface {
	authorized(h http.Header, key string) bool
	read(body []byte) (Prompt, error) // an error is why the request is refused
	write(r Reply, u usage, f Fault) any
	fail(status int, kind, code, message string) any
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 16<<20))
	if err != nil {
		return
	}
	s.mu.Lock()
	s.received = append(s.received, Received{r.URL.Path, r.Header.Clone(), string(body), 0})
	n := len(s.received)
	s.mu.Unlock()
	status := s.answer(w, r, body, n)
	s.mu.Lock()
	s.received[n-1].Status = status
	s.mu.Unlock()
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, body []byte, n int) int {
	var p protocol
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/v1/messages"):
		p = anthropic{}
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/responses"):
		p = responses{}
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/chat/completions"):
		p = chat{}
	default:
		return send(w, http.StatusNotFound, chat{}.fail(404, "invalid_request_error", "not_found", "there is nothing at "+r.URL.Path))
	}
	if !p.authorized(r.Header, s.Key) {
		return send(w, http.StatusUnauthorized, p.fail(401, "authentication_error", "invalid_api_key", "the key is not valid"))
	}
	var fault Fault
	if s.Fault != nil {
		fault = s.Fault(n)
	}
	if status, done := fault.instead(w, r, p); done {
		return status
	}
	prompt, err := p.read(body)
	if err == nil && r.Header.Get("Content-Type") != "application/json" {
		err = fmt.Errorf("Content-Type: %q is not application/json", r.Header.Get("Content-Type"))
	}
	if err == nil && s.Check != nil {
		if why := s.Check(prompt); why != "" {
			err = fmt.Errorf("%s", why)
		}
	}
	if err != nil {
		return send(w, http.StatusBadRequest, p.fail(400, "invalid_request_error", "", err.Error()))
	}
	reply := s.Policy(prompt)
	if prompt.JSON && len(reply.Calls) > 0 {
		data, _ := json.Marshal(map[string]any{"calls": reply.Calls}) // made of JSON
		reply.Text, reply.Calls = string(data), nil
	}
	answer := p.write(reply, fault.usage(s.count(prompt, reply)), fault)
	return fault.send(w, answer)
}

func send(w http.ResponseWriter, status int, answer any) int {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // the client may be gone
	return status
}

// usage counts four bytes as a token.
type usage struct{ input, cached, output int }

// count remembers a prompt, and counts the part that an earlier one began with as cached, as providers do from 1,024
// tokens on.
func (s *Server) count(p Prompt, r Reply) usage {
	tools, _ := json.Marshal(p.Tools) // made of JSON
	text := string(tools) + p.System + p.Text()
	out, _ := json.Marshal(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	common := 0
	for _, earlier := range s.seen {
		n := 0
		for n < min(len(text), len(earlier)) && text[n] == earlier[n] {
			n++
		}
		common = max(common, n)
	}
	s.seen, s.prompts = append(s.seen, text), append(s.prompts, p)
	u := usage{input: len(text) / 4, output: len(out) / 4}
	if common/4 >= 1024 {
		u.cached = common / 4
	}
	return u
}
