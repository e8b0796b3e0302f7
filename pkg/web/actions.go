package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

func webClick(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	tg, err := elementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	return p.click(ctx, tg)
}

func clickSelector(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	return p.click(ctx, byCSS(arguments(args).text("selector")))
}

func tap(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	tg, err := coreTarget(args)
	if err != nil {
		return tool.Result{}, err
	}
	return p.click(ctx, tg)
}

// coreTarget reads text, id and index.
func coreTarget(args arguments) (target, error) {
	text, id := args.text("text"), args.text("id")
	tg := byText(text)
	switch {
	case text == "" && id == "":
		return target{}, fault.New(fault.InvalidArguments, "give text, id or both", "nothing says which element is meant")
	case id != "":
		tg = target{description: fmt.Sprintf("element with id %q", id), spec: map[string]string{"id": id}}
		if text != "" {
			tg.spec["text"] = text
			tg.description += fmt.Sprintf(" and text %q", text)
		}
	}
	if tg.nth = int(args.number("index", -1)); tg.nth >= 0 {
		tg.description += fmt.Sprintf(" number %d", tg.nth)
	}
	return tg, nil
}

// click clicks once. Until the first event has reached the element, nothing has happened and it may be tried again; after that, never.
func (p *page) click(ctx context.Context, tg target) (tool.Result, error) {
	a := p.attempt(ctx, tg, condition{check: "click", want: "ready to be clicked"}, actionLimit)
	for {
		s, err := a.pointInViewport(ctx)
		if err != nil {
			return tool.Result{}, err
		}
		if err := p.clickAt(ctx, s.X, s.Y); err != nil {
			return tool.Result{}, err
		}
		v, err := a.inputResult(ctx, s)
		switch {
		case err != nil:
			return tool.Result{}, err
		case v.Passed:
			return success("clicked %s", s.What), nil
		case v.Blocked == "":
			return tool.Result{}, fault.New(fault.ToolFailed, "", "%s did not receive the click, another frame or the browser itself did (%s)",
				s.What, p.describe(ctx))
		}
		if err := a.retryAfter(ctx, s, v); err != nil {
			return tool.Result{}, err
		}
	}
}

