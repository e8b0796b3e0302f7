package run

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/picture"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Healing lets somebody repair the recordings of trails that broke (specification, section 22.8).
type Healing struct {
	// Write writes repairs into the files of the trails, when all trails of the run have ended. Else they are proposals.
	Write bool
	// FailOnHealed makes the exit code of a run that wrote a repair that of a failure.
	FailOnHealed bool
	// MaxSteps is how many steps of a trail are repaired; 0 for 3.
	MaxSteps int
	// Proven is called with what a proposal makes of the trail, once that has passed. May be nil.
	Proven func(content []byte)
	// Diagnose is called for a recorded call of a step of the trail itself that failed. It returns a text that is equal
	// if a call fails for the same reason. The error says why such a call is never repaired.
	Diagnose func(ctx context.Context, b Broken) (reason string, err error)
	// Names returns the controls that the screen shows, one a line, empty if that is not known. It is called before each
	// call of the trail itself, and may wait for its element. Of a trail that passes they are kept, for a later Repair.
	Names func(ctx context.Context, s *session.Session, next trail.Call) string
	// Repair is called in a fresh session in which the same call failed for the same reason. Dir, Emit, Replay and Use are
	// those of the attempt that failed before.
	Repair func(ctx context.Context, b Broken) Repair
}

// Broken is a recorded call that failed.
type Broken struct {
	Assisted
	At     session.Step
	Step   *replay.Step
	Call   int // its index in Step.Calls
	Failed session.CallResult
	// Repaired are the indexes of steps that were repaired before.
	Repaired []int
}

// Repair is what somebody proposes in the place of a call that failed.
type Repair struct {
	Calls      []trail.Call // of the step; nil if nothing is proposed, then Err says why
	Err        error
	Broke      bool // nobody could be asked, so that the trail ends as an error
	Class, Why string
	Refused    string // why it may not be written; empty if it may when its proof passes
	// NeedsCheck says that it may be written only if one of the steps LaterChecks, by their indexes in the trail, is not
	// repaired.
	NeedsCheck  bool
	LaterChecks []int
	// NeedsReview says that it stays a proposal, even if its proof passes.
	NeedsReview bool
	Screen      string // in the text form, when the call failed
}

// The files of a repair in the folder of the session that failed.
const (
	HealPatch  = "heal.patch"
	healReport = "heal.json"
)

const (
	maxHealed = 3 // see Healing.MaxSteps
	notProven = "not made"
)

// noteNames notes the controls on the screen before a call.
func (p *replaying) noteNames(ctx context.Context, at session.Step, next trail.Call) {
	if p.Heal == nil || p.again != nil || at.Within != "" || at.Kind == trail.KindTeardown || ctx.Err() != nil || p.session.Product() == "" {
		return
	}
	if names := p.Heal.Names(ctx, p.session, next); names != "" {
		p.names = append(p.names, names)
	}
}

// keepNames keeps the controls on the screens of a trail that passed.
func (r *runner) keepNames(a attempt, screens []string) {
	dir := filepath.Join(a.evidence.dir, "screens")
	if a.evidence.dir == "" || len(screens) == 0 {
		return
	}
	err := os.MkdirAll(dir, 0o755)
	for i, names := range screens {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("screen-%02d.txt", i+1)), []byte(r.Redactor.Text(names)), 0o600)
		}
	}
	if err != nil {
		r.warnUnwritable(err)
	}
}

// broken is where and why a call failed.
type broken struct {
	step     int // index of the step in its trail, from 1
	number   string
	text     string
	call     int
	tool     string
	reason   string     // see Healing.Diagnose
	said     string     // to people
	never    error      // why it is not repaired
	recorded trail.Call // the call
	calls    int        // of the step
}

// again is a replay of a trail that broke, in a run of its own: one in which the same has to fail again, or a proof.
type again struct {
	from    *broken // what has to fail; nil for a proof
	attempt attempt // that failed before
	use     *event.ModelUse
	// repaired are the indexes of steps that were repaired before.
	repaired []int
	reached  bool // it failed
	repair   Repair
	broken   *broken // what failed otherwise
}

