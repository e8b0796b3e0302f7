package web

import (
	"context"
	"errors"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// Input events are sent to the page; the browser finds the frame. All events of an action are sent before the first
// response is awaited, so that scripts run between two of them only in response to the first.

// input sends events with one method.
func (p *page) input(ctx context.Context, method string, events ...map[string]any) error {
	calls := make([]inputEvent, len(events))
	for i, event := range events {
		calls[i] = inputEvent{method, event}
	}
	return p.sendInput(ctx, calls...)
}

// sendInput sends events. An event that closes the page has been received.
func (p *page) sendInput(ctx context.Context, events ...inputEvent) error {
	waits := make([]func(context.Context, any) error, len(events))
	for i, event := range events {
		waits[i] = p.main().session.Send(event.method, event.params)
	}
	for _, wait := range waits {
		if err := wait(ctx, nil); err != nil && !errors.Is(err, cdp.ErrDetached) {
			return err
		}
	}
	return nil
}

// moveMouse moves the mouse to a point.
func (p *page) moveMouse(ctx context.Context, x, y float64) error {
	return p.sendInput(ctx, mouseEvent("mouseMoved", x, y, "none", 0, 0, 0))
}

// insertText replaces the selection in the element with the focus, as pasting does.
func (p *page) insertText(ctx context.Context, text string) error {
	return p.input(ctx, "Input.insertText", map[string]any{"text": text})
}

// typeKeys types text with key events for each character of an American keyboard, and inserts other characters.
func (p *page) typeKeys(ctx context.Context, text string) error {
	var events []map[string]any
	flush := func() error {
		err := p.input(ctx, "Input.dispatchKeyEvent", events...)
		events = nil
		return err
	}
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		if k, ok := syntax.KeyOf(r); ok {
			events = append(events, k.Down(0), k.Up(0))
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		if err := p.insertText(ctx, string(r)); err != nil {
			return err
		}
	}
	return flush()
}

// pressKey presses and releases a key while others are held down.
func (p *page) pressKey(ctx context.Context, held []syntax.Key, k syntax.Key) error {
	return p.input(ctx, "Input.dispatchKeyEvent", k.Press(held)...)
}
