package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/model"
	"github.com/trailblaze/trailblaze/pkg/pagetext"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// run is a task that is being carried out.
type run struct {
	agent   *Agent
	session Session
	task    Task
	budget  *Budget
	now     func() time.Time
	begun   time.Time

	box      live.Toolbox
	offer    *offer
	secrets  []string        // names
	memory   map[string]bool // names that had a value when the task began
	verify   *verification   // nil for a step
	planning *planning       // nil for a task

	// The transcript.
	nonce   pagetext.Nonce
	shown   *shownElements
	blocks  []model.Block
	sent    int      // of blocks, in the last request
	lines   []string // the turns, in short
	history []string // what was proposed on which screen
	silent  int      // answers in a row without a call that could be read
	picture []byte   // for the next request

	baseline, screen lines // when the task began, and now
	at               string
	acted, checked   bool     // a call that does something has succeeded, or a check
	typed            []string // texts that calls have typed since the task began, folded

	used     Used
	turns    []Turn
	warnings []string
}

// ending is how a task ended: passed without an error. broken says that the failure is not one of the task.
type ending struct {
	err    *fault.Error
	broken bool
}

func failed(kind fault.Kind, hint, format string, args ...any) *ending {
	return &ending{err: fault.New(kind, hint, format, args...)}
}

// broke returns the ending for an error of the session, the model or the caller.
func broke(err error) *ending {
	e := fault.As(err)
	if e == nil {
		e = fault.Wrap(fault.KindOf(err), err, "", "carrying out the task")
	}
	return &ending{err: e, broken: true}
}

// do carries out the task, and begins it again after it failed, as often as it allows.
func (r *run) do(ctx context.Context) (last ending) {
	if err := r.prepare(ctx); err != nil {
		return *broke(err)
	}
	for retry := range r.task.MaxRetries + 1 {
		last = r.attempt(ctx)
		if last.err == nil || last.broken || last.err.Kind == OverBudget || retry == r.task.MaxRetries {
			break
		}
	}
	if unmet := r.verify.unmet(); unmet != "" && last.err != nil && !last.broken {
		last.err = fault.New(last.err.Kind, "if the app is right, correct the text of the verify", "%s; %s", unmet, last.err.Message)
	}
	return last
}

// prepare reads what the session offers and knows.
func (r *run) prepare(ctx context.Context) error {
	box, err := r.session.Toolbox(ctx)
	if err != nil {
		return err
	}
	r.box = box
	if r.agent.offers[r.task.Kind] == nil && r.planning == nil {
		r.agent.offers[r.task.Kind] = newOffer(r.task.Kind, box, r.agent.opts.Context)
	}
	if r.offer = r.agent.offers[r.task.Kind]; r.planning != nil {
		r.offer = planOffer(r.agent.opts.Context)
	}
	status, err := r.session.Status(ctx)
	if err != nil {
		return err
	}
	r.secrets, r.memory = status.Secrets, map[string]bool{}
	for _, name := range status.Memory {
		r.memory[name] = true
	}
	if r.task.Kind == trail.KindVerify {
		r.verify = &verification{
			allowed: r.agent.opts.Replaced - r.agent.replaced, given: slices.Concat(status.Given, status.Secrets),
			remembered: r.agent.remembered, written: map[string]bool{},
		}
	}
	return nil
}

// attempt carries out the task with a new transcript.
func (r *run) attempt(ctx context.Context) ending {
	if err := r.start(ctx); err != nil {
		return *broke(err)
	}
	for {
		if end := r.turn(ctx); end != nil {
			return *end
		}
	}
}

// turn makes a request and what it proposes. It returns nil unless the task has ended.
func (r *run) turn(ctx context.Context) *ending {
	request := r.request()
	reserved, err := r.checkBudget(request)
	if err != nil {
		return &ending{err: fault.As(err)}
	}
	at := Progress{Task: request.Task, Request: r.used.Requests + 1, Used: r.agent.Used()}
	r.notify(at)
	turn := Turn{Sent: slices.Clone(request.Blocks[r.sent:])}
	r.sent, r.picture = len(r.blocks), nil
	r.exchange(ctx, request, reserved, &turn)
	end := r.failedRequest(ctx, turn.Err)
	if end == nil {
		turn.Result, end = r.answered(ctx, turn.Answer)
	}
	r.turns = append(r.turns, turn)
	at.Turn, at.Used = &turn, r.agent.Used()
	r.notify(at)
	return end
}

