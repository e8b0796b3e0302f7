package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

func webVerifyTextVisible(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	text := arguments(args).text("text")
	span := newSpan(ctx, assertLimit)
	s, found, err := t.sees(ctx, text, span)
	if err != nil {
		return tool.Result{}, err
	}
	if found {
		return said("%q is visible", text), nil
	}
	explain, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	first := fmt.Sprintf("the page shows no %q", text)
	if s.Why != "" {
		first = fmt.Sprintf("%s: %s: %s", first, s.What, s.Why)
	} else if near := t.similar(explain, text); near != "" {
		first += "; it shows " + near
	}
	return tool.Result{}, fault.New(fault.ToolFailed, "", "%s (after %s; %s)", first, span.took(), t.where(explain))
}

func (t *tab) similar(ctx context.Context, text string) string {
	var words []string
	if t.main().eval(ctx, "words", &words, "text") != nil {
		return ""
	}
	return nearest(text, words)
}

// sees waits until some frame shows a text.
func (t *tab) sees(ctx context.Context, text string, span span) (s sight, found bool, err error) {
	bounded, cancel := context.WithDeadline(ctx, span.grace)
	defer cancel()
	for {
		frames := t.frames()
		wait := time.Duration(0)
		if len(frames) == 1 {
			wait = min(alone, span.left())
		}
		for _, f := range frames {
			var seen sight
			err := f.bounded(bounded, func(ctx context.Context) error { return f.eval(ctx, "seen", &seen, text, wait.Milliseconds()) })
			switch {
			case ctx.Err() != nil:
				return s, false, context.Cause(ctx)
			case bounded.Err() != nil:
				return s, false, nil
			case err != nil && !errors.Is(err, errGone):
				return s, false, err
			case seen.OK:
				return seen, true, nil
			case seen.Count > 0 || s.Count == 0:
				s = seen
			}
		}
		if span.left() == 0 {
			return s, false, nil
		}
		if wait == 0 {
			t.breathe(bounded, min(slice, span.left()))
		}
	}
}

func webVerifyElementVisible(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	tg, err := elementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	return t.assertSeen(ctx, tg, assertLimit)
}

// assertSeen fails unless the first element of a target can be seen in time.
func (t *tab) assertSeen(ctx context.Context, tg target, limit time.Duration) (tool.Result, error) {
	s, err := t.attempt(ctx, tg, ask{judge: "visible", ready: "visible"}, limit).run(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	return said("%s is visible", s.What), nil
}

func assertVisible(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	tg, err := coreTarget(args)
	if err != nil {
		return tool.Result{}, err
	}
	return t.assertSeen(ctx, tg, timeoutOf(args, assertLimit))
}

func waitForSelector(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	return t.assertSeen(ctx, byCSS(arguments(args).text("selector")), timeoutOf(args, actionLimit))
}

func timeoutOf(args arguments, absent time.Duration) time.Duration {
	return time.Duration(args.number("timeoutMs", float64(absent.Milliseconds())) * float64(time.Millisecond))
}

func webVerifyValue(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	a := arguments(args)
	tg, err := elementOf(a)
	if err != nil {
		return tool.Result{}, err
	}
	kind, err := a.word("type", "TEXT", "VALUE", "ATTRIBUTE")
	if err != nil {
		return tool.Result{}, err
	}
	if kind == "ATTRIBUTE" && a.text("attribute") == "" {
		return tool.Result{}, fault.New(fault.InvalidArguments, "give attribute, such as href", "type ATTRIBUTE needs the name of an attribute")
	}
	check := ask{
		judge: strings.ToLower(kind), ready: "as expected",
		options: map[string]any{"expected": a.text("expected"), "attribute": a.text("attribute")},
	}
	s, err := t.attempt(ctx, tg, check, assertLimit).run(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	return said("%s has %q", s.What, shorten(a.text("expected"))), nil
}

func webVerifyListVisible(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	tg, err := elementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	items := arguments(args).texts("items")
	check := ask{judge: "list", ready: "as expected", options: map[string]any{"items": items}}
	s, err := t.attempt(ctx, tg, check, assertLimit).run(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	return said("%s shows %s", s.What, plural(len(items), "item", "items")), nil
}

// value is the answer to a query: a text for people and trails, and the same for programs.
func value(v any) (tool.Result, error) {
	data, err := json.Marshal(map[string]any{"value": v})
	if err != nil {
		return tool.Result{}, fmt.Errorf("write the answer as JSON: %w", err)
	}
	text := "null"
	switch v := v.(type) {
	case string:
		text = v
	case bool:
		text = strconv.FormatBool(v)
	case int:
		text = strconv.Itoa(v)
	}
	return tool.Result{OK: true, Text: text, Structured: data}, nil
}
