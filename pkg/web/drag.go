package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// dragCommand describes web_dragTo.
func dragCommand() command {
	end := func(name, description string) string {
		return `"` + name + `": {"type": "object", "additionalProperties": false, "minProperties": 1, "description": "` +
			description + `", "properties": {` + syntax.ElementReference() + ", " + positionProperty + "}}"
	}
	return newCommand("web_dragTo", "Drags an element with the mouse and drops it on another one.",
		end("from", "The element to drag")+", "+end("to", "The element to drop it on")+", "+syntax.StrictProperty+", "+
			syntax.TimeoutProperty+"}", webDragTo, "from", "to").checkedBy(checkDrag)
}

// dragEnd is one end of a drag.
type dragEnd struct {
	tool.DragEnd
	search *search
}

// checkDrag checks the arguments of web_dragTo.
func checkDrag(args syntax.Arguments) error {
	_, from := dragTarget(args, "from")
	_, to := dragTarget(args, "to")
	return errors.Join(from, to)
}

// dragTarget returns the target of the end that the argument name describes.
func dragTarget(args syntax.Arguments, name string) (syntax.Target, error) {
	given, _ := args[name].(map[string]any)
	t, err := syntax.ElementOf(given)
	if known := fault.As(err); known != nil {
		return t, fault.New(known.Kind, known.Hint, "%s: %s", name, known.Message)
	}
	return t, err
}

func (p *page) dragEndOf(args syntax.Arguments, name, want string) (*dragEnd, error) {
	t, err := dragTarget(args, name)
	if err != nil {
		return nil, err
	}
	given, _ := args[name].(map[string]any)
	check := check{
		name: "drag", want: want, unique: p.strict(args), pointer: true,
		options: map[string]any{"position": given["position"], "drop": name == "to"},
	}
	return &dragEnd{DragEnd: tool.DragEnd{Args: given}, search: p.search(t, check)}, nil
}

// do waits until the element is ready and performs the action.
func (e *dragEnd) do(
	ctx context.Context, limit time.Duration, perform func(context.Context, observed) error,
) (observed, error) {
	d := e.search.page.device
	d.located = nil
	var located *locatedElement
	o, err := e.search.do(ctx, limit, func(ctx context.Context, o observed) error {
		located = d.located
		if perform == nil {
			return nil
		}
		return perform(ctx, o)
	})
	if located != nil {
		e.Located = &located.Located
	}
	return o, err
}

func webDragTo(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	from, err := p.dragEndOf(args, "from", "ready to be dragged")
	if err != nil {
		return tool.Result{}, err
	}
	to, err := p.dragEndOf(args, "to", "ready to be dropped on")
	if err != nil {
		return tool.Result{}, err
	}
	limit := p.actionLimit(ctx, args)
	if _, err := to.do(ctx, limit, nil); err != nil { // nothing is dragged unless it can be dropped
		return tool.Result{}, err
	}
	d := &drag{page: p}
	var target observed
	source, err := from.do(ctx, limit, func(ctx context.Context, o observed) error {
		if err := d.press(ctx, from.search, o); err != nil {
			return err
		}
		target, err = d.moveOnto(ctx, to.search, limit)
		return err
	})
	if err != nil {
		return tool.Result{}, err
	}
	if l := tool.LocatedDrag(from.DragEnd, to.DragEnd); l != nil {
		p.device.located = &locatedElement{Located: *l}
	}
	return success("dragged %s to %s", source, target), nil
}

// drag is a drag with the mouse.
type drag struct {
	page *page
	x, y float64         // of the mouse
	data json.RawMessage // of an HTML drag; nil until one has begun
}

// dragSteps is how many moves of the mouse a drag consists of.
const dragSteps = 8

// press presses the mouse on an element.
func (d *drag) press(ctx context.Context, s *search, o observed) error {
	p := d.page
	d.x, d.y = o.X, o.Y
	p.device.trace.touch(o.X, o.Y)
	err := p.sendInput(ctx, mouseEvent("mouseMoved", o.X, o.Y, "none", 0, 0, 0),
		mouseEvent("mousePressed", o.X, o.Y, "left", 1, 1, 0))
	if err != nil {
		return unconfirmed(err)
	}
	if err := s.confirmPointer(ctx, o); err != nil {
		_ = p.sendInput(ctx, mouseEvent("mouseReleased", o.X, o.Y, "left", 0, 1, 0))
		return err
	}
	return nil
}