// exchange makes a request, for which a cost is reserved, and adds its answer to a turn and what it took to what was used.
func (r *run) exchange(ctx context.Context, request model.Request, reserved float64, turn *Turn) {
	begun := r.now()
	turn.Answer, turn.Usage, turn.Err = r.ask(ctx, request)
	turn.Took = r.now().Sub(begun)
	if cost := r.agent.opts.Cost; cost != nil {
		turn.Cost = cost(turn.Usage)
	}
	r.budget.settle(reserved, turn.Cost)
	r.used.add(turn.Usage, turn.Cost)
	r.agent.addUsed(turn.Usage, turn.Cost)
}

func (r *run) notify(p Progress) {
	if r.agent.opts.Notify != nil {
		r.agent.opts.Notify(p)
	}
}

// errTime is the cause of the end of a request at the limit of time for a step.
var errTime = errors.New("the time for the step is over")

// withinStep returns a context that ends with the time for the step, with the cause errTime.
func (r *run) withinStep(ctx context.Context) (context.Context, context.CancelFunc) {
	if limit := r.budget.limits.TimePerStep; limit > 0 {
		return context.WithTimeoutCause(ctx, limit-r.now().Sub(r.begun), errTime)
	}
	return ctx, func() {}
}

// ask sends a request, which ends with the time for the step. If the provider has failed until then, that is the error.
func (r *run) ask(ctx context.Context, request model.Request) (model.Answer, model.Usage, error) {
	ctx, cancel := r.withinStep(ctx)
	defer cancel()
	answer, usage, err := r.agent.opts.Model.Ask(ctx, request)
	if err != nil && fault.As(err) == nil && errors.Is(context.Cause(ctx), errTime) {
		err = errTime
	}
	return answer, usage, err
}

// failedRequest returns how the task ends because of the error of a request, or of calls; nil without one.
func (r *run) failedRequest(ctx context.Context, err error) *ending {
	switch {
	case ctx.Err() != nil:
		return broke(fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "carrying out the task"))
	case errors.Is(err, errTime):
		return failed(OverBudget, "raise the budget, or make the step smaller", "the time for a step, %s, is over", r.budget.limits.TimePerStep)
	case err != nil:
		return broke(err)
	}
	return nil
}

// answered makes what an answer proposes, and adds a block that says what became of it.
func (r *run) answered(ctx context.Context, answer model.Answer) (result string, end *ending) {
	if answer.End == model.Refused {
		return "refused", failed(Refused, "change the text of the step, or use another model", "the model refused: %q", brief(answer.Text, 300))
	}
	if answer.End == model.CutOff || len(answer.Calls) == 0 {
		return r.reminded(ctx, answer)
	}
	r.silent = 0
	if r.planning != nil {
		return r.planned(ctx, answer.Calls)
	}
	calls, problems := r.read(answer.Calls)
	repeated := r.repeated(answer.Calls)
	if repeated >= 3 {
		return "stuck", failed(Stuck, "say in the step what is to be done, or record it", "the model proposed the same calls on the same screen three times: %s",
			brief(callNames(answer.Calls), 100))
	}
	if len(problems) > 0 {
		result = "No call was made:\n" + strings.Join(problems, "\n")
		end = r.tell(ctx, result, "no call was made: "+words(problems), "", maxTurn, repeated)
		return result, end
	}
	return r.makeCalls(ctx, calls, repeated)
}

// reminded says that an answer had no call that can be made. Two of them in a row fail the task.
func (r *run) reminded(ctx context.Context, answer model.Answer) (string, *ending) {
	what := "the answer had no call"
	if answer.End == model.CutOff {
		what = "the answer was cut off, and no call of it was made"
	}
	if r.silent++; r.silent == 2 {
		return what, failed(NoCall, "raise maxOutputTokens, or use a model that calls tools", "%s, twice in a row", what)
	}
	result := what + ". Answer with calls of the tools, and end with step_done"
	if r.planning != nil {
		result = what + ". Answer with a call of " + planTool
	}
	return result, r.tell(ctx, result, what, "", maxTurn, 0)
}

