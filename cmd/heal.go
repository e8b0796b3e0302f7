package cmd

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/agent"
	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/run"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// healMode returns what is done with recordings that broke. On a CI server only the flag lets files be written.
func (cmd *runCommand) healMode(f runFlags, project *config.Project) string {
	switch mode := project.LLM.Heal; {
	case f.given("heal"), mode == "":
		return f.heal
	case mode == config.HealWrite && cmd.env("CI") != "":
		return config.HealPropose
	default:
		return mode
	}
}

func (f *runFlags) heals() bool { return f.heal == config.HealPropose || f.heal == config.HealWrite }

// healing returns what makes the model propose repairs of recordings that broke. passed returns the screens, in the text
// form, of sessions in which a trail passed.
func (m *models) healing(options func(run.Assisted) live.Options, passed func(path string) []string) *run.Healing {
	return &run.Healing{
		Diagnose: func(ctx context.Context, b run.Broken) (string, error) {
			box, err := live.Attach(ctx, b.Session, b.Walk, options(b.Assisted)).Toolbox(ctx)
			if err != nil {
				return "", err
			}
			broke, err := agent.NewBreakage(box, b.Step.Calls[b.Call], b.Failed.Answer.Details)
			return fmt.Sprintf("%s: %s", broke.Element, broke.Reason), err
		},
		Names: controls,
		Repair: func(ctx context.Context, b run.Broken) run.Repair {
			repair, err := m.repair(ctx, b, options(b.Assisted), passed(b.Path))
			repair.Err, repair.Broke = err, slices.Contains([]fault.Kind{fault.Provider, fault.RateLimit, fault.Quota, fault.Transcript}, fault.KindOf(err))
			return repair
		},
	}
}

// elementLimit is how long controls waits for the element of the next call, if the call waits as long.
const elementLimit = 2 * time.Second

// controls returns the controls of the screen on which the next call acts, in the text form, without what they hold.
func controls(ctx context.Context, s *session.Session, next trail.Call) string {
	v, err := live.AwaitElement(ctx, s, next, elementLimit)
	if err != nil {
		return ""
	}
	roles := []string{
		"button", "link", "menuitem", "menuitemcheckbox", "menuitemradio", "tab", "checkbox", "radio", "switch", "option", "textbox", "searchbox",
		"combobox", "spinbutton", "slider", "treeitem", "image",
	}
	var lines strings.Builder
	for _, n := range v.Tree.Nodes() {
		if slices.Contains(roles, n.RoleName()) && n.Name() != "" {
			fmt.Fprintf(&lines, "- %s %q\n", n.RoleName(), n.Name())
		}
	}
	return lines.String()
}

// repair lets the model replace the call that failed, and judges what it did. The error says why nothing is proposed.
func (m *models) repair(ctx context.Context, b run.Broken, o live.Options, passed []string) (repair run.Repair, err error) {
	t := &tasks{models: m, Assisted: b.Assisted, options: o}
	if err := t.checkFolder(); err != nil {
		return repair, err
	}
	t.attach(ctx)
	box, err := t.session.Toolbox(ctx)
	if err != nil {
		return repair, err
	}
	change := agent.Change{Box: box, Kind: b.Step.Kind, Before: slices.Clone(b.Step.Calls), Failing: b.Call}
	if change.Breakage, err = agent.NewBreakage(box, b.Step.Calls[b.Call], b.Failed.Answer.Details); err != nil {
		return repair, err
	}
	w := &witness{RedactedSession: t.session, inner: b.Session}
	if change.Screen, err = w.look(ctx); err != nil {
		return repair, err
	}
	if err := unhealthy(ctx, b, change.Screen.URL); err != nil {
		return repair, err
	}
	shown, err := t.session.Snapshot(ctx, live.SnapshotOptions{MaxBytes: 6000}) // without secrets
	if err != nil {
		return repair, err
	}
	t.agent = m.newAgent(m.asking(filepath.Join(b.Dir, "llm"), t.emit), m.usedBy(b.Replay), 0)
	if err := t.replaceCall(ctx, b, w, box); err != nil {
		return repair, err
	}
	if _, err := w.look(ctx); err != nil {
		return repair, err
	}
	change.Others = otherCalls(b, change.Before)
	change.URLs, change.Passed = w.urls, passed
	change.Replace(w.made)
	judged := change.Judge()
	repair = run.Repair{
		Calls: change.After, Class: string(judged.Class), Why: judged.Why, Refused: judged.Refused, NeedsCheck: judged.NeedsCheck,
		NeedsReview: judged.NeedsReview, LaterChecks: laterChecks(b, box), Screen: shown.Text,
	}
	if repair.Refused == "" && !judged.MayBeWritten() {
		repair.Refused = "it may be another element"
	}
	if len(change.After) == 0 {
		return repair, fault.New(fault.HealRefused, "repair the trail by hand", "the model made no call that could take the place of the one that failed")
	}
	return repair, nil
}

