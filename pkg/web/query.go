package web

import (
	"context"
	"errors"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Queries look once, or until their timeoutMs is over, and do not fail because something is not there.

func isVisible(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	tg, err := coreTarget(args)
	if err != nil {
		return tool.Result{}, err
	}
	_, err = t.attempt(ctx, tg, ask{judge: "visible", ready: "visible"}, timeoutOf(args, 0)).run(ctx)
	if isNo(err) {
		return value(false)
	}
	if err != nil {
		return tool.Result{}, err
	}
	return value(true)
}

// isNo says whether an error is about an element, and not about the page or the arguments.
func isNo(err error) bool {
	e := fault.As(err)
	return e != nil && e.Kind == fault.ToolFailed
}

func hasText(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	_, found, err := t.sees(ctx, arguments(args).text("text"), 0)
	if err != nil {
		return tool.Result{}, err
	}
	return value(found)
}

func getElementText(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	tg, err := coreTarget(args)
	if err != nil {
		return tool.Result{}, err
	}
	s, err := t.attempt(ctx, tg, ask{judge: "read"}, 0).run(ctx)
	if isNo(err) {
		return value(nil)
	}
	if err != nil {
		return tool.Result{}, err
	}
	return value(s.Text)
}

func getElementCount(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	tg, err := coreTarget(args)
	if err != nil {
		return tool.Result{}, err
	}
	total := 0
	a := t.attempt(ctx, tg, ask{judge: "exists"}, 0)
	for _, f := range t.frames() {
		s, err := a.look(ctx, f, -1, false)
		for errors.Is(err, errGone) && ctx.Err() == nil {
			t.breathe(ctx, 10*time.Millisecond)
			s, err = a.look(ctx, f, -1, false)
		}
		if err != nil {
			return tool.Result{}, err
		}
		total += s.Count
	}
	return value(total)
}