// repairs reports whether something has to fail again and is repaired.
func (g *again) repairs() bool { return g != nil && g.from != nil }

// callFailed notes what broke in a recorded call, and lets it be repaired in a replay that is for that. The walk never
// goes on: the proof makes the other calls.
func (p *replaying) callFailed(ctx context.Context, at session.Step, st *replay.Step, failed session.CallResult) bool {
	list := p.walk.Current
	b := Broken{Assisted: p.assistedBy(attempt{}), At: at, Step: st, Call: list.Done, Failed: failed}
	broke := &broken{
		step: st.Index, number: at.Number(), text: st.Text, call: b.Call, tool: st.Calls[b.Call].Tool, said: failed.Reason,
		recorded: st.Calls[b.Call], calls: len(st.Calls),
	}
	if broke.never = p.neverHealed(b); broke.never == nil {
		broke.reason, broke.never = p.Heal.Diagnose(ctx, b)
	}
	g := p.again
	if p.broken = broke; g != nil {
		g.broken = broke
	}
	if !g.repairs() || !broke.isSame(g.from) {
		return false
	}
	g.reached = true
	b.Assisted = p.assistedBy(g.attempt)
	b.Use, b.Repaired = g.use, g.repaired
	g.repair = p.Heal.Repair(ctx, b)
	return false
}

func (b *broken) isSame(other *broken) bool {
	return b.never == nil && b.number == other.number && b.call == other.call && b.tool == other.tool && b.reason == other.reason
}

// neverHealed returns why a call that failed is not repaired, whatever the reason.
func (p *replaying) neverHealed(b Broken) error {
	refuse := func(why string) error { return fault.New(fault.Trail, "", "%s", why) }
	switch {
	case b.Failed.Outcome != event.Failed:
		return refuse("something broke that is not the recording")
	case b.At.Within != "" || b.Step.Root != nil:
		return refuse("it is in a trail that another one uses; heal that trail by a run of its own")
	case b.At.Kind != trail.KindStep && b.At.Kind != trail.KindVerify:
		return refuse("it is in the trailhead or the teardown, or in a step without a text")
	case !b.Step.Recordable:
		return refuse("the step is never recorded")
	}
	for s := range p.plan.Leaves() {
		if s.NeedsAgent {
			return refuse("another step has no recording")
		}
	}
	return nil
}

// healing is the repair of a trail.
type healing struct {
	*runner
	attempt
	base, content []byte // of the file, before and after
	use           *event.ModelUse
	steps         []healedStep
	broke         bool // see Repair.Broke
}

// healedStep is a step with what is proposed for it.
type healedStep struct {
	*broken
	Repair
	put   []trail.Call // in the place of the call that failed
	proof string
}

// heal repairs a trail that failed, as the options allow. A result that is to be written has the repair.
func (r *runner) heal(ctx context.Context, a attempt, res trailResult) trailResult {
	b := res.broken
	if r.Heal == nil || r.again != nil || b == nil || res.Outcome != event.Failed || ctx.Err() != nil {
		return res
	}
	if b.never != nil {
		res.Reason += "\nnot healed: " + b.never.Error()
		return res
	}
	data, problems := r.trailContent(a.path)
	if len(problems) > 0 {
		return res
	}
	h := &healing{runner: r, attempt: a, base: data, content: data, use: &event.ModelUse{Mode: event.Recorded}}
	a.emit.Log("info", "heal", "replaying the trail in a fresh session, to see whether the recording broke", "")
	err := h.repair(ctx, b)
	h.use.Mode = event.Recorded // the trail has not passed so far
	res.use = res.use.Plus(h.use)
	h.leaveBehind()
	switch {
	case err != nil:
		res.Reason += fmt.Sprintf("\nnot healed, %s: %s", fault.KindOf(err), err)
		res.Hint = strings.TrimPrefix(res.Hint+"\n"+session.Hint(err), "\n")
		if h.broke {
			res.Outcome, res.Cause = event.Error, err
		}
	case h.needsReview():
		res = h.proposed(res, hintReview)
	case !r.Heal.Write:
		if r.Heal.Proven != nil {
			r.Heal.Proven(h.content)
		}
		res = h.proposed(res, "review the patch and apply it, or run with --heal write")
	default:
		res.healing = h
	}
	return res
}