func webHover(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	tg, err := elementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	s, err := p.attempt(ctx, tg, condition{check: "hover", want: "ready for the mouse", unique: true}, actionLimit).pointInViewport(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	if err := p.moveMouse(ctx, s.X, s.Y); err != nil {
		return tool.Result{}, err
	}
	return success("hovered over %s", s.What), nil
}

// textEntry is a text on its way into a field.
type textEntry struct {
	text   string
	clear  bool // it replaces what is there; otherwise it is typed, key by key, at the end
	secret bool // nothing may show it
}

// normalized is the text as a field holds it.
func (e textEntry) normalized() string { return strings.ReplaceAll(e.text, "\r\n", "\n") }

func webType(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	tg, err := elementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	a := arguments(args)
	return p.enterText(ctx, tg, textEntry{text: a.text("text"), clear: a.flag("clearFirst", true)})
}

func webFillSecret(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	tg, err := elementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	p.addSecret(arguments(args).text("value"))
	return p.enterText(ctx, tg, textEntry{text: arguments(args).text("value"), clear: true, secret: true})
}

func fillSelector(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a := arguments(args)
	return p.enterText(ctx, byCSS(a.text("selector")), textEntry{text: a.text("value"), clear: true})
}

// enterText puts a text into a field, once: what the guard kept from a field that took the focus at the last moment has not happened.
func (p *page) enterText(ctx context.Context, tg target, e textEntry) (tool.Result, error) {
	a := p.attempt(ctx, tg, condition{
		check: "focus", want: "ready for text", unique: true, options: map[string]any{"clear": e.clear, "text": e.text, "secret": e.secret},
		preferredRoles: []string{"textbox", "searchbox", "combobox", "spinbutton", "Date", "DateTime", "InputTime", "ColorWell", "slider"},
	}, actionLimit)
	for {
		s, err := a.run(ctx)
		if err != nil {
			return tool.Result{}, err
		}
		v, err := a.enterText(ctx, s, e)
		if err != nil {
			return tool.Result{}, err
		}
		if v.Blocked == "" {
			return e.result(s, v)
		}
		if err := a.retryAfter(ctx, s, v); err != nil {
			return tool.Result{}, err
		}
	}
}

// enterText puts the text into a field that is ready for it.
func (a *attempt) enterText(ctx context.Context, s observation, e textEntry) (inputResult, error) {
	if s.Apply {
		_, ok, err := a.apply(ctx, s)
		if !ok {
			return inputResult{Blocked: "nothing"}, err
		}
		return inputResult{Accepted: true}, err
	}
	if err := a.page.writeText(ctx, e); err != nil {
		return inputResult{}, err
	}
	return a.inputResult(ctx, s, e.normalized(), e.clear)
}

func (p *page) writeText(ctx context.Context, e textEntry) error {
	switch {
	case !e.clear:
		return p.typeKeys(ctx, e.text)
	case e.text == "":
		return p.pressKey(ctx, nil, key{"Delete", "Delete", 46, "", 0})
	}
	return p.insertText(ctx, e.text)
}

// result holds what the field has against what went in. A field may write it in its own way, or pass it on and be empty again; one in
// which nothing happened took nothing.
func (e textEntry) result(s observation, v inputResult) (tool.Result, error) {
	verb := "typed into"
	if e.clear {
		verb = "filled"
	}
	switch {
	case v.Accepted || e.secret && v.Changed:
		return success("%s %s", verb, s.What), nil
	case !v.Changed:
		return tool.Result{}, fault.New(fault.ToolFailed, "", "%s took no text: nothing in it changed", s.What)
	}
	return success("%s %s, which now shows %q", verb, s.What, shorten(*v.Shows)), nil
}

// inputText types into what has the focus.
func inputText(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	wait := newTimeLimit(ctx, actionLimit)
	bounded, cancel := context.WithDeadline(ctx, wait.end)
	defer cancel()
	what, e := "", textEntry{text: arguments(args).text("text")}
	for bounded.Err() == nil {
		element, is, err := p.focused(bounded)
		if err != nil && !errors.Is(err, errGone) && bounded.Err() == nil {
			return tool.Result{}, err
		}
		if element == nil {
			what = cmp.Or(is, what) // the last look may be cut short
			p.waitForChange(bounded, pollSlice)
			continue
		}
		a := p.attempt(ctx, target{description: is, nth: -1}, condition{check: "focus", want: "ready for text", options: map[string]any{"clear": false}}, wait.left())
		s, err := a.check(bounded, element.frame, nil, element, -1, 0, false)
		element.release()
		if err != nil || !s.OK {
			p.waitForChange(bounded, pollSlice)
			continue
		}
		v, err := a.enterText(ctx, s, e)
		if err != nil {
			return tool.Result{}, err
		}
		if v.Blocked == "" {
			return e.result(s, v)
		}
	}
	if ctx.Err() != nil {
		return tool.Result{}, context.Cause(ctx)
	}
	if what == "" {
		what = "nothing"
	}
	return tool.Result{}, fault.New(fault.ToolFailed, "tap a field first", "no field has the focus, but %s, after %s (%s)", what,
		wait.elapsed(), p.describe(ctx))
}

// focused is the field that has the focus, in whichever frame; nil when that is not a field, but what.
func (p *page) focused(ctx context.Context) (element *handle, what string, err error) {
	for _, f := range p.frames() {
		var is struct {
			Here, Inner, Text bool
			What              string
		}
		if err := f.withinSlice(ctx, func(ctx context.Context) error { return f.eval(ctx, "focused", &is) }); err != nil {
			return nil, "", err
		}
		if !is.Inner && is.Here || f.parent == nil {
			what = is.What
		}
		if is.Text && is.Here {
			element, err = f.handle(ctx, "focusedElement")
			return element, is.What, err
		}
	}
	return nil, what, nil
}

func webSelectOption(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	tg, err := elementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	a := p.attempt(ctx, tg, condition{
		check: "select", want: "ready to be chosen from", unique: true, options: map[string]any{"values": arguments(args).texts("values")},
		preferredRoles: []string{"combobox", "listbox"},
	}, actionLimit)
	for {
		s, err := a.run(ctx)
		if err != nil {
			return tool.Result{}, err
		}
		is, ok, err := a.apply(ctx, s)
		if err != nil {
			return tool.Result{}, err
		}
		if ok {
			return success("%s is now %q", s.What, is.Text), nil
		}
		if err := a.retryAfter(ctx, s, inputResult{Blocked: "nothing"}); err != nil {
			return tool.Result{}, err
		}
	}
}

func webScroll(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a := arguments(args)
	direction, err := a.word("direction", "DOWN", "UP", "LEFT", "RIGHT")
	if err != nil {
		return tool.Result{}, err
	}
	amount := a.number("amount", 500)
	by := map[string]any{"dx": 0, "dy": 0}
	switch direction {
	case "DOWN":
		by["dy"] = amount
	case "UP":
		by["dy"] = -amount
	case "LEFT":
		by["dx"] = -amount
	case "RIGHT":
		by["dx"] = amount
	}
	tg := target{description: "the page", spec: map[string]string{"middle": ""}, nth: -1} // what a person would scroll
	if a.has("ref") || a.has("nodeSelector") {
		if tg, err = elementOf(a); err != nil {
			return tool.Result{}, err
		}
	}
	s, err := p.attempt(ctx, tg, condition{check: "scroll", want: "ready to be scrolled", options: by}, actionLimit).run(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	if s.Moved == 0 {
		return success("nothing moved: %s is at %.0f of %.0f", s.What, s.At, s.End), nil
	}
	return success("scrolled %s %s by %.0f pixels, to %.0f of %.0f", s.What, strings.ToLower(direction), max(s.Moved, -s.Moved), s.At, s.End), nil
}

func webPressKey(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	text := arguments(args).text("key")
	held, k, err := parseKeys(text)
	if err != nil {
		return tool.Result{}, err
	}
	if err := p.pressKey(ctx, held, k); err != nil {
		return tool.Result{}, err
	}
	return success("pressed %s", text), nil
}
