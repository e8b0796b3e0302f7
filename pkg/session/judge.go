package session

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Judge makes calls of [tool.AssertWithModel]. What a model answers is the result. The error is a *fault.Error that ends
// the session.
type Judge func(ctx context.Context, call tool.Call) (tool.Result, error)

// SetJudge says who makes the calls of [tool.AssertWithModel] that are in a trail file. Nobody makes those that tools
// request, or that are not in a trail: a model must not decide what is judged.
func (s *Session) SetJudge(judge Judge) { s.judge.Store(&judge) }