// hintReview is what to do about a proposal that is not written, whatever --heal says.
const hintReview = "another element may be meant: review the patch, and apply it. Trails that pass with --heal keep what " +
	"is on their screens, which tells that the next time"

// proposed returns the result of a trail for which a repair is proposed and not written.
func (h *healing) proposed(res trailResult, hint string) trailResult {
	res.Reason += "\n" + h.proposal()
	res.Hint = strings.TrimPrefix(res.Hint+"\n"+hint, "\n")
	return res
}

// needsReview reports whether a person has to decide about a step.
func (h *healing) needsReview() bool {
	return slices.ContainsFunc(h.steps, func(s healedStep) bool { return s.NeedsReview })
}

// repair repairs a step, proves the trail, and goes on with the next step that broke, up to Healing.MaxSteps. The error
// says why the trail is not repaired.
func (h *healing) repair(ctx context.Context, b *broken) error {
	limit := cmp.Or(h.Heal.MaxSteps, maxHealed)
	for len(h.steps) < limit {
		if err := h.repairStep(ctx, b); err != nil {
			return err
		}
		s := &h.steps[len(h.steps)-1]
		if s.Refused != "" {
			return fault.New(fault.HealRefused, "review the proposal, and repair the trail by hand", "%s", h.proposal())
		}
		next, err := h.prove(ctx)
		switch {
		case err == nil:
			return h.checkLater()
		case next == nil || next.never != nil || next.step <= b.step:
			s.proof = err.Error()
			return err
		}
		b = next
	}
	return fault.New(fault.HealRefused, "record the trail again", "more than %s of it broke", text.Count(limit, "step"))
}

// repairStep replays the trail until the same call fails again, and adds what is proposed in its place.
func (h *healing) repairStep(ctx context.Context, b *broken) error {
	g := &again{from: b, attempt: h.attempt, use: h.use}
	for _, s := range h.steps {
		g.repaired = append(g.repaired, s.step)
	}
	ended, err := h.replay(ctx, g)
	switch {
	case err != nil:
		return err
	case !g.reached && ended.Outcome == event.Passed:
		return fault.New(fault.NotReproduced, "--retries repeats trails that fail now and then", "the trail passed in a fresh session, so nothing of it is repaired")
	case !g.reached:
		return fault.New(fault.NotReproduced, "", "the trail failed for another reason in a fresh session: %s", ended.Reason)
	case g.repair.Err != nil:
		h.broke = g.repair.Broke
		return g.repair.Err
	}
	s := healedStep{broken: b, Repair: g.repair, proof: notProven}
	if end := len(s.Calls) - (b.calls - b.call - 1); end > b.call {
		s.put = s.Calls[b.call:end]
	}
	if h.content, err = h.patched(s); err != nil {
		return err
	}
	h.steps = append(h.steps, s)
	return nil
}

// patched returns the content of the file with the calls of a step replaced.
func (h *healing) patched(s healedStep) ([]byte, error) {
	name, index := h.path, s.step-1
	file, problems := trail.Parse(name, h.content)
	if len(problems) > 0 {
		return nil, problems
	}
	recorded, _ := file.AllSteps()[index].Recorded(h.Lineage)
	added := len(s.put) - 1
	if added < 0 {
		return h.content, nil // the guard has refused it
	}
	data, _, err := trail.Revise(name, h.content, func(v *trail.Revision) error {
		v.SetCall(index, recorded.Classifier, s.call, s.put[added])
		return nil
	})
	if err != nil || added == 0 {
		return data, err
	}
	data, _, err = trail.Revise(name, data, func(v *trail.Revision) error {
		v.InsertCalls(index, recorded.Classifier, s.call, s.put[:added])
		return nil
	})
	return data, err
}

