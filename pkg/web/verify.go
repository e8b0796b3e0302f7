package web

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

func webVerifyTextVisible(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	text := arguments(args).text("text")
	if err := p.findText(ctx, text, p.limits().assertion); err != nil {
		return tool.Result{}, err
	}
	return success("%q is visible", text), nil
}

// findText waits until a frame shows a text.
func (p *page) findText(ctx context.Context, text string, ready time.Duration) error {
	s := &textSearch{search{page: p, target: byText(text), check: check{want: "visible"}}}
	s.target.selector.Text = "text " + s.target.selector.Text
	a := s.action(ready, nil)
	a.Screen = s
	_, err := a.Do(ctx)
	return err
}

// textSearch finds a text that is visible in any frame.
type textSearch struct{ search }

// Observe implements act.Screen.
func (s *textSearch) Observe(ctx context.Context, wait time.Duration) (act.Observation[observed], error) {
	frames := s.page.frames()
	slice := time.Duration(0) // page.js waits only when there is no other frame to search
	if len(frames) == 1 {
		slice = min(singleFrameSlice, wait)
	}
	var best observed
	for _, f := range frames {
		var o observed
		err := f.withinSlice(ctx, func(ctx context.Context) error {
			return f.eval(ctx, "findText", &o, s.target.name.text, slice.Milliseconds())
		})
		if err != nil && !errors.Is(err, errGone) {
			return act.Observation[observed]{}, err
		}
		if o.Ready || o.Count > best.Count || best.Count == 0 && o.Missing != "" {
			best = o
		}
		if best.Ready {
			break
		}
	}
	return act.Observation[observed]{
		Element: best,
		Count:   best.Count,
		Found:   best.Found,
		Held:    best.Held,
		Reason:  best.Reason,
		Ready:   best.Ready,
		Missing: best.Missing,
		Tries:   best.Tries,
		Waited:  slice > 0 && best.Tries > 0,
	}, nil
}

func webVerifyElementVisible(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t, err := elementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	return p.assertVisible(ctx, t, p.limits().assertion)
}

// assertVisible fails unless the first element of a target becomes visible in time.
func (p *page) assertVisible(ctx context.Context, t target, limit time.Duration) (tool.Result, error) {
	o, err := p.search(t, check{name: "visible", want: "visible"}).do(ctx, limit, nil)
	if err != nil {
		return tool.Result{}, err
	}
	return success("%s is visible", o.Found), nil
}

func assertVisible(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t, err := coreTarget(args)
	if err != nil {
		return tool.Result{}, err
	}
	return p.assertVisible(ctx, t, timeoutOf(args, p.limits().assertion))
}

func waitForSelector(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	return p.assertVisible(ctx, byCSS(arguments(args).text("selector")), timeoutOf(args, p.limits().action))
}

func timeoutOf(args arguments, absent time.Duration) time.Duration {
	return time.Duration(args.number("timeoutMs", float64(absent.Milliseconds())) * float64(time.Millisecond))
}

func webVerifyValue(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a := arguments(args)
	t, err := elementOf(a)
	if err != nil {
		return tool.Result{}, err
	}
	kind, err := a.word("type", "TEXT", "VALUE", "ATTRIBUTE")
	if err != nil {
		return tool.Result{}, err
	}
	if kind == "ATTRIBUTE" && a.text("attribute") == "" {
		return tool.Result{}, fault.New(fault.InvalidArguments, "give attribute, such as href",
			"type ATTRIBUTE needs the name of an attribute")
	}
	c := check{
		name: strings.ToLower(kind), want: "as expected",
		options: map[string]any{"expected": a.text("expected"), "attribute": a.text("attribute")},
	}
	o, err := p.search(t, c).do(ctx, p.limits().assertion, nil)
	if err != nil {
		return tool.Result{}, err
	}
	return success("%s has %q", o.Found, shorten(a.text("expected"))), nil
}

func webVerifyListVisible(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t, err := elementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	items := arguments(args).texts("items")
	c := check{name: "list", want: "as expected", options: map[string]any{"items": items}}
	o, err := p.search(t, c).do(ctx, p.limits().assertion, nil)
	if err != nil {
		return tool.Result{}, err
	}
	return success("%s shows %s", o.Found, plural(len(items), "item", "items")), nil
}
