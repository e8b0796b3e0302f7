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

func webClick(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	tg, err := elementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	return t.click(ctx, tg)
}

func clickSelector(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	return t.click(ctx, byCSS(arguments(args).text("selector")))
}

func tap(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	tg, err := coreTarget(args)
	if err != nil {
		return tool.Result{}, err
	}
	return t.click(ctx, tg)
}

// coreTarget reads text, id and index.
func coreTarget(args arguments) (target, error) {
	text, id := args.text("text"), args.text("id")
	tg := byText(text)
	switch {
	case text == "" && id == "":
		return target{}, fault.New(fault.InvalidArguments, "give text, id or both", "nothing says which element is meant")
	case id != "":
		tg = target{asked: fmt.Sprintf("element with id %q", id), spec: map[string]string{"id": id}}
		if text != "" {
			tg.spec["text"] = text
			tg.asked += fmt.Sprintf(" and text %q", text)
		}
	}
	if tg.nth = int(args.number("index", -1)); tg.nth >= 0 {
		tg.asked += fmt.Sprintf(" number %d", tg.nth)
	}
	return tg, nil
}

// click clicks once. Until the first event has reached the element, nothing has happened and it may be tried again; after that, never.
func (t *tab) click(ctx context.Context, tg target) (tool.Result, error) {
	a := t.attempt(ctx, tg, ask{judge: "click", ready: "ready to be clicked"}, actionLimit)
	for {
		s, err := a.point(ctx)
		if err != nil {
			return tool.Result{}, err
		}
		if err := t.press(ctx, s.X, s.Y); err != nil {
			return tool.Result{}, err
		}
		v, err := a.verdict(ctx, s)
		switch {
		case err != nil:
			return tool.Result{}, err
		case v.Passed:
			return said("clicked %s", s.What), nil
		case v.Blocked == "":
			return tool.Result{}, fault.New(fault.ToolFailed, "", "%s did not receive the click, another frame or the browser itself did (%s)",
				s.What, t.where(ctx))
		}
		if err := a.again(ctx, s, v); err != nil {
			return tool.Result{}, err
		}
	}
}

