package mobile

import (
	"context"
	"errors"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

func waypointCommand(p Platform) command {
	return newCommand(device.AssertWaypoint, device.WaypointDescription,
		device.WaypointProperties+", "+timeoutProperty, assertWaypoint).
		checkedBy(func(a device.Arguments) error {
			_, err := elements{platform: p}.waypoint(a)
			return err
		})
}

// waypoint is the screen of a call of assertWaypoint. It implements act.Screen with the search for nothing.
type waypoint struct {
	*search
	device.Waypoint
	targets []target // one for each rule
	words   []string
}

// waypoint reads the arguments of assertWaypoint.
func (e elements) waypoint(a device.Arguments) (w waypoint, err error) {
	w.Waypoint, err = device.ReadWaypoint(a)
	problems := []error{err}
	for _, r := range w.Rules {
		t, err := e.node(r.Path, r.Selector)
		w.targets, w.words, problems = append(w.targets, t), append(w.words, t.words.String()), append(problems, err)
	}
	return w, errors.Join(problems...)
}

func assertWaypoint(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	w, err := d.elements().waypoint(a)
	if err != nil {
		return tool.Result{}, err
	}
	all := target{words: act.Selector{Text: "the screen " + w.String()}}
	for _, t := range w.targets {
		all.cells, all.focus = all.cells || t.cells, all.focus || t.focus
	}
	w.search = d.search(all)
	w.settle = w.HasForbidden() // what an action brings may not be there yet
	action := w.action("", waitLimit(ctx, a, d.limits.Assertion), nil)
	action.Screen = w
	if _, err := action.Do(ctx); err != nil {
		return tool.Result{}, err
	}
	return success("the screen is %s, by %s", w, text.Count(len(w.Rules), "rule")), nil
}

// Observe implements act.Screen. It reads the screen once for all rules.
func (w waypoint) Observe(ctx context.Context, _ time.Duration) (o act.Observation[*found], err error) {
	if w.last, err = w.phone.read(ctx, w.settle, w.target); err != nil {
		return o, err
	}
	counts := make([]int, len(w.targets))
	for i, t := range w.targets {
		if err := w.last.Tree.Check(t.selector); err != nil {
			return o, err
		}
		counts[i] = len(distinct(w.last.Tree.Resolve(t.selector).Nodes))
	}
	o.Missing = w.Broken(w.words, counts)
	o.Ready = o.Missing == ""
	return o, nil
}
