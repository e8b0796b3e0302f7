package web

import (
	"context"
	"errors"

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
	_, found, err := t.sees(ctx, arguments(args).text("text"), newSpan(ctx, 0))
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
	a := t.attempt(ctx, tg, ask{judge: "exists"}, patience)
	for {
		total, err := a.count(ctx)
		switch {
		case err == nil:
			return value(total)
		case !errors.Is(err, errGone) || a.left() == 0:
			return tool.Result{}, err
		}
		t.breathe(ctx, a.left())
	}
}

// count is how many elements fit in all frames.
func (a *attempt) count(ctx context.Context) (total int, err error) {
	for _, f := range a.tab.frames() {
		err := f.bounded(ctx, func(ctx context.Context) error {
			s, err := a.look(ctx, f, -1, false)
			total += s.Count
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return total, nil
}
