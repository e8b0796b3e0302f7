package web

import (
	"context"
	"errors"
	"fmt"
	"regexp"
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
	part := ""
	if o.Partial {
		part = fmt.Sprintf(", as a part of %q", shorten(o.Text))
	}
	return success("%q is visible%s%s", q.text, part, textRemarks(o)), nil
}

// textRemarks say that a text was found only within a word, or several times.
func textRemarks(o observed) remarks {
	var list remarks
	if o.InWord {
		list = append(list, fmt.Sprintf("only as a part of a word or number of %q", shorten(o.Text)))
	}
	if o.Count > 1 {
		list = append(list, fmt.Sprintf("%d elements show it, one is %s", o.Count, o.Found))
	}
	return list
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
	t, err := verifiedElementOf(args)
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
	_, err := comparisonOf(args)
	return errors.Join(err, checkVerified(args))
}

// comparisonOf returns the options of page.js for the only one of expected, contains and pattern that is given.
func comparisonOf(args arguments) (map[string]any, error) {
	var given []string
	for _, name := range []string{"expected", "contains", "pattern"} {
		if args.has(name) {
			given = append(given, name)
		}
	}
	if len(given) != 1 {
		return nil, fault.New(fault.InvalidArguments, "give one of expected, contains and pattern",
			"%s of expected, contains and pattern are given", map[bool]string{true: "none", false: "several"}[len(given) == 0])
	}
	text := args.text(given[0])
	options := map[string]any{given[0]: text}
	switch given[0] {
	case "contains":
		if isBlank(text) {
			return nil, fault.New(fault.InvalidArguments, "", "contains is empty, and every text has that")
		}
	case "pattern":
		expression, err := regexp.Compile(text)
		if err != nil {
			return nil, fault.New(fault.InvalidArguments, "", "pattern: %v", err)
		}
		if expression.MatchString("") {
			return nil, fault.New(fault.InvalidArguments, "", "pattern %q matches an empty text, so it matches every text", text)
		}
		options["pattern"], options["ignoreCase"] = strings.CutPrefix(text, "(?i)")
	}
	return options, nil
}

// notExpected says what the text of an element is not, by the options of comparisonOf.
func notExpected(options map[string]any) string {
	switch {
	case options["contains"] != nil:
		return fmt.Sprintf("without %q", options["contains"])
	case options["pattern"] != nil:
		return fmt.Sprintf("which does not match %q", options["pattern"])
	}
	return fmt.Sprintf("not %q", options["expected"])
}

func webVerifyValue(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a := arguments(args)
	t, err := verifiedElementOf(a)
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
	options, err := comparisonOf(a)
	if err != nil {
		return tool.Result{}, err
	}
	options["attribute"] = a.text("attribute")
	c := check{name: strings.ToLower(kind), want: "as expected", unique: p.strict(args), options: options}
	o, err := p.search(t, c).do(ctx, p.assertionLimit(ctx, args), nil)
	if err != nil {
		return tool.Result{}, err
	}
	var more remarks
	if kind != "ATTRIBUTE" && a.text("attribute") != "" {
		more = remarks{"attribute is ignored, because type is " + kind}
	}
	return success("%s has %q%s", o, shorten(o.Text), more), nil
}

// checkList checks the arguments of web_verifyListVisible.
func checkList(args arguments) error {
	if slices.ContainsFunc(args.texts("items"), isBlank) {
		return fault.New(fault.InvalidArguments, "", "items: an item is empty, and every element shows that")
	}
	return checkVerified(args)
}

func webVerifyListVisible(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t, err := verifiedElementOf(args)
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
		options: map[string]any{"items": items, "exact": a.flag("exact", false), "ordered": a.flag("ordered", false), "only": a.flag("only", false)},
	}
	o, err := p.search(t, c).do(ctx, p.assertionLimit(ctx, args), nil)
	if err != nil {
		return tool.Result{}, err
	}
	result := success("%s shows %s", o, plural(len(items), "item", "items"))
	if len(o.Parts) > 0 {
		note := "of which it shows only as a part of other texts: " + strings.Join(quoted(o.Parts), ", ")
		result.Text += ", " + note
		result.Notes = append(result.Notes, note)
	}
	return result, nil
}
