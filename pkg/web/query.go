package web

import (
	"context"
	"errors"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Queries look once, or until their timeoutMs is over, and do not fail because something is not there.

func isVisible(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	tg, err := coreTarget(args)
	if err != nil {
		return tool.Result{}, err
	}
	_, err = p.attempt(ctx, tg, condition{check: "visible", want: "visible"}, timeoutOf(args, 0)).run(ctx)
	if isNotFound(err) {
		return queryResult(false)
	}
	if err != nil {
		return tool.Result{}, err
	}
	return queryResult(true)
}

// isNotFound says whether an error is about an element, and not about the page or the arguments.
func isNotFound(err error) bool {
	e := fault.As(err)
	return e != nil && e.Kind == fault.ToolFailed
}

func hasText(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	_, found, err := p.waitForText(ctx, arguments(args).text("text"), newTimeLimit(ctx, 0))
	if err != nil {
		return tool.Result{}, err
	}
	return queryResult(found)
}

func getElementText(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	tg, err := coreTarget(args)
	if err != nil {
		return tool.Result{}, err
	}
	s, err := p.attempt(ctx, tg, condition{check: "read"}, 0).run(ctx)
	if isNotFound(err) {
		return queryResult(nil)
	}
	if err != nil {
		return tool.Result{}, err
	}
	return queryResult(s.Text)
}

func getElementCount(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	tg, err := coreTarget(args)
	if err != nil {
		return tool.Result{}, err
	}
	a := p.attempt(ctx, tg, condition{check: "exists"}, responseLimit)
	for {
		total, err := a.count(ctx)
		switch {
		case err == nil:
			return queryResult(total)
		case !errors.Is(err, errGone) || a.left() == 0:
			return tool.Result{}, err
		}
		p.waitForChange(ctx, a.left())
	}
}

// count is how many elements fit in all frames.
func (a *attempt) count(ctx context.Context) (total int, err error) {
	for _, f := range a.page.frames() {
		err := f.withinSlice(ctx, func(ctx context.Context) error {
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