// prove replays the repaired trail. With an error it did not pass, and next is what broke in it, if that is known.
func (h *healing) prove(ctx context.Context) (next *broken, err error) {
	g := &again{}
	ended, err := h.replay(ctx, g)
	if err == nil && ended.Outcome != event.Passed {
		err = fault.New(fault.HealRefused, ended.Hint, "the repaired trail does not pass: %s", ended.Reason)
	}
	for i := range h.steps {
		if h.steps[i].proof = string(event.Passed); err != nil {
			h.steps[i].proof = notProven
		}
	}
	return g.broken, err
}

// checkLater returns an error if a step was repaired for which no later check speaks.
func (h *healing) checkLater() error {
	for i := range h.steps {
		s := &h.steps[i]
		speaks := slices.ContainsFunc(s.LaterChecks, func(later int) bool {
			return !slices.ContainsFunc(h.steps, func(other healedStep) bool { return other.step == later })
		})
		if s.NeedsCheck && !speaks {
			s.Refused = "no later step checks that something is there, so nobody knows whether it is the right element"
			return fault.New(fault.HealRefused, "add a verify step, or repair the trail by hand", "%s", h.proposal())
		}
	}
	return nil
}

// replay replays the trail as it is now in a fresh session.
func (h *healing) replay(ctx context.Context, g *again) (event.TrailFinished, error) {
	if h.Reset != nil && h.workers(2) == 1 { // else other trails run
		if err := h.Reset(ctx); err != nil {
			return event.TrailFinished{}, err
		}
	}
	return h.replayContent(ctx, h.attempt, h.path, h.content, func(o *Options) {
		o.WithoutTasks, o.again, o.Screenshots, o.Trace, o.RepeatEach, o.MaxFailures = true, g, picture.UpdateNone, config.TraceOff, 0, 0
		if o.Evidence == EvidenceAlways { // a later heal compares with what was kept of the trail as it is
			o.Evidence = EvidenceOnFailure
		}
	})
}

// proposal says what is proposed, and where it is.
func (h *healing) proposal() string {
	var lines []string
	for _, s := range h.steps {
		line := fmt.Sprintf("step %d %q, %s: %s: %s", s.step, s.text, s.tool, s.Class, s.Why)
		if s.Refused != "" {
			line += "; refused: " + s.Refused
		}
		lines = append(lines, line)
	}
	at := filepath.Join(h.evidence.dir, HealPatch)
	if below, err := filepath.Rel(h.Cwd, at); err == nil {
		at = below
	}
	return "healing proposes: " + strings.Join(lines, "\n  ") + "; see " + filepath.ToSlash(at)
}

// healRecord is what the report of a repair has of a step.
type healRecord struct {
	event.HealProposed
	Text   string   `json:"text"`
	Reason string   `json:"reason"`
	Before any      `json:"before"` // the call that failed
	After  []any    `json:"after"`  // the calls in its place
	Screen []string `json:"screen"`
}

// asWritten returns a call as a file has it, without its options and secrets.
func (h *healing) asWritten(c trail.Call) any {
	return h.Redactor.Value(map[string]any{c.Tool: c.Args})
}

// leaveBehind writes the patch and the report of the repair, and reports each step.
func (h *healing) leaveBehind() {
	if len(h.steps) == 0 {
		return
	}
	report := struct {
		Trail string       `json:"trail"`
		Steps []healRecord `json:"steps"`
	}{Trail: h.name()}
	for _, s := range h.steps {
		e := event.HealProposed{
			Step: s.number, Call: s.call + 1, Tool: s.tool, Class: s.Class, Why: s.Why, Guard: s.Refused, Proof: s.proof, File: HealPatch,
		}
		h.emit.Emit(e)
		record := healRecord{
			HealProposed: e, Text: s.text, Reason: s.said, Before: h.asWritten(s.recorded),
			Screen: strings.Split(h.Redactor.Text(s.Screen), "\n"),
		}
		for _, c := range s.put {
			record.After = append(record.After, h.asWritten(c))
		}
		report.Steps = append(report.Steps, record)
	}
	data, err := json.MarshalIndent(report, "", "  ")
	for name, text := range map[string]string{healReport: string(data) + "\n", HealPatch: h.patch()} {
		if err == nil {
			err = os.WriteFile(filepath.Join(h.evidence.dir, name), []byte(h.Redactor.Text(text)), 0o600)
		}
	}
	if err != nil {
		h.warnUnwritable(err)
	}
}