func webHover(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	tg, err := elementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	s, err := t.attempt(ctx, tg, ask{judge: "hover", ready: "ready for the mouse", only: true}, actionLimit).point(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	if err := t.point(ctx, s.X, s.Y); err != nil {
		return tool.Result{}, err
	}
	return said("hovered over %s", s.What), nil
}

// entry is a text on its way into a field.
type entry struct {
	text   string
	clear  bool // it replaces what is there; otherwise it is typed, key by key, at the end
	secret bool // nothing may show it
}

// written is the text as a field holds it.
func (e entry) written() string { return strings.ReplaceAll(e.text, "\r\n", "\n") }

func webType(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	tg, err := elementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	a := arguments(args)
	return t.enter(ctx, tg, entry{text: a.text("text"), clear: a.flag("clearFirst", true)})
}

func webFillSecret(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	tg, err := elementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	t.hide(arguments(args).text("value"))
	return t.enter(ctx, tg, entry{text: arguments(args).text("value"), clear: true, secret: true})
}

func fillSelector(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	a := arguments(args)
	return t.enter(ctx, byCSS(a.text("selector")), entry{text: a.text("value"), clear: true})
}

// enter puts a text into a field, once: what the guard kept from a field that took the focus at the last moment has not happened.
func (t *tab) enter(ctx context.Context, tg target, e entry) (tool.Result, error) {
	a := t.attempt(ctx, tg, ask{
		judge: "focus", ready: "ready for text", only: true, options: map[string]any{"clear": e.clear, "text": e.text, "secret": e.secret},
		prefer: []string{"textbox", "searchbox", "combobox", "spinbutton", "Date", "DateTime", "InputTime", "ColorWell", "slider"},
	}, actionLimit)
	for {
		s, err := a.run(ctx)
		if err != nil {
			return tool.Result{}, err
		}
		v, err := a.enter(ctx, s, e)
		if err != nil {
			return tool.Result{}, err
		}
		if v.Blocked == "" {
			return e.result(s, v)
		}
		if err := a.again(ctx, s, v); err != nil {
			return tool.Result{}, err
		}
	}
}

// enter puts the text into a field that is ready for it.
func (a *attempt) enter(ctx context.Context, s sight, e entry) (verdict, error) {
	if s.Apply {
		_, ok, err := a.apply(ctx, s)
		if !ok {
			return verdict{Blocked: "nothing"}, err
		}
		return verdict{Took: true}, err
	}
	if err := a.tab.write(ctx, e); err != nil {
		return verdict{}, err
	}
	return a.verdict(ctx, s, e.written(), e.clear)
}

func (t *tab) write(ctx context.Context, e entry) error {
	switch {
	case !e.clear:
		return t.strike(ctx, e.text)
	case e.text == "":
		return t.hit(ctx, nil, key{"Delete", "Delete", 46, "", 0})
	}
	return t.insert(ctx, e.text)
}

// result holds what the field has against what went in. A field may write it in its own way, or pass it on and be empty again; one in
// which nothing happened took nothing.
func (e entry) result(s sight, v verdict) (tool.Result, error) {
	verb := "typed into"
	if e.clear {
		verb = "filled"
	}
	switch {
	case v.Took || e.secret && v.Changed:
		return said("%s %s", verb, s.What), nil
	case !v.Changed:
		return tool.Result{}, fault.New(fault.ToolFailed, "", "%s took no text: nothing in it changed", s.What)
	}
	return said("%s %s, which now shows %q", verb, s.What, shorten(*v.Shows)), nil
}

// inputText types into what has the focus.
func inputText(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	wait := newSpan(ctx, actionLimit)
	bounded, cancel := context.WithDeadline(ctx, wait.end)
	defer cancel()
	what, e := "", entry{text: arguments(args).text("text")}
	for bounded.Err() == nil {
		element, is, err := t.focused(bounded)
		if err != nil && !errors.Is(err, errGone) && bounded.Err() == nil {
			return tool.Result{}, err
		}
		if element == nil {
			what = cmp.Or(is, what) // the last look may be cut short
			t.breathe(bounded, slice)
			continue
		}
		a := t.attempt(ctx, target{asked: is, nth: -1}, ask{judge: "focus", ready: "ready for text", options: map[string]any{"clear": false}}, wait.left())
		s, err := a.judge(bounded, element.frame, nil, element, -1, 0, false)
		element.release()
		if err != nil || !s.OK {
			t.breathe(bounded, slice)
			continue
		}
		v, err := a.enter(ctx, s, e)
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
		wait.took(), t.where(ctx))
}

// focused is the field that has the focus, in whichever frame; nil when that is not a field, but what.
func (t *tab) focused(ctx context.Context) (element *handle, what string, err error) {
	for _, f := range t.frames() {
		var is struct {
			Here, Inner, Text bool
			What              string
		}
		if err := f.bounded(ctx, func(ctx context.Context) error { return f.eval(ctx, "focused", &is) }); err != nil {
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

func webSelectOption(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	tg, err := elementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	a := t.attempt(ctx, tg, ask{
		judge: "select", ready: "ready to be chosen from", only: true, options: map[string]any{"values": arguments(args).texts("values")},
		prefer: []string{"combobox", "listbox"},
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
			return said("%s is now %q", s.What, is.Text), nil
		}
		if err := a.again(ctx, s, verdict{Blocked: "nothing"}); err != nil {
			return tool.Result{}, err
		}
	}
}

func webScroll(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
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
	tg := target{asked: "the page", spec: map[string]string{"middle": ""}, nth: -1} // what a person would scroll
	if a.has("ref") || a.has("nodeSelector") {
		if tg, err = elementOf(a); err != nil {
			return tool.Result{}, err
		}
	}
	s, err := t.attempt(ctx, tg, ask{judge: "scroll", ready: "ready to be scrolled", options: by}, actionLimit).run(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	if s.Moved == 0 {
		return said("nothing moved: %s is at %.0f of %.0f", s.What, s.At, s.End), nil
	}
	return said("scrolled %s %s by %.0f pixels, to %.0f of %.0f", s.What, strings.ToLower(direction), max(s.Moved, -s.Moved), s.At, s.End), nil
}

func webPressKey(ctx context.Context, t *tab, args map[string]any) (tool.Result, error) {
	text := arguments(args).text("key")
	held, k, err := chord(text)
	if err != nil {
		return tool.Result{}, err
	}
	if err := t.hit(ctx, held, k); err != nil {
		return tool.Result{}, err
	}
	return said("pressed %s", text), nil
}
