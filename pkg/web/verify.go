package web

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// textQuery is a text that is looked for on the page.
type textQuery struct {
	text  string
	exact bool // it is the whole text of an element, with case
}

func textQueryOf(args arguments) (textQuery, error) {
	q := textQuery{args.text("text"), args.flag("exact", false)}
	if isBlank(q.text) {
		return q, fault.New(fault.InvalidArguments, "", "text is empty, and every page has that")
	}
	return q, nil
}

// isBlank reports whether page.js finds a text in every other: it ignores invisible characters.
func isBlank(text string) bool {
	return strings.Trim(text, " \t\r\n\f\v\u00a0\u00ad\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"+
		"\u200a\u200b\u2028\u2029\u202f\u205f\u3000\ufeff") == ""
}

func checkText(args arguments) error {
	_, err := textQueryOf(args)
	return err
}

func webVerifyTextVisible(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	q, err := textQueryOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	o, err := p.findText(ctx, q, p.assertionLimit(ctx, args))
	if err != nil {
		return tool.Result{}, err
	}
	if o.Partial {
		return success("%q is visible, as a part of %q", q.text, shorten(o.Text)), nil
	}
	return success("%q is visible", q.text), nil
}

// findText waits until a frame shows a text.
func (p *page) findText(ctx context.Context, q textQuery, ready time.Duration) (observed, error) {
	s := &textSearch{search{page: p, target: byText(q.text), check: check{want: "visible"}}, q.exact}
	s.target.selector.Text = "text " + s.target.selector.Text
	if q.exact {
		s.target.selector.Text = "element with exactly the " + s.target.selector.Text
	}
	a := s.action(ready, nil)
	a.Screen = s
	o, err := a.Do(ctx)
	return o.Element, err
}

// textSearch finds a text that is visible in any frame.
type textSearch struct {
	search
	exact bool
}

// findText looks for a text in one frame, for at most wait.
func (f *frame) findText(ctx context.Context, q textQuery, wait time.Duration) (o observed, err error) {
	err = f.eval(ctx, "findText", &o, q.text, q.exact, wait.Milliseconds())
	return o, err
}

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
		err := f.withinSlice(ctx, func(ctx context.Context) (err error) {
			o, err = f.findText(ctx, textQuery{s.target.name.text, s.exact}, slice)
			return err
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
	return p.assertVisible(ctx, t, p.strict(args), p.assertionLimit(ctx, args))
}

// assertVisible fails unless the first element of a target becomes visible in time.
func (p *page) assertVisible(ctx context.Context, t target, strict bool, limit time.Duration) (tool.Result, error) {
	o, err := p.search(t, check{name: "visible", want: "visible", unique: strict}).do(ctx, limit, nil)
	if err != nil {
		return tool.Result{}, err
	}
	return success("%s is visible", o), nil
}

func assertVisible(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t, err := coreTarget(args)
	if err != nil {
		return tool.Result{}, err
	}
	return p.assertVisible(ctx, t, p.strict(args), p.assertionLimit(ctx, args))
}

func waitForSelector(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	return p.assertVisible(ctx, byCSS(arguments(args).text("selector")), p.strict(args), p.actionLimit(ctx, args))
}

// timeoutOf returns the argument timeoutMs, or absent.
func timeoutOf(args arguments, absent time.Duration) time.Duration {
	return time.Duration(args.number("timeoutMs", float64(absent.Milliseconds())) * float64(time.Millisecond))
}

// checkValue checks the arguments of web_verifyValue.
func checkValue(args arguments) error {
	if strings.EqualFold(args.text("type"), "ATTRIBUTE") && args.text("attribute") == "" {
		return fault.New(fault.InvalidArguments, "give attribute, such as href",
			"type ATTRIBUTE needs the name of an attribute")
	}
	return checkElement(args)
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
	if err := checkValue(a); err != nil {
		return tool.Result{}, err
	}
	c := check{
		name: strings.ToLower(kind), want: "as expected", unique: p.strict(args),
		options: map[string]any{"expected": a.text("expected"), "attribute": a.text("attribute")},
	}
	o, err := p.search(t, c).do(ctx, p.assertionLimit(ctx, args), nil)
	if err != nil {
		return tool.Result{}, err
	}
	result := success("%s has %q", o, shorten(a.text("expected")))
	if kind != "ATTRIBUTE" && a.text("attribute") != "" {
		result.Text += fmt.Sprintf("; attribute is ignored, because type is %s", kind)
	}
	return result, nil
}

// checkList checks the arguments of web_verifyListVisible.
func checkList(args arguments) error {
	if slices.ContainsFunc(args.texts("items"), isBlank) {
		return fault.New(fault.InvalidArguments, "", "items: an item is empty, and every element shows that")
	}
	return checkElement(args)
}

func webVerifyListVisible(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t, err := elementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	a := arguments(args)
	items := a.texts("items")
	if err := checkList(a); err != nil {
		return tool.Result{}, err
	}
	c := check{
		name: "list", want: "as expected", unique: p.strict(args),
		options: map[string]any{"items": items, "exact": a.flag("exact", false), "ordered": a.flag("ordered", false)},
	}
	o, err := p.search(t, c).do(ctx, p.assertionLimit(ctx, args), nil)
	if err != nil {
		return tool.Result{}, err
	}
	result := success("%s shows %s", o, plural(len(items), "item", "items"))
	if len(o.Parts) > 0 {
		result.Text += ", of which it shows only as a part of other texts: " + strings.Join(quoted(o.Parts), ", ")
	}
	return result, nil
}