// patch returns the change of the file for `git apply` in the root of the project.
func (h *healing) patch() string {
	name, err := filepath.Rel(h.Project.Root, h.resolve(h.path))
	if err != nil {
		name = h.path
	}
	name = filepath.ToSlash(name)
	return udiff.Unified("a/"+name, "b/"+name, string(h.base), string(h.content))
}

// held is a case that ends when its repair was written.
type held struct {
	testCase
	res    trailResult
	finish func(trailResult) trailResult
}

// hold keeps a case until all others have ended.
func (r *runner) hold(c testCase, res trailResult, finish func(trailResult) trailResult) trailResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = append(r.held, held{c, res, finish})
	res.held = true
	return res
}

// writeHealed writes repairs into the files of trails, in the order of their paths, and ends their cases.
func (r *runner) writeHealed(ctx context.Context) {
	slices.SortStableFunc(r.held, func(a, b held) int {
		if order := strings.Compare(a.path, b.path); order != 0 {
			return order
		}
		return a.n - b.n
	})
	for _, c := range r.held {
		r.count(c.testCase, c.finish(c.res.healing.write(ctx, c.res)))
	}
}

// write writes the repair of a trail, and returns how the trail has ended with that.
func (h *healing) write(ctx context.Context, res trailResult) trailResult {
	path := h.resolve(h.path)
	now, err := os.ReadFile(path)
	switch {
	case err != nil:
	case ctx.Err() != nil:
		err = fault.New(fault.HealRefused, "apply the patch", "the run was interrupted")
	case bytes.Equal(now, h.content): // by another row or repetition
	case !bytes.Equal(now, h.base):
		err = fault.New(fault.HealRefused, "apply the patch, or run again", "the file was changed meanwhile")
	default:
		err = ReplaceFile(path, h.content)
	}
	if err != nil {
		res.Reason += fmt.Sprintf("\n%s\nit was not written: %s", h.proposal(), err)
		return res
	}
	out := passed()
	for i, s := range h.steps {
		if i > 0 {
			out.Reason += ", "
		}
		out.Reason += fmt.Sprintf("step %d %s", s.step, s.Class)
	}
	out.attempts, out.earlier, out.product, out.duration, out.use = res.attempts, res.earlier, res.product, res.duration, res.use
	out.use = out.use.Plus(&event.ModelUse{Mode: event.Healed})
	out.healed = len(h.steps)
	return out
}

// replayContent replays content in place of a trail file in a run of its own, and returns how that ended. Nobody else
// receives its events.
func (r *runner) replayContent(ctx context.Context, a attempt, path string, data []byte, change func(*Options)) (ended event.TrailFinished, err error) {
	o := r.Options
	o.Stream = event.NewStream(r.Now, r.Redactor, event.HandlerFunc(func(rec event.Record) {
		if e, ok := rec.Event.(event.TrailFinished); ok {
			ended = e
		}
	}))
	o.Contents = map[string][]byte{}
	maps.Copy(o.Contents, r.Contents)
	o.Contents[r.resolve(path)] = data
	o.Paths, o.Devices, o.Record, o.Proof = []string{path}, []session.Device{a.device.Device}, "", true
	o.Tags, o.Grep, o.Last, o.Shard, o.Retries, o.Workers = nil, "", nil, Shard{}, 0, 0
	if a.row.n > 0 {
		o.ArgRows = r.ArgRows[a.row.n-1:][:1]
	}
	o.WithoutHistory, o.BeforeTrails = true, nil
	change(&o)
	_, err = Run(ctx, o)
	if err == nil && ended.Outcome == "" {
		err = fault.New(fault.Bug, "", "the replay of the recording did not start")
	}
	return ended, err
}
