package web

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/aria"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// ariaSnapshotCommand describes web_verifyAriaSnapshot.
func ariaSnapshotCommand() command {
	return newCommand("web_verifyAriaSnapshot",
		"Fails unless the page, or a part of it, matches an ARIA snapshot by the rules of Playwright.",
		`"snapshot": {"type": "string", "minLength": 1,
		"description": "YAML: a list of role \"name\" [state], nested; names may be regular expressions between slashes"}, `+
			syntax.TimeoutProperty+"}", webVerifyAriaSnapshot, "snapshot").checkedBy(checkSnapshot)
}

func checkSnapshot(args syntax.Arguments) error {
	_, err := templateOf(args)
	return err
}

func templateOf(args syntax.Arguments) (*aria.Template, error) {
	t, err := aria.ParseTemplate(args.Text("snapshot"))
	if err != nil {
		return nil, fault.New(fault.InvalidArguments, "trailblaze snapshot and web_snapshot show how it is written",
			"snapshot: %v", err)
	}
	return t, nil
}

func webVerifyAriaSnapshot(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	template, err := templateOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	err = p.waitFor(ctx, syntax.NewTarget("the page"), "", p.assertionLimit(ctx, args),
		func(ctx context.Context) (act.Observation[observed], error) {
			tree, err := p.tree(ctx)
			if err != nil {
				return act.Observation[observed]{}, err
			}
			ok, difference := tree.Match(template)
			return act.Observation[observed]{Ready: ok, Missing: "the page does not match the snapshot: " + difference}, nil
		})
	if err != nil {
		return tool.Result{}, err
	}
	return success("the page matches the snapshot"), nil
}