// moveOnto moves the mouse to the element of s and releases it there.
func (d *drag) moveOnto(ctx context.Context, s *search, limit time.Duration) (observed, error) {
	p := d.page
	intercept := func(on bool) error {
		return p.main().session.Call(ctx, "Input.setInterceptDrags", map[string]any{"enabled": on}, nil)
	}
	p.update(func() { p.dragData = nil })
	if err := intercept(true); err != nil {
		return observed{}, unconfirmed(err)
	}
	defer func() { p.main().session.Send("Input.setInterceptDrags", map[string]any{"enabled": false}) }()
	var target observed
	err := unconfirmed(d.begin(ctx))
	if err == nil {
		target, err = s.do(ctx, limit, func(ctx context.Context, o observed) error {
			return unconfirmed(d.moveToTarget(ctx, o.X, o.Y))
		})
	}
	if err != nil {
		_ = d.release(ctx, "dragCancel")
		return target, err
	}
	return target, unconfirmed(d.release(ctx, "drop"))
}

// begin moves the mouse a little, which begins an HTML drag if the element is draggable.
func (d *drag) begin(ctx context.Context) error {
	p := d.page
	for _, f := range p.frames() {
		if err := f.withinSlice(ctx, func(ctx context.Context) error { return f.eval(ctx, "expectDrag", nil) }); err != nil {
			return err
		}
	}
	for range 2 {
		if err := d.moveTo(ctx, d.x+4, d.y+4, 2); err != nil {
			return err
		}
	}
	for _, f := range p.frames() {
		started := false
		err := f.withinSlice(ctx, func(ctx context.Context) error { return f.eval(ctx, "dragStarted", &started) })
		if err != nil || !started {
			continue
		}
		waiting, cancel := context.WithTimeout(ctx, p.limits().response)
		defer cancel()
		if err := p.waitUntil(waiting, func() bool { return p.dragData != nil }); err != nil {
			return fmt.Errorf("the browser did not report the drag that the page began: %w", err)
		}
		p.mu.Lock()
		d.data = p.dragData
		p.mu.Unlock()
		return nil
	}
	return nil
}

// moveToTarget moves the mouse, or the HTML drag, to where it ends. An HTML drag enters the page only here, not while
// the target is awaited: the browser scrolls as long as one stays near an edge.
func (d *drag) moveToTarget(ctx context.Context, x, y float64) error {
	if d.data != nil {
		if err := d.drag(ctx, "dragEnter"); err != nil {
			return err
		}
	}
	return d.moveTo(ctx, x, y, dragSteps)
}

// onDragIntercepted keeps the data of an HTML drag.
func (p *page) onDragIntercepted(e cdp.Event) {
	var params struct{ Data json.RawMessage }
	if e.Decode(&params) == nil {
		p.update(func() { p.dragData = params.Data })
	}
}

// drag sends an event of an HTML drag.
func (d *drag) drag(ctx context.Context, kind string) error {
	return d.page.sendInput(ctx, inputEvent{"Input.dispatchDragEvent", map[string]any{
		"type": kind, "x": d.x, "y": d.y, "data": d.data,
	}})
}

// moveTo moves the mouse in steps, with the button pressed. Each step is awaited, so that the page can follow.
func (d *drag) moveTo(ctx context.Context, x, y float64, steps int) error {
	fromX, fromY := d.x, d.y
	for i := 1; i <= steps; i++ {
		share := float64(i) / float64(steps)
		d.x, d.y = fromX+(x-fromX)*share, fromY+(y-fromY)*share
		var err error
		if d.data != nil {
			err = d.drag(ctx, "dragOver")
		} else {
			err = d.page.sendInput(ctx, mouseEvent("mouseMoved", d.x, d.y, "left", 1, 0, 0))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// release releases the mouse. An HTML drag ends as kind says: drop or dragCancel.
func (d *drag) release(ctx context.Context, kind string) error {
	if d.data != nil {
		return d.drag(ctx, kind)
	}
	return d.page.sendInput(ctx, mouseEvent("mouseReleased", d.x, d.y, "left", 0, 1, 0))
}
