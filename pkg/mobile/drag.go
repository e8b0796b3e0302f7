package mobile

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// dragCommand describes dragTo.
func dragCommand(p Platform) command {
	end := func(name, description string) string {
		return `"` + name + `": {"type": "object", "additionalProperties": false, "minProperties": 1, "description": "` +
			description + `", "properties": {` + nameProperties(p) + `}}`
	}
	c := newCommand("dragTo", "Holds an element, moves it onto another one, and drops it there.",
		end("from", "The element to drag")+", "+end("to", "The element to drop it on")+", "+
			durationProperty(dragTime)+", "+timeoutProperty, dragTo, "from", "to")
	return c.checkedBy(func(a device.Arguments) error {
		_, from := readDragEnd(elements{platform: p}, a, "from")
		_, to := readDragEnd(elements{platform: p}, a, "to")
		return errors.Join(from, to)
	})
}

// readDragEnd reads the argument name.
func readDragEnd(e elements, a device.Arguments, name string) (target, error) {
	args, _ := a[name].(map[string]any)
	t, err := e.targetOf(args)
	if known := fault.As(err); known != nil {
		return t, fault.New(known.Kind, known.Hint, "%s: %s", name, known.Message)
	}
	return t, err
}

// dragEnd returns the end of a drag that the argument name describes.
func dragEnd(a device.Arguments, name string) tool.DragEnd {
	args, _ := a[name].(map[string]any)
	return tool.DragEnd{Args: args}
}

func dragTo(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	from, err := readDragEnd(d.elements(), a, "from")
	if err != nil {
		return tool.Result{}, err
	}
	to, err := readDragEnd(d.elements(), a, "to")
	if err != nil {
		return tool.Result{}, err
	}
	limit, move := waitLimit(ctx, a, d.limits.Action), durationOf(a, dragTime)
	const ready = "ready to be dropped on"
	onto := d.searchOnScreen(to, d.touchable(centre)...)
	onto.stable = true
	target, err := onto.action(ready, limit, nil).Do(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	d.noteDoubt(target.Element)
	fromEnd, toEnd := dragEnd(a, "from"), dragEnd(a, "to")
	toEnd.Located, d.located = d.located, nil
	from.cells, from.focus = from.cells || to.cells, from.focus || to.focus // both are resolved on one screen
	seen, err := d.withElement(ctx, from, "ready to be dragged", limit, centre, func(ctx context.Context, e *found) error {
		fromEnd.Located = d.located
		end, err := onto.placeOn(ctx, e.screen)
		d.located = nil // of the other end, if that was named by a reference
		if err != nil {
			return err
		}
		return d.driver.Touch(ctx, Finger{Path: []screen.Point{e.point, end}, Hold: longHold, Move: move, Rest: restTime})
	})
	if err != nil {
		return tool.Result{}, err
	}
	d.located = tool.LocatedDrag(fromEnd, toEnd)
	return success("dragged %s to %s", seen, target.Found), nil
}

// placeOn returns where the element of the search is touched on a screen that was read for another one. The error is an
// *act.NotReceivedError, after a pause, if it is not ready there.
func (s *search) placeOn(ctx context.Context, now Screen) (screen.Point, error) {
	s.last, s.front = now, s.phone.covering(ctx, now.Tree)
	list, err := s.resolve(ctx)
	if err != nil {
		return screen.Point{}, err
	}
	o := act.Choose(s.target.words, s.target.unique, list, describe, s.conditions...)
	if !o.Ready {
		if err := act.Pause(ctx, s.phone.limits.Poll); err != nil {
			return screen.Point{}, err
		}
		return screen.Point{}, &act.NotReceivedError{
			Reason: fmt.Sprintf("%s, on which it is to be dropped, %s", s.target.words, cmp.Or(o.Reason, "was not found")),
		}
	}
	return o.Element.point, nil
}
