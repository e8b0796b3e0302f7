package web

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// inputResult is what page.js saw of an input event.
type inputResult struct {
	NewDocument bool    // the document is not the one in which the element was found
	Received    bool    // the element received the event
	Released    string  // the element on which the mouse was released, because the one that was pressed had moved away
	Blocked     string  // the element that would have received it instead
	Accepted    bool    // the field has the text that was entered
	Changed     bool    // the content of the field changed, or it received input
	Displayed   *string // the text in the field, nil when it is not in the page any more
}

// inputResult asks the frames that an event passes. entered are the text that was entered and whether it replaced the
// content. A document that was replaced has received the event, unless the new document blocked it.
func (s *search) inputResult(ctx context.Context, o observed, entered ...any) (inputResult, error) {
	var r inputResult
	err := o.frame.eval(ctx, "inputResult", &r, entered...)
	if errors.Is(err, errGone) {
		short, cancel := context.WithTimeout(ctx, s.page.limits().response)
		defer cancel()
		_ = s.page.main().eval(short, "inputResult", &r) // without a new document nothing was blocked
		r.NewDocument = true
	}
	if r.NewDocument {
		return inputResult{Received: r.Blocked == "", Accepted: true, Blocked: r.Blocked}, nil
	}
	for f := o.frame.parent; f != nil && err == nil && !r.Received && r.Blocked == ""; f = f.parent {
		err = f.eval(ctx, "inputResult", &r)
	}
	return r, err
}

// unconfirmed is the error of an action that was sent.
func unconfirmed(err error) error {
	if err == nil {
		return nil
	}
	return &act.UnconfirmedError{Cause: err}
}

// replacedBy is the error of an action that the guard kept from another element.
func replacedBy(blocked string) error {
	return &act.NotReceivedError{Reason: blocked + " was in its place at the last moment"}
}

// errRemoved is the error of an action whose element was removed before it.
func errRemoved() error { return &act.NotReceivedError{Reason: "it was removed at the last moment"} }

// apply has page.js act, once. A document that was replaced meanwhile has been acted on.
func (o observed) apply(ctx context.Context) (observed, error) {
	applied := observed{Found: o.Found}
	err := o.frame.eval(ctx, "apply", &applied)
	switch {
	case errors.Is(err, errGone):
		return o, nil
	case err != nil:
		return o, unconfirmed(err)
	case applied.Gone:
		return o, errRemoved()
	}
	return applied, nil
}

func webHover(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t, err := syntax.ElementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	s := p.search(t, check{name: "hover", want: "ready for the mouse", unique: true, pointer: true})
	o, err := s.do(ctx, p.actionLimit(ctx, args), func(ctx context.Context, o observed) error {
		if err := p.moveMouse(ctx, o.X, o.Y); err != nil {
			return unconfirmed(err)
		}
		var moved struct{ Reason string }
		_ = o.frame.eval(ctx, "apply", &moved) // a page that the mouse leads elsewhere does not answer
		if moved.Reason != "" {
			return &act.NotReceivedError{Reason: moved.Reason}
		}
		return nil
	})
	if err != nil {
		return tool.Result{}, err
	}
	return success("hovered over %s", o), nil
}

// textEntry is a text for a field.
type textEntry struct {
	text   string
	clear  bool // it replaces the content; otherwise it is typed key by key
	atEnd  bool // it is typed at the end, and not at the caret
	secret bool // no message may show it
}

// normalized is the text as a field stores it.
func (e textEntry) normalized() string { return strings.ReplaceAll(e.text, "\r\n", "\n") }

func webType(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t, err := syntax.ElementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	a := syntax.Arguments(args)
	e := textEntry{text: a.Text("text"), clear: a.Flag("clearFirst", true)}
	e.atEnd = !e.clear
	return p.enterText(ctx, t, e, p.actionLimit(ctx, args))
}

func webFillSecret(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t, err := syntax.ElementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	p.notes.AddSecret(syntax.Arguments(args).Text("value"))
	return p.enterText(ctx, t, textEntry{text: syntax.Arguments(args).Text("value"), clear: true, secret: true},
		p.actionLimit(ctx, args))
}

func fillSelector(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a := syntax.Arguments(args)
	return p.enterText(ctx, syntax.ByCSS(a.Text("selector")), textEntry{text: a.Text("value"), clear: true}, p.actionLimit(ctx, a))
}

// inputText types into the field that has the focus.
func inputText(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t := syntax.NewTarget("the field with the focus")
	t.Spec = map[string]string{"focused": ""}
	return p.enterText(ctx, t, textEntry{text: syntax.Arguments(args).Text("text")}, p.actionLimit(ctx, args))
}

// enterText puts a text into a field, once.
func (p *page) enterText(ctx context.Context, t syntax.Target, e textEntry, limit time.Duration) (tool.Result, error) {
	s := p.search(t, check{
		name:           "focus",
		want:           "ready for text",
		unique:         true,
		options:        map[string]any{"clear": e.clear, "atEnd": e.atEnd, "text": e.text, "secret": e.secret},
		preferredRoles: fieldRoles(),
	})
	var r inputResult
	o, err := s.do(ctx, limit, func(ctx context.Context, o observed) (err error) {
		if o.Apply {
			r.Accepted = true
			_, err = o.apply(ctx)
			return err
		}
		if err := p.writeText(ctx, e); err != nil {
			return unconfirmed(err)
		}
		r, err = s.inputResult(ctx, o, e.normalized(), e.clear)
		if err == nil && r.Blocked != "" {
			return replacedBy(r.Blocked)
		}
		return unconfirmed(err)
	})
	if err != nil {
		return tool.Result{}, err
	}
	return e.result(o, r)
}

