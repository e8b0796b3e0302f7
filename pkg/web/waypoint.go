package web

import (
	"context"
	"errors"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// waypointCommand describes assertWaypoint.
func waypointCommand() command {
	return newCommand(device.AssertWaypoint, device.WaypointDescription,
		device.WaypointProperties+", "+syntax.TimeoutProperty+"}", assertWaypoint).
		checkedBy(func(args syntax.Arguments) error {
			_, _, err := waypointOf(args)
			return err
		})
}

// waypointOf reads the arguments of assertWaypoint, with a target for each rule.
func waypointOf(args syntax.Arguments) (w device.Waypoint, targets []syntax.Target, err error) {
	w, err = device.ReadWaypoint(args)
	problems := []error{err}
	for _, r := range w.Rules {
		t, err := syntax.RuleTarget(r)
		targets, problems = append(targets, t), append(problems, err)
	}
	return w, targets, errors.Join(problems...)
}

func assertWaypoint(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	w, targets, err := waypointOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	words := make([]string, len(targets))
	searches := make([]*search, len(targets))
	for i, t := range targets {
		words[i], searches[i] = t.Selector.String(), p.search(t, check{name: "exists", unique: true})
	}
	err = p.waitFor(ctx, syntax.NewTarget("the screen %s", w), "", p.assertionLimit(ctx, args),
		func(ctx context.Context) (o act.Observation[observed], err error) {
			// Rules are counted one after another, so that the page may change between them: they must hold in two rounds.
			for round := 0; round < min(2, len(searches)) && err == nil && o.Missing == ""; round++ {
				var counts []int
				if counts, err = countAll(ctx, searches); err == nil {
					o.Missing = w.Broken(words, counts)
				}
			}
			if err == nil && o.Missing == "" && w.HasForbidden() {
				o.Missing, err = p.unloadedReason(ctx)
			}
			o.Ready = o.Missing == ""
			return o, err
		})
	if err != nil {
		return tool.Result{}, err
	}
	return success("the screen is %s, by %s", w, text.Count(len(w.Rules), "rule")), nil
}

// countAll returns how many elements each search finds.
func countAll(ctx context.Context, searches []*search) (counts []int, err error) {
	for _, s := range searches {
		n, _, err := s.matches(ctx)
		if err != nil {
			return nil, err
		}
		if index := s.index(); index >= 0 {
			n = min(1, max(0, n-index))
		}
		counts = append(counts, n)
	}
	return counts, nil
}
