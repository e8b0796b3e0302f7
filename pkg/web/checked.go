package web

import (
	"context"
	"errors"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// webSetChecked clicks a check box, radio button or switch unless it is in the wanted state.
func webSetChecked(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a := syntax.Arguments(args)
	t, err := syntax.ElementOf(a)
	if err != nil {
		return tool.Result{}, err
	}
	wanted := a.Flag("checked", true)
	s := p.search(t, check{
		name: "toggle", want: "ready to be clicked", unique: p.strict(a), pointer: true,
		options: map[string]any{"checked": wanted},
	})
	state := map[bool]string{true: "checked", false: "unchecked"}[wanted]
	was := false
	o, err := s.do(ctx, p.actionLimit(ctx, a), func(ctx context.Context, o observed) error {
		if was = o.Apply; was {
			return nil
		}
		if err := s.clickObserved(ctx, o, clickOptions{}); err != nil {
			return err
		}
		return s.confirmToggle(ctx, o, state)
	})
	switch {
	case err != nil:
		return tool.Result{}, err
	case was:
		return success("%s is %s already", o, state), nil
	}
	return success("%s is now %s", o, state), nil
}

// confirmToggle waits until the element that was clicked has the state. An element that is not in the page any more,
// such as a task that is done, has taken the click, unless the page shows it anew in the other state.
func (s *search) confirmToggle(ctx context.Context, o observed, state string) error {
	var now struct{ State string }
	limit := s.page.limits().response
	err := o.frame.eval(ctx, "toggled", &now, state, limit.Milliseconds())
	switch {
	case errors.Is(err, errGone) || err == nil && now.State == state:
		return nil
	case err != nil:
		return unconfirmed(err)
	case now.State != "":
		return fault.New(fault.ToolFailed, "", "%s was clicked and is still %s", o.Found, now.State)
	}
	anew, err := s.page.search(s.target, check{name: "state", options: map[string]any{"state": state}}).find(ctx, limit)
	if err != nil || anew.Ready || o.Count != 1 || anew.Count != 1 || anew.Found != o.Found {
		return nil //nolint:nilerr // it has taken the click
	}
	return fault.New(fault.ToolFailed, "", "%s was clicked, and the page replaced it by one of which %s", o.Found, anew.Reason)
}

// checkedCommand describes web_setChecked.
func checkedCommand() command {
	return newCommand("web_setChecked", "Checks or unchecks a check box, radio button or switch, unless it is so already.",
		`"checked": {"type": "boolean", "default": true}, `+syntax.ElementProperties(), webSetChecked).checkedBy(checkElement)
}
