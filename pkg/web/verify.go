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

func webVerifyTextVisible(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	text := arguments(args).text("text")
	span := newTimeLimit(ctx, assertLimit)
	s, found, err := p.waitForText(ctx, text, span)
	if err != nil {
		return tool.Result{}, err
	}
	if found {
		return success("%q is visible", text), nil
	}
	explain, cancel := context.WithTimeout(ctx, responseLimit)
	defer cancel()
	first := fmt.Sprintf("the page shows no %q", text)
	if s.Why != "" {
		first = fmt.Sprintf("%s: %s: %s", first, s.What, s.Why)
	} else if near := p.similarTexts(explain, text); near != "" {
		first += "; it shows " + near
	}
	return tool.Result{}, fault.New(fault.ToolFailed, "", "%s (after %s; %s)", first, span.elapsed(), p.describe(explain))
}

func (p *page) similarTexts(ctx context.Context, text string) string {
	var words []string
	if p.main().eval(ctx, "words", &words, "text") != nil {
		return ""
	}
	return nearest(text, words)
}

// waitForText waits until some frame shows a text.
func (p *page) waitForText(ctx context.Context, text string, span timeLimit) (s observation, found bool, err error) {
	bounded, cancel := context.WithDeadline(ctx, span.final)
	defer cancel()
	for {
		frames := p.frames()
		wait := time.Duration(0)
		if len(frames) == 1 {
			wait = min(singleFrameSlice, span.left())
		}
		for _, f := range frames {
			var seen observation
			err := f.withinSlice(bounded, func(ctx context.Context) error { return f.eval(ctx, "seen", &seen, text, wait.Milliseconds()) })
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
			p.waitForChange(bounded, min(pollSlice, span.left()))
		}
	}
}

func webVerifyElementVisible(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	tg, err := elementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	return p.assertSeen(ctx, tg, assertLimit)
}

// assertSeen fails unless the first element of a target can be seen in time.
func (p *page) assertSeen(ctx context.Context, tg target, limit time.Duration) (tool.Result, error) {
	s, err := p.attempt(ctx, tg, condition{check: "visible", want: "visible"}, limit).run(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	return success("%s is visible", s.What), nil
}

func assertVisible(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	tg, err := coreTarget(args)
	if err != nil {
		return tool.Result{}, err
	}
	return p.assertSeen(ctx, tg, timeoutOf(args, assertLimit))
}

func waitForSelector(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	return p.assertSeen(ctx, byCSS(arguments(args).text("selector")), timeoutOf(args, actionLimit))
}

func timeoutOf(args arguments, absent time.Duration) time.Duration {
	return time.Duration(args.number("timeoutMs", float64(absent.Milliseconds())) * float64(time.Millisecond))
}

func webVerifyValue(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
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
	check := condition{
		check: strings.ToLower(kind), want: "as expected",
		options: map[string]any{"expected": a.text("expected"), "attribute": a.text("attribute")},
	}
	s, err := p.attempt(ctx, tg, check, assertLimit).run(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	return success("%s has %q", s.What, shorten(a.text("expected"))), nil
}

func webVerifyListVisible(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	tg, err := elementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	items := arguments(args).texts("items")
	check := condition{check: "list", want: "as expected", options: map[string]any{"items": items}}
	s, err := p.attempt(ctx, tg, check, assertLimit).run(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	return success("%s shows %s", s.What, plural(len(items), "item", "items")), nil
}

// queryResult is the answer to a query: a text for people and trails, and the same for programs.
func queryResult(v any) (tool.Result, error) {
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