// tell adds the block of a turn: what became of it, in the words of trailblaze, and what the app shows.
func (r *run) tell(ctx context.Context, result, line, page string, limit, repeated int) *ending {
	head := fmt.Sprintf("TURN %d\n%s", len(r.lines)+1, pagetext.CutLines(result, maxTurn-100, "first correct these"))
	if repeated == 2 {
		head += "\nThe same as before on the same screen. Do something else, or end with failed."
	}
	if page != "" {
		head += "\n" + page
	}
	if err := r.addTurn(ctx, pagetext.Cut(head, max(limit, maxTurn)), line); err != nil {
		return broke(err)
	}
	return nil
}

// repeated returns how many times in a row the last turns, up to three, were the same on the same screens.
func (r *run) repeated(calls []model.Call) (most int) {
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "%s %s %s\n", c.Name, c.Args, c.Problem)
	}
	r.history = append(r.history, fmt.Sprint(b.String(), r.at, r.screen))
	for cycle := 1; cycle <= 3; cycle++ {
		last := r.history[max(0, len(r.history)-cycle):]
		n := 0
		for rest := r.history; len(rest) >= cycle && slices.Equal(rest[len(rest)-cycle:], last); rest = rest[:len(rest)-cycle] {
			n++
		}
		most = max(most, n)
	}
	return most
}