// replaceCall is the task of the model.
func (t *tasks) replaceCall(ctx context.Context, b run.Broken, w *witness, box live.Toolbox) error {
	task := t.task(b.At, b.Step)
	task.MaxRetries = 0
	if slices.Contains(box.Checks, b.Step.Calls[b.Call].Tool) {
		task.Kind = trail.KindVerify // it does not act
	}
	task.Broken = &agent.Broken{
		Made: b.Step.Calls[:b.Call], Failing: b.Step.Calls[b.Call], ToCome: slices.Clone(b.Step.Calls[b.Call+1:]), Reason: b.Failed.Reason,
	}
	t.emit(event.TaskStarted{Step: b.At.Number(), Kind: task.Kind, Model: t.name, MaxRequests: t.limits.RequestsPerStep})
	out := t.agent.Do(ctx, w, task)
	t.emit(event.TaskFinished{Step: b.At.Number(), Outcome: out.Outcome, Warnings: slices.Concat(out.Warnings, out.Replaced)})
	if cause := session.Interruption(ctx); cause != nil {
		return cause
	}
	if out.Outcome != event.Passed {
		return out.Err
	}
	return nil
}

// unhealthy returns an error if a document was answered with 500 and more in the step that failed, or if that is the one
// that is shown.
func unhealthy(ctx context.Context, b run.Broken, shown string) error {
	for _, i := range b.Session.Incidents(ctx, false) {
		if i.Page != "" && (i.Place.Step == b.At.Number() || withoutFragment(i.Page) == withoutFragment(shown)) {
			return fault.New(fault.AppUnhealthy, "look at the app, not at the recording", "a page was answered with an error: %s", i.Text)
		}
	}
	return nil
}

func withoutFragment(address string) string {
	address, _, _ = strings.Cut(address, "#")
	return address
}

// otherCalls returns the recorded calls of the trail but for the one that failed, and those of steps that were repaired.
// before are those of the step.
func otherCalls(b run.Broken, before []trail.Call) []trail.Call {
	var others []trail.Call
	for _, st := range b.Walk.Root.Steps {
		switch {
		case slices.Contains(b.Repaired, st.Index):
		case st.Index == b.Step.Index:
			others = slices.Concat(others, before[:b.Call], before[b.Call+1:])
		default:
			others = append(others, st.Calls...)
		}
	}
	return others
}

// laterChecks returns the steps behind a step, by their indexes, that check that something is there.
func laterChecks(b run.Broken, box live.Toolbox) []int {
	var later []int
	for _, st := range b.Walk.Root.Steps {
		if st.Index > b.Step.Index && st.Use == nil && slices.ContainsFunc(st.Calls, func(c trail.Call) bool { return isPositive(box, c) }) {
			later = append(later, st.Index)
		}
	}
	return later
}

// isPositive reports whether a call is a check of the app that fails if something is not there.
func isPositive(box live.Toolbox, c trail.Call) bool {
	t, err := box.Registry.Find(c.Tool)
	return err == nil && t.Source.Kind == tool.FromDevice && slices.Contains(box.Checks, c.Tool) && !c.Optional && !c.Soft && !live.IsAbsence(c)
}

// witness is a session in which a model makes calls. It remembers them, and the screens before them.
type witness struct {
	*live.RedactedSession
	inner *session.Session
	shown *device.View // last
	urls  []string
	made  []agent.Made
}

func (w *witness) look(ctx context.Context) (*device.View, error) {
	v, err := w.inner.View(ctx, device.ViewOptions{Peek: true})
	if err != nil {
		return nil, err
	}
	w.shown, w.urls = &v, append(w.urls, v.URL)
	return &v, nil
}

// Step implements agent.Session.
func (w *witness) Step(ctx context.Context, r live.StepRequest) (live.StepReport, error) {
	if _, err := w.look(ctx); err != nil {
		return live.StepReport{}, err
	}
	selectors := make([][]map[string]any, len(r.Calls))
	for i, c := range r.Calls {
		selectors[i] = w.selectors(ctx, c)
	}
	report, err := w.RedactedSession.Step(ctx, r)
	recorded := report.Recorded
	for i, c := range report.Calls {
		if !c.OK || i >= len(r.Calls) {
			continue
		}
		m := agent.Made{Call: r.Calls[i], Element: w.element(r.Calls[i]), Screen: w.shown, Selectors: selectors[i]}
		if len(recorded) > 0 && recorded[0].Tool == m.Call.Tool {
			m.Call, m.Recorded, recorded = recorded[0], true, recorded[1:]
		}
		w.made = append(w.made, m)
	}
	return report, err
}

// selectors returns those that a recording could use for the element of a call, none if that is not known.
func (w *witness) selectors(ctx context.Context, c trail.Call) (out []map[string]any) {
	ref, _ := c.Args["ref"].(string)
	if !screen.IsReference(ref) {
		return nil
	}
	found, err := w.inner.Locate(ctx, device.Place{Ref: ref})
	if err != nil {
		return nil // it is then compared by its role and name
	}
	for _, candidate := range found.Candidates {
		out = append(out, candidate.Selector)
	}
	return out
}

// element returns the element of a call with a reference, nil for none, or one that is not shown.
func (w *witness) element(c trail.Call) *screen.Node {
	ref, _ := c.Args["ref"].(string)
	i := slices.IndexFunc(w.shown.Tree.Nodes(), func(n *screen.Node) bool { return ref != "" && w.shown.Ref(n) == ref })
	if i < 0 {
		return nil
	}
	return w.shown.Tree.Nodes()[i]
}
