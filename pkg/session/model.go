package session

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/server"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Judge makes calls of [tool.AssertWithModel]. What a model answers is the result. The error is a *fault.Error that ends
// the session.
type Judge func(ctx context.Context, call tool.Call) (tool.Result, error)

// Sampler answers a request of a tool that is running for an answer of a model. It may be called from any goroutine.
type Sampler func(ctx context.Context, r tool.Sampling) (tool.Sampled, error)

// SetSampler says who answers the requests of servers for a model.
func (s *Session) SetSampler(sampler Sampler) { s.sampler.Store(&sampler) }

// allowSampling lets a server ask a model if its entry says so, and if there is one.
func (s *Session) allowSampling(entry config.Server, cfg *server.Config) {
	switch {
	case !entry.Sampling:
		cfg.NoSampling = "the entry of the server does not have sampling: true"
	case !s.opts.Sampling:
		cfg.NoSampling = "only `trailblaze run` asks a model, if one is named by llm: model: or --llm"
	default:
		cfg.Sample = func(ctx context.Context, r tool.Sampling) (tool.Sampled, error) {
			sampler := s.sampler.Load()
			if sampler == nil {
				return tool.Sampled{}, fault.New(fault.ToolFailed, "", "the trail has not begun")
			}
			return (*sampler)(ctx, r)
		}
	}
}

// SetJudge says who makes the calls of [tool.AssertWithModel] that are in a trail file. Nobody makes those that tools
// request, or that are not in a trail: a model must not decide what is judged.
func (s *Session) SetJudge(judge Judge) { s.judge.Store(&judge) }
