package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

const (
	maxSamplings     = 5    // requests for a model during a call
	maxSampledTokens = 2000 // of an answer
)

// answerSamplings answers the requests of p for a model, each in a goroutine.
func (s *Server) answerSamplings(ctx context.Context, p *peer) {
	ctx = context.WithoutCancel(ctx)
	p.conn.onSampling = func(r *jsonrpc.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.state >= peerStopping {
			return
		}
		p.requests.Go(func() {
			response := &jsonrpc.Response{ID: r.ID}
			response.Result, response.Error = s.sample(p, r.Params)
			ctx, cancel := context.WithTimeout(ctx, p.timing.write)
			defer cancel()
			_ = p.conn.Write(ctx, response)
		})
	}
}

func samplingError(code int64, format string, args ...any) error {
	return &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// sample returns the answer of the model to a request of a server, or a *jsonrpc.Error. It ends with the call during
// which the server asks.
func (s *Server) sample(p *peer, params json.RawMessage) (result json.RawMessage, err error) {
	defer func() {
		if r := recover(); r != nil {
			result, err = nil, samplingError(jsonrpc.CodeInternalError, "%v", fault.Panicked(r))
		}
	}()
	if s.cfg.Sample == nil {
		return nil, samplingError(jsonrpc.CodeMethodNotFound, "trailblaze does not answer requests for a model here: %s", s.cfg.NoSampling)
	}
	request, err := readSampling(params)
	if err != nil {
		return nil, samplingError(jsonrpc.CodeInvalidParams, "%v", err)
	}
	c, err := s.beginSampling(p)
	if err != nil {
		return nil, err
	}
	defer c.sampling.Done()
	c.restartLimit()
	defer c.restartLimit()
	sampled, err := s.cfg.Sample(c.ctx, request)
	if err != nil {
		return nil, samplingError(jsonrpc.CodeInternalError, "the model cannot be asked: %v", err)
	}
	answer := map[string]any{
		"role": "assistant", "model": sampled.Model, "stopReason": "endTurn",
		"content": map[string]any{"type": "text", "text": sampled.Text},
	}
	if sampled.CutOff {
		answer["stopReason"] = "maxTokens"
	}
	return encode(answer), nil
}

// beginSampling returns the pending call during which a server asks a model: that with the fewest requests if there are
// several, which does not change how many there may be. The caller calls sampling.Done.
func (s *Server) beginSampling(p *peer) (*pendingCall, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *pendingCall
	for _, c := range s.pendingOn(p) {
		if c.tool != "" && (found == nil || c.samplings < found.samplings) {
			found = c
		}
	}
	switch {
	case found == nil:
		return nil, samplingError(jsonrpc.CodeInvalidRequest, "a server may ask for a model only while one of its tools runs")
	case found.samplings == maxSamplings:
		return nil, samplingError(jsonrpc.CodeInvalidRequest, "a call may ask for a model at most %d times", maxSamplings)
	}
	found.samplings++
	found.sampling.Add(1)
	return found, nil
}

// restartLimit restarts the time limit of a call, as progress does.
func (c *pendingCall) restartLimit() {
	select {
	case c.progressed <- struct{}{}:
	default:
	}
}

// readSampling reads the parameters of a request for a model.
func readSampling(params json.RawMessage) (r tool.Sampling, err error) {
	var in struct {
		System    string `json:"systemPrompt"`
		MaxTokens int    `json:"maxTokens"`
		Messages  []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools json.RawMessage `json:"tools"`
	}
	switch err := json.Unmarshal(params, &in); {
	case err != nil:
		return r, fmt.Errorf("the request cannot be read: %w", err)
	case !isAbsent(in.Tools) && string(in.Tools) != "[]":
		return r, errors.New("a request for a model may not have tools")
	}
	r = tool.Sampling{System: in.System, MaxTokens: min(in.MaxTokens, maxSampledTokens)}
	if r.MaxTokens < 1 {
		r.MaxTokens = maxSampledTokens
	}
	for i, m := range in.Messages {
		if m.Role != "user" && m.Role != "assistant" {
			return r, fmt.Errorf("message %d has the role %q; it is user or assistant", i+1, m.Role)
		}
		parts, err := readSamplingContent(m.Content)
		if err != nil {
			return r, fmt.Errorf("message %d: %w", i+1, err)
		}
		for _, part := range parts {
			part.Role = m.Role
			r.Messages = append(r.Messages, part)
		}
	}
	if len(r.Messages) == 0 {
		return r, errors.New("the request has no messages with content")
	}
	return r, nil
}

// readSamplingContent reads the content of a message, which is one part or a list of them.
func readSamplingContent(raw json.RawMessage) (out []tool.SamplingMessage, err error) {
	if raw = bytes.TrimSpace(raw); !bytes.HasPrefix(raw, []byte("[")) {
		raw = append(append([]byte("["), raw...), ']')
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
		Data []byte `json:"data"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, fmt.Errorf("its content cannot be read: %w", err)
	}
	for _, part := range parts {
		switch part.Type {
		case "text":
			out = append(out, tool.SamplingMessage{Text: part.Text})
		case "image":
			out = append(out, tool.SamplingMessage{Image: part.Data})
		default:
			return nil, fmt.Errorf("its content has the type %q; only text and image can be sent to a model", part.Type)
		}
	}
	return out, nil
}
