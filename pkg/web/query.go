package web

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// Queries observe the page once, or until timeoutMs is over. An element that is not found is a result, not an error.

func isVisible(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t, err := syntax.CoreTarget(args)
	if err != nil {
		return tool.Result{}, err
	}
	_, err = p.search(t, check{name: "visible", want: "visible"}).do(ctx, timeoutOf(args, 0), nil)
	if isNotFound(err) {
		return queryResult(false)
	}
	if err != nil {
		return tool.Result{}, err
	}
	return queryResult(true)
}

// isNotFound reports whether err means that the element was not found or not ready, as opposed to a failure of the page
// or wrong arguments.
func isNotFound(err error) bool {
	_, ok := errors.AsType[*act.Failure](err)
	return ok
}

func hasText(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	q, err := syntax.ParseTextQuery(args)
	if err != nil {
		return tool.Result{}, err
	}
	_, err = p.findText(ctx, q, 0)
	if err != nil && !isNotFound(err) {
		return tool.Result{}, err
	}
	return queryResult(err == nil)
}

func getElementText(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t, err := syntax.CoreTarget(args)
	if err != nil {
		return tool.Result{}, err
	}
	o, err := p.search(t, check{name: "read"}).do(ctx, 0, nil)
	if isNotFound(err) {
		return queryResult(nil)
	}
	if err != nil {
		return tool.Result{}, err
	}
	return queryResult(o.Text)
}

func getElementCount(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t, err := syntax.CoreTarget(args)
	if err != nil {
		return tool.Result{}, err
	}
	s := p.search(t, check{name: "exists"})
	changes := p.newChangeWatcher()
	for end := time.Now().Add(p.limits().response); ; changes.wait(ctx, minPause, pollInterval) {
		total, err := s.count(ctx)
		switch {
		case err == nil:
			return queryResult(total)
		case !errors.Is(err, errGone) || time.Now().After(end):
			return tool.Result{}, err
		}
	}
}

// queryResult returns the result of a query: v as text for people and trails, and {"value": v} for programs.
func queryResult(v any) (tool.Result, error) {
	text := "null"
	switch v := v.(type) {
	case string:
		text = v
	case bool:
		text = strconv.FormatBool(v)
	case int:
		text = strconv.Itoa(v)
	}
	return tool.Result{OK: true, Text: text, Structured: notes.Marshal(map[string]any{"value": v})}, nil
}