func callNames(calls []model.Call) string {
	var names []string
	for _, c := range calls {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

// made is what became of the calls of an answer.
type made struct {
	report live.StepReport // of its calls but step_done
	page   pagetext.Page   // what was looked at
	whole  bool            // page has the whole screen
	notes  []string        // in the words of trailblaze
	acted  bool            // a call was made that is not a check
}

// makeCalls makes calls in order, up to the first that fails or that leads elsewhere, and ends the task if they say so.
func (r *run) makeCalls(ctx context.Context, calls []call, repeated int) (result string, end *ending) {
	var m made
	var claim *done
	for len(calls) > 0 && m.report.OK() {
		if claim = calls[0].done; claim != nil {
			break
		}
		n, err := r.makeSome(ctx, calls, &m)
		if err != nil {
			return "", r.failedRequest(ctx, err)
		}
		calls = calls[n:]
	}
	if claim == nil {
		for _, c := range calls {
			m.report.Calls = append(m.report.Calls, live.CallReport{Tool: c.name()})
		}
	}
	if err := r.readAfter(ctx, &m); err != nil {
		return "", broke(err)
	}
	if claim != nil {
		missing, end := r.ended(ctx, *claim, m.acted)
		if end != nil {
			return doneTool + " " + claim.Status, end
		}
		m.notes = append(m.notes, doneTool+" does not count: "+missing)
	}
	result = strings.TrimPrefix(strings.Join(append([]string{pagetext.Status(m.report)}, m.notes...), "\n"), "\n")
	limit := maxTurn
	if m.whole {
		limit = maxScreen
	}
	const others = 200 // the number of the turn, the marks, and a hint
	room := limit - min(len(result), maxTurn/2) - others
	page := pagetext.Report(m.report, room, "look shows it")
	page.Append(m.page)
	return result, r.tell(ctx, pagetext.CutLines(result, maxTurn/2, "first correct these"), result,
		page.Bounded(room, "look shows it").Marked(r.nonce), limit, repeated)
}

func (c call) name() string {
	switch {
	case c.look != nil:
		return lookTool
	case c.done != nil:
		return doneTool
	}
	return c.Tool
}

// makeSome makes the first of some calls, or the first ones as one request. It returns how many it took.
func (r *run) makeSome(ctx context.Context, calls []call, m *made) (n int, err error) {
	if calls[0].look != nil {
		return 1, r.lookAt(ctx, *calls[0].look, m)
	}
	request := live.StepRequest{Text: r.task.Text, Kind: r.task.Kind, StopOnPageChange: true, Unrecorded: !r.task.Recordable}
	for _, c := range calls {
		if c.tool == nil || r.verify != nil && n == 1 { // each check may be refused for other reasons
			break
		}
		request.Calls = append(request.Calls, c.Call)
		n++
	}
	if r.verify != nil {
		r.verify.replaceBy(request.Calls[0])
		request.Refuse = r.verify.refuse(request.Calls[0])
	}
	limited, cancel := r.withinStep(ctx)
	defer cancel()
	report, err := r.session.Step(limited, request)
	if errors.Is(context.Cause(limited), errTime) {
		return n, errTime
	}
	switch kind := fault.KindOf(err); {
	case err != nil && slices.Contains([]fault.Kind{fault.InvalidArguments, fault.PermissionDenied, fault.UnknownTool, fault.UnknownValue}, kind):
		m.notes = append(m.notes, brief(strings.Join(append([]string{err.Error()}, fault.Hints(err)...), "; "), pagetext.MaxFailure))
		for _, c := range request.Calls {
			report.Calls = append(report.Calls, live.CallReport{Tool: c.Tool})
		}
	case err != nil:
		return n, err
	}
	if err := r.note(ctx, calls[:n], request, report, m); err != nil {
		return n, err
	}
	m.report = joined(m.report, report)
	return n, nil
}

// joined returns two reports, one after the other, as one.
func joined(a, b live.StepReport) live.StepReport {
	b.Calls, b.Events, b.Messages = slices.Concat(a.Calls, b.Calls), slices.Concat(a.Events, b.Events), slices.Concat(a.Messages, b.Messages)
	b.Warnings, b.OtherDocument = slices.Concat(a.Warnings, b.Warnings), a.OtherDocument || b.OtherDocument
	if b.Changes == "" {
		b.Changes = a.Changes
	}
	return b
}

// note notes what calls say about the task. The error is for a session that cannot be used any more.
func (r *run) note(ctx context.Context, calls []call, request live.StepRequest, report live.StepReport, m *made) error {
	wrote := false
	for i, c := range calls {
		done := report.Calls[i]
		if done.Made && done.Outcome == event.Error {
			return fault.New(done.Kind, done.Hint, "%s: %s", c.Tool, done.Text)
		}
		if r.verify != nil {
			note, warning := r.verify.made(c.Call, done, request.Refuse)
			m.notes = appendSome(m.notes, note)
			r.warnings = appendSome(r.warnings, warning)
		}
		isCheck := r.isCheck(c)
		m.acted = m.acted || done.Made && !isCheck
		r.acted = r.acted || done.OK && !isCheck && doesSomething(c)
		r.checked = r.checked || done.OK && isCheck
		wrote = wrote || done.Made && c.tool.Source.Kind != tool.FromDevice
		if done.Made {
			r.remember(c)
			r.noteTyped(c)
		}
		if done.Kind == "stale_ref" { // it names what is near
			r.shown.showMessage(done.Text)
		}
	}
	r.shown.showLines(report.Changes)
	if !wrote || r.verify == nil {
		return nil
	}
	status, err := r.session.Status(ctx)
	if err != nil {
		return err
	}
	for _, name := range status.Memory {
		if !r.memory[name] {
			r.verify.written[name] = true
		}
	}
	r.verify.given = slices.Concat(status.Given, status.Secrets)
	return nil
}

// isCheck reports whether a call checks something. What tools of the project do is known by their names only.
func (r *run) isCheck(c call) bool {
	return slices.Contains(r.box.Checks, c.Tool) && (!c.tool.Source.Kind.OfProject() || checksByName().MatchString(c.Tool))
}

// noteTyped notes the texts that a call may have typed, with the values of their tokens.
func (r *run) noteTyped(c call) {
	for _, arg := range []string{"text", "value"} {
		text, isText := c.Args[arg].(string)
		if !isText || c.tool.Source.Kind != tool.FromDevice || r.isCheck(c) {
			continue
		}
		r.typed = append(r.typed, fold(text))
		for _, name := range trail.TokenNames(text) {
			r.typed = append(r.typed, fold(r.task.Memory[name]))
		}
	}
}

// remember notes the name that a call gives a value in memory.
func (r *run) remember(c call) {
	if name := tool.Remembered(c.Tool, c.Args); name != "" {
		r.agent.remembered[name] = true
	}
}

func appendSome(list []string, text string) []string {
	if text == "" {
		return list
	}
	return append(list, text)
}

// onlyReads matches the names of commands that wait or read.
var onlyReads = lazyregexp.New(`^(?:web_|mobile_)?(?:wait|get|is[A-Z]|has[A-Z]|list|find|current|capture|snapshot|takeSnapshot)`)

// doesSomething reports whether a call that succeeded is evidence that a step was carried out.
func doesSomething(c call) bool {
	return c.tool.Source.Kind.OfProject() || c.tool.Source.Kind == tool.FromDevice && !onlyReads().MatchString(c.Tool)
}

// lookAt shows what the model asks for.
func (r *run) lookAt(ctx context.Context, l look, m *made) error {
	m.report.Calls = append(m.report.Calls, live.CallReport{Tool: lookTool, Made: true, OK: true})
	if l.Image {
		why, err := r.takePicture(ctx)
		if err != nil || l.Find+l.Within == "" {
			m.notes = appendSome(m.notes, why)
			return err
		}
		m.notes = appendSome(m.notes, why)
	}
	o := live.SnapshotOptions{Find: l.Find, Within: l.Within, MaxBytes: maxScreen - 900}
	if l.Find != "" {
		o.MaxBytes = maxTurn / 2
	}
	shot, err := r.session.Snapshot(ctx, o)
	if err != nil {
		if e := fault.As(err); e != nil && slices.Contains([]fault.Kind{"stale_ref", fault.InvalidArguments, fault.ToolFailed}, e.Kind) {
			last := &m.report.Calls[len(m.report.Calls)-1]
			last.OK, last.Kind, last.Text, last.Hint = false, e.Kind, e.Message, e.Hint
			return nil
		}
		return err
	}
	if l.Find != "" && shot.Text == "" {
		m.notes = append(m.notes, "nothing on the screen has this text")
		return nil
	}
	m.page.Append(r.screenPage(shot))
	m.whole = m.whole || l.Find == ""
	return nil
}

// readAfter reads the screen after calls. Another document is shown whole.
func (r *run) readAfter(ctx context.Context, m *made) error {
	if m.report.OtherDocument {
		shot, err := r.session.Snapshot(ctx, live.SnapshotOptions{MaxBytes: maxScreen - 900})
		if err != nil {
			return err
		}
		m.report.Changes, m.whole = "", true
		m.page = r.screenPage(shot)
	}
	_, err := r.readScreen(ctx)
	return err
}

// ended returns how the task ends by a claim of the model, or what is missing for that.
func (r *run) ended(ctx context.Context, d done, acted bool) (missing string, end *ending) {
	why := brief(r.output(d.Why), 300)
	switch {
	case d.Status == statusFailed:
		return "", failed(NotDone, "carry out the step by hand to see why", "the model says: %q", why)
	case d.Status == statusNothing && r.task.Recordable:
		return "", failed(NotDone, "mark the step with `recordable: false` if there may be nothing to do", "the model says that there is nothing to do: %q", why)
	case d.Status == statusNothing:
		r.warnings = append(r.warnings, fmt.Sprintf("there was nothing to do: %q", why))
		return "", &ending{}
	case r.verify != nil:
		missing = r.verify.missing()
	case !r.acted && (!r.checked || d.Expect == ""):
		missing = "no call of this task has done anything; if there was only to wait for something, give it as expect"
	case d.Expect == "" && acted:
		missing = "beside actions it needs expect, a text that they bring on the screen"
	case d.Expect != "" && slices.ContainsFunc(r.typed, func(text string) bool { return strings.Contains(text, fold(d.Expect)) }):
		missing = fmt.Sprintf("%q was typed in this task; expect what the app does with it, or end without expect when you see what changed", brief(d.Expect, 100))
	case d.Expect != "":
		shown, err := r.awaitGain(ctx, d.Expect)
		if err != nil {
			return "", r.failedRequest(ctx, err)
		}
		if !shown {
			missing = fmt.Sprintf("%q is in no line of the screen that was added or changed since the task began", brief(d.Expect, 100))
		}
	}
	if missing != "" {
		return missing, nil
	}
	return "", &ending{}
}

// awaitGain waits until a text is on the screen that was not there when the task began, such as after a page was loaded.
// It reports whether it is. The error is errTime, or one of the session.
func (r *run) awaitGain(ctx context.Context, text string) (bool, error) {
	limited, cancel := r.withinStep(ctx)
	defer cancel()
	gained := func() bool { return r.screen.gained(r.baseline, text) }
	shown, err := act.Await(limited, cmp.Or(r.agent.opts.ExpectLimit, 5*time.Second), 100*time.Millisecond, func() (bool, error) {
		if gained() {
			return true, nil
		}
		_, err := r.readScreen(limited)
		return err == nil && gained(), err
	})
	if errors.Is(context.Cause(limited), errTime) {
		err = errTime
	}
	return shown, err
}
