package web

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// clickOptions say how an element is clicked. The zero value is one click with the left button.
type clickOptions struct {
	button    string // left, right or middle
	count     int
	modifiers []syntax.Key   // held down
	position  map[string]any // x and y in the element, in pixels; nil for the middle
	strict    bool
}

// clickCommand describes web_click.
func clickCommand() command {
	return newCommand("web_click", "Clicks an element once, when it is ready.",
		syntax.ElementProperties()+", "+syntax.Enum("button", "The button", "LEFT", "RIGHT", "MIDDLE")+
			`, "count": {"type": "integer", "minimum": 1, "maximum": 2, "default": 1, "description": "2 for a double click"},
			"modifiers": {"type": ["array", "string"], "items": {"type": "string", "pattern": "^(?i:Alt|Control|ControlOrMeta|Meta|Shift)$"},
			"description": "Keys that are held down: Alt, Control, Meta, Shift"}, `+positionProperty, webClick).
		checkedBy(checkElement)
}

// positionProperty is where in an element the mouse acts.
const positionProperty = `"position": {"type": "object", "additionalProperties": false, "required": ["x", "y"],
	"description": "In the element, in pixels from its top left corner; its middle when absent",
	"properties": {"x": {"type": "number", "minimum": 0}, "y": {"type": "number", "minimum": 0}}}`

func webClick(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a := syntax.Arguments(args)
	t, err := syntax.ElementOf(a)
	if err != nil {
		return tool.Result{}, err
	}
	o := clickOptions{count: int(a.Number("count", 1)), strict: p.strict(a)}
	if o.button, err = a.Word("button", "LEFT", "RIGHT", "MIDDLE"); err != nil {
		return tool.Result{}, err
	}
	o.button = strings.ToLower(o.button)
	o.position, _ = a["position"].(map[string]any)
	for _, name := range a.Texts("modifiers") {
		k, err := syntax.KeyNamed(name)
		if err != nil {
			return tool.Result{}, err
		}
		if k.Modifier() == 0 {
			return tool.Result{}, fault.New(fault.InvalidArguments, "write Alt, Control, Meta or Shift",
				"modifiers: %q is not a modifier key", name)
		}
		o.modifiers = append(o.modifiers, k)
	}
	return p.click(ctx, t, o, p.actionLimit(ctx, a))
}

func clickSelector(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t := syntax.ByCSS(syntax.Arguments(args).Text("selector"))
	return p.click(ctx, t, clickOptions{strict: p.strict(args)}, p.actionLimit(ctx, args))
}

func tap(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t, err := syntax.CoreTarget(args)
	if err != nil {
		return tool.Result{}, err
	}
	return p.click(ctx, t, clickOptions{strict: p.strict(args)}, p.actionLimit(ctx, args))
}

// click clicks an element once.
func (p *page) click(ctx context.Context, t syntax.Target, options clickOptions, limit time.Duration) (tool.Result, error) {
	s := p.search(t, check{
		name: "click", want: "ready to be clicked", unique: options.strict, pointer: true,
		options: map[string]any{"position": options.position},
	})
	choosers := p.fileChoosers()
	o, err := s.do(ctx, limit, func(ctx context.Context, o observed) error { return s.clickObserved(ctx, o, options) })
	if err != nil {
		return tool.Result{}, err
	}
	verb := "clicked"
	if options.count == 2 {
		verb = "double-clicked"
	}
	result := success("%s %s", verb, o)
	if s.released != "" {
		result = withNotes(result, "it moved away while the mouse was pressed, and "+s.released+" got the release, so the page may have seen no click")
	}
	if p.fileChoosers() > choosers {
		result.Text += ", which opened a file chooser; web_uploadFile without an element answers it"
	}
	return result, nil
}

// clickObserved clicks an element that is ready.
func (s *search) clickObserved(ctx context.Context, o observed, options clickOptions) error {
	if err := s.page.clickAt(ctx, o.X, o.Y, options); err != nil {
		return unconfirmed(err)
	}
	s.page.timers = s.page.sendTimers() // they run while the click is confirmed
	return s.confirmPointer(ctx, o)
}

// confirmPointer returns an error unless the element received the press of the mouse button.
func (s *search) confirmPointer(ctx context.Context, o observed) error {
	r, err := s.inputResult(ctx, o)
	switch {
	case err != nil:
		return unconfirmed(err)
	case r.Received:
		s.released = r.Released
		return nil
	case r.Blocked != "":
		return replacedBy(r.Blocked)
	}
	return fault.New(fault.ToolFailed,
		"", "%s did not receive the click; another frame or the browser itself did (%s)", o.Found, s.page.location(ctx))
}

// clickAt moves the mouse to a point of the viewport and clicks.
func (p *page) clickAt(ctx context.Context, x, y float64, o clickOptions) error {
	p.device.trace.touch(x, y)
	button := o.button
	if button == "" {
		button = "left"
	}
	modifiers := 0
	var events []inputEvent
	for _, k := range o.modifiers {
		modifiers |= k.Modifier()
		events = append(events, keyEvent(k.Down(modifiers)))
	}
	mouse := func(kind, button string, buttons, clicks int) {
		events = append(events, mouseEvent(kind, x, y, button, buttons, clicks, modifiers))
	}
	mouse("mouseMoved", "none", 0, 0)
	for clicks := range max(1, o.count) {
		if clicks == 0 && o.count == 2 && device.IsAfterFirstClick(ctx) {
			continue
		}
		mouse("mousePressed", button, buttonBits(button), clicks+1)
		mouse("mouseReleased", button, 0, clicks+1)
	}
	for _, k := range slices.Backward(o.modifiers) {
		modifiers &^= k.Modifier()
		events = append(events, keyEvent(k.Up(modifiers)))
	}
	return p.sendInput(ctx, events...)
}

// buttonBits is the bit of a mouse button in MouseEvent.buttons.
func buttonBits(button string) int {
	switch button {
	case "right":
		return 2
	case "middle":
		return 4
	}
	return 1
}

// inputEvent is a call of the DevTools protocol that makes an input event.
type inputEvent struct {
	method string
	params map[string]any
}

func keyEvent(params map[string]any) inputEvent { return inputEvent{"Input.dispatchKeyEvent", params} }

func mouseEvent(kind string, x, y float64, button string, buttons, clicks, modifiers int) inputEvent {
	return inputEvent{"Input.dispatchMouseEvent", map[string]any{
		"type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": clicks, "modifiers": modifiers,
	}}
}

// strict reports whether an element must be the only one that matches: the argument strict, else the project's setting.
func (p *page) strict(args syntax.Arguments) bool {
	return args.Flag("strict", p.device.backend.options.strict)
}
