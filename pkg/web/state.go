package web

import (
	"context"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// states are what web_verifyState verifies.
func states() []string {
	return []string{
		"checked", "unchecked", "enabled", "disabled", "focused", "editable", "readonly", "selected", "expanded", "collapsed",
		"empty",
	}
}

// stateCommand describes web_verifyState.
func stateCommand() command {
	pattern := "^(?i:" + strings.Join(states(), "|") + ")$"
	return newCommand("web_verifyState", "Fails unless the first element that matches is in a state.",
		`"state": {"type": "string", "pattern": "`+pattern+`", "description": "`+strings.Join(states(), ", ")+`"}, `+
			syntax.ElementProperties(), webVerifyState, "state").checkedBy(checkVerified)
}

func webVerifyState(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a := syntax.Arguments(args)
	t, err := syntax.VerifiedElementOf(a)
	if err != nil {
		return tool.Result{}, err
	}
	state, err := a.Word("state", states()...)
	if err != nil {
		return tool.Result{}, err
	}
	c := check{name: "state", want: state, unique: p.strict(a), options: map[string]any{"state": state}}
	o, err := p.search(t, c).do(ctx, p.assertionLimit(ctx, a), nil)
	if err != nil {
		return tool.Result{}, err
	}
	return success("%s is %s", o, state), nil
}