// fieldRoles returns what the browser's accessibility tree calls fields: those that take text, and sliders.
func fieldRoles() []string {
	var names []string
	for _, role := range screen.Roles() {
		if screen.IsTextInput(role) || role == "slider" {
			names = append(names, screen.BrowserRoles(role)...)
		}
	}
	return names
}

// writeText writes into the field that has the focus.
func (p *page) writeText(ctx context.Context, e textEntry) error {
	switch {
	case !e.clear:
		return p.typeKeys(ctx, e.text)
	case e.text == "":
		k, err := syntax.KeyNamed("Delete")
		if err != nil {
			return err
		}
		return p.pressKey(ctx, nil, k)
	}
	return p.insertText(ctx, e.text)
}

// result compares the content of the field with the text. A field may format the text, or pass it on and be empty
// again, but a field in which nothing changed did not accept it.
func (e textEntry) result(o observed, r inputResult) (tool.Result, error) {
	verb := "typed into"
	if e.clear {
		verb = "filled"
	}
	switch {
	case r.Accepted || e.secret && r.Changed:
		return success("%s %s", verb, o), nil
	case !r.Changed:
		return tool.Result{}, fault.New(fault.ToolFailed, "", "%s did not accept the text: nothing in it changed",
			o.Found)
	}
	return success("%s %s, which now shows %q", verb, o, shorten(*r.Displayed)), nil
}

func webSelectOption(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t, err := syntax.ElementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	s := p.search(t, check{
		name:           "select",
		want:           "ready to be chosen from",
		unique:         true,
		options:        map[string]any{"values": syntax.Arguments(args).Texts("values")},
		preferredRoles: []string{"combobox", "listbox"},
	})
	var applied observed
	o, err := s.do(ctx, p.actionLimit(ctx, args), func(ctx context.Context, o observed) (err error) {
		applied, err = o.apply(ctx)
		return err
	})
	if err != nil {
		return tool.Result{}, err
	}
	result := success("%s is now %q", o, applied.Text)
	if applied.Refused {
		result = withNotes(result, "the page did not keep what was chosen")
	}
	return result, nil
}

func webScroll(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a := syntax.Arguments(args)
	direction, err := a.Word("direction", "DOWN", "UP", "LEFT", "RIGHT")
	if err != nil {
		return tool.Result{}, err
	}
	amount := a.Number("amount", 500)
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
	t := syntax.NewTarget("the page")
	t.Spec = map[string]string{"middle": ""} // what a person would scroll
	if a.Has("ref") || a.Has("nodeSelector") {
		by["wheel"] = true
		if t, err = syntax.ElementOf(a); err != nil {
			return tool.Result{}, err
		}
	}
	var o observed
	c := check{name: "scroll", want: "ready to be scrolled", options: by, unique: p.strict(args)}
	_, err = p.search(t, c).do(ctx, p.actionLimit(ctx, args),
		func(ctx context.Context, ready observed) (err error) {
			o, err = ready.apply(ctx)
			return err
		})
	if err != nil {
		return tool.Result{}, err
	}
	if o.Wheel {
		return success("turned the wheel %s by %.0f pixels over %s", strings.ToLower(direction), amount, o.Found), nil
	}
	if o.Moved == 0 {
		return success("nothing moved: %s is at %.0f of %.0f pixels", o.Found, o.Position, o.End), nil
	}
	return success("scrolled %s %s by %.0f pixels, to %.0f of %.0f",
		o.Found, strings.ToLower(direction), max(o.Moved, -o.Moved), o.Position, o.End), nil
}

// pressed are the arguments of web_pressKey: a key and those that are held down, or a text.
type pressed struct {
	held []syntax.Key
	key  syntax.Key
	text string // empty for a key
}

func parsePressed(args syntax.Arguments) (p pressed, err error) {
	hasKey, hasText := args.Has("key"), args.Has("text")
	switch {
	case hasKey == hasText:
		err = fault.New(fault.InvalidArguments, "give one of key and text", "%s of key and text are given",
			map[bool]string{true: "both", false: "none"}[hasKey])
	case hasKey:
		p.held, p.key, err = syntax.ParseKeys(args.Text("key"))
	default:
		p.text = args.Text("text")
	}
	return p, err
}

// checkKey checks the arguments of web_pressKey.
func checkKey(args syntax.Arguments) error {
	_, err := parsePressed(args)
	return err
}

func webPressKey(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a := syntax.Arguments(args)
	keys, err := parsePressed(a)
	if err != nil {
		return tool.Result{}, err
	}
	var focus string
	_ = p.main().eval(ctx, "focused", &focus) // a page that is being left has none
	done := "pressed " + a.Text("key")
	if keys.text == "" {
		err = p.pressKey(ctx, keys.held, keys.key)
	} else {
		done = fmt.Sprintf("typed %q", keys.text)
		err = p.typeKeys(ctx, keys.text)
	}
	if err != nil {
		return tool.Result{}, unconfirmed(err)
	}
	if focus != "" {
		done += " (focus: " + focus + ")"
	}
	return success("%s", done), nil
}
