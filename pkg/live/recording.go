package live

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// continues reports whether a request belongs to a step. A trailhead is a step for callers.
func (s *Session) continues(r StepRequest, step *replay.Step) bool {
	if r.step != nil {
		return step == r.step
	}
	sameKind := step.Kind == r.Kind || step.Kind == trail.KindTrailhead && r.Kind == trail.KindStep
	return sameKind && s.name(r.Kind, step.Text) == s.name(r.Kind, r.Text)
}

// name returns the name of a step. Callers may have its text as it is shown, without secrets.
func (s *Session) name(kind, text string) stepName {
	return stepName{kind, s.text(strings.TrimSpace(text))}
}

// place returns the index of the step that a request continues or adds.
func (s *Session) place(r StepRequest) int {
	l := s.walk.Current
	switch {
	case l.Next < len(l.Steps) && s.continues(r, l.Steps[l.Next]): // the one at which a replay stopped
		return l.Next
	case l.Next > 0 && s.continues(r, l.Steps[l.Next-1]):
		return l.Next - 1
	}
	return l.Next
}

// add adds recorded calls to the step at an index, which it makes if the request does not continue one. It returns what
// the caller has to know about it, "" for nothing.
func (s *Session) add(index int, r StepRequest, calls []trail.Call) (warning string) {
	s.unsaved = true
	l := s.walk.Current
	if index == len(l.Steps) || !s.continues(r, l.Steps[index]) {
		added := trail.Step{Kind: r.Kind, Text: strings.TrimSpace(r.Text), Recordable: true}
		l.Steps = slices.Insert(l.Steps, index, &replay.Step{Step: added, Changed: true})
		l.Next = index + 1
	}
	step := l.Steps[index]
	if index == l.Next {
		return s.repair(step, calls)
	}
	step.Calls, step.Changed = append(step.Calls, calls...), true
	return ""
}

// repair replaces the failing call of the next step by calls that were made, and drops those of the calls after it that
// were made too. A check that failed is replaced only by another check; else it stays and is made again. The step
// counts as done when none of its calls is left.
func (s *Session) repair(step *replay.Step, calls []trail.Call) (warning string) {
	l := s.walk.Current
	rest := step.Calls[l.Done:]
	again := repeated(calls, rest)
	if l.Failing && again == 0 {
		isCheck := func(c trail.Call) bool { return s.isCheckIn(step.Kind, c) }
		if isCheck(rest[0]) && !slices.ContainsFunc(calls, isCheck) {
			warning = "the check that failed, " + rest[0].Tool + ", stays and is made again; another check replaces it"
		} else {
			rest = rest[1:]
			again = repeated(calls, rest)
		}
	}
	made := slices.Concat(calls[:len(calls)-again], withOptions(rest[:again], calls[len(calls)-again:]))
	rest = rest[again:]
	step.Calls, step.Changed = slices.Concat(step.Calls[:l.Done], made, rest), true
	l.Done += len(made)
	l.Failing = false
	if warning == "" && !step.Recordable {
		warning = "the step is recordable: false, so these calls are made but not saved"
	}
	if len(rest) == 0 {
		l.Advance()
	}
	return warning
}

// isCheckIn reports whether a call in a step of a kind checks something. What tools of the project do is not known; in
// a verify step they count as checks.
func (s *Session) isCheckIn(kind string, call trail.Call) bool {
	t, err := s.tools().Find(call.Tool)
	if err != nil {
		return kind == trail.KindVerify
	}
	known := t.Source.Kind == tool.FromDevice || t.Source.Kind == tool.FromBuiltin
	return s.isCheck(t) && (known || kind == trail.KindVerify)
}

// checkVerifySteps returns an error when a verify step would be written without a call that checks something, unless it
// has none in the trail that is repaired either.
func (s *Session) checkVerifySteps(steps []*replay.Step) error {
	for i, step := range steps {
		checks := func(calls []trail.Call) bool {
			return slices.ContainsFunc(calls, func(c trail.Call) bool { return s.isCheckIn(step.Kind, c) && !c.Optional })
		}
		if step.Kind != trail.KindVerify || !step.Changed || len(step.Calls) == 0 || checks(step.Calls) {
			continue
		}
		if before, _ := step.Lookup(s.opts.Lineage); len(before) > 0 && !checks(before) {
			continue
		}
		return fault.New(fault.Misuse, "make a call such as assertVisible in a verify step with the same text, or drop the step",
			"step %d %q is a verify step without a call that checks something and can fail", i+1, step.Text)
	}
	return nil
}

// noText stands in the recording for the text of a step that gets it later.
const noText = "(no text yet)"

// waitsForText reports whether a step gets its text later, see [StepRequest.TextLater].
func waitsForText(step *replay.Step) bool {
	return step.Text == "" && (step.Kind == trail.KindStep || step.Kind == trail.KindVerify)
}

// checkTexts returns an error when a step with calls has not got its text.
func checkTexts(steps []*replay.Step) error {
	for i, step := range steps {
		if !waitsForText(step) || len(step.Calls) == 0 {
			continue
		}
		var tools []string
		for _, c := range step.Calls {
			tools = append(tools, c.Tool)
		}
		return fault.New(fault.Misuse, "say in plain language what the calls do, such as: Sign in",
			"step %d has no text; it calls %s", i+1, strings.Join(tools, ", "))
	}
	return nil
}

// withoutReferences returns the calls that do not name an element by a reference of the session, which a replay does
// not know, and says in the report which ones do.
func withoutReferences(calls []trail.Call, report *StepReport) []trail.Call {
	return slices.DeleteFunc(slices.Clone(calls), func(c trail.Call) bool {
		ref := reference(c.Args)
		if ref != "" {
			report.Warnings = append(report.Warnings, c.Tool+" names an element by a reference, "+ref+
				", which a replay does not know; its call is left out of the recording")
		}
		return ref != ""
	})
}

// reference returns the first reference of a live session in arguments, "" for none.
func reference(value any) string {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if text, ok := v[key].(string); ok && (key == "ref" || key == "within") && screen.IsReference(text) {
				return text
			}
			if found := reference(v[key]); found != "" {
				return found
			}
		}
	case []any:
		for _, item := range v {
			if found := reference(item); found != "" {
				return found
			}
		}
	}
	return ""
}

// repeated returns how many of the first calls of rest are the last ones of calls.
func repeated(calls, rest []trail.Call) int {
	for n := min(len(calls), len(rest)); n > 0; n-- {
		if slices.EqualFunc(calls[len(calls)-n:], rest[:n], sameCall) {
			return n
		}
	}
	return 0
}

// withOptions returns calls as they are in a file, with the options that were given when they were made again.
func withOptions(calls, made []trail.Call) []trail.Call {
	out := slices.Clone(calls)
	for i := range out {
		out[i].Timeout = cmp.Or(made[i].Timeout, out[i].Timeout)
		out[i].Optional = out[i].Optional || made[i].Optional
		out[i].Soft = out[i].Soft || made[i].Soft
	}
	return out
}

// sameCall reports whether calls do the same, with whatever options.
func sameCall(a, b trail.Call) bool {
	return a.Tool == b.Tool && a.SaveAs == b.SaveAs && reflect.DeepEqual(a.Args, b.Args)
}

// Edit changes the recording. Only what is set is done, in the order of the fields. Steps are numbered from 1, and
// calls as step.call.
type Edit struct {
	Replace *Replace `json:"replace,omitempty"`
	Drop    string   `json:"drop,omitempty"` // a step such as 2, or a call such as 2.1
	Reword  *Reword  `json:"reword,omitempty"`
	Move    *Move    `json:"move,omitempty"`
	// NotPassed is a step whose calls do not do all that its text says, because the task of a model did not pass. Saving
	// warns of it, until a request for the step succeeds. 0 for none.
	NotPassed int `json:"notPassed,omitempty"`
}

// Reword gives a step another text.
type Reword struct {
	Step int    `json:"step"`
	Text string `json:"text"`
}

// Move moves a step to the place of another.
type Move struct {
	Step int `json:"step"`
	To   int `json:"to"`
}

// Edit changes the recording and returns it as the content of a trail file, also when the session has ended.
func (s *Session) Edit(ctx context.Context, e Edit) (string, error) {
	release, err := s.acquireRecording(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	if e != (Edit{}) {
		err = s.notAttached()
	}
	if err == nil && e.Replace != nil {
		err = s.replaceArgs(*e.Replace)
	}
	if err == nil && e.Drop != "" {
		err = s.drop(e.Drop)
	}
	if err == nil && e.Reword != nil {
		err = s.reword(*e.Reword)
	}
	if err == nil && e.Move != nil {
		err = s.move(*e.Move)
	}
	if err == nil && e.NotPassed != 0 {
		err = s.noteNotPassed(e.NotPassed)
	}
	if err != nil {
		return "", err
	}
	if e != (Edit{}) {
		s.unsaved = true
		s.keep()
	}
	return s.yaml()
}

func (s *Session) yaml() (string, error) {
	if len(s.walk.Current.Steps) == 0 {
		return "", nil
	}
	data, err := trail.Format(s.file(s.walk.Current, "", "", false))
	return string(data), err
}

// stepIndex returns the index of a step, given by its number as text.
func (s *Session) stepIndex(number string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(number))
	if steps := len(s.walk.Current.Steps); err != nil || n < 1 || n > steps {
		return 0, fault.New(fault.InvalidArguments, "steps are numbered from 1, calls as step.call, such as 2.1",
			"the recording has no step %s; it has %s", number, text.Count(steps, "step"))
	}
	return n - 1, nil
}

func (s *Session) drop(what string) error {
	number, _, ofCall := strings.Cut(what, ".")
	i, err := s.stepIndex(number)
	if err != nil {
		return err
	}
	l := s.walk.Current
	step := l.Steps[i]
	if !ofCall {
		l.Drop(i)
		return nil
	}
	n, err := callIndex(step, number, what)
	if err != nil {
		return err
	}
	step.Calls, step.Changed = slices.Delete(slices.Clone(step.Calls), n, n+1), true
	if i == l.Next {
		droppedCall(l, n)
	}
	if len(step.Calls) == 0 {
		return s.drop(number)
	}
	return nil
}

// droppedCall updates the list in which a replay stopped when a call of its next step was dropped.
func droppedCall(l *replay.Frame, index int) {
	switch {
	case index < l.Done:
		l.Done--
	case index == l.Done:
		l.Failing = false
	}
	if l.Done == len(l.Steps[l.Next].Calls) && l.Done > 0 {
		l.Advance()
	}
}

func (s *Session) reword(r Reword) error {
	i, err := s.stepIndex(strconv.Itoa(r.Step))
	if err != nil {
		return err
	}
	if strings.TrimSpace(r.Text) == "" {
		return fault.New(fault.InvalidArguments, "", "the new text of step %d is empty", r.Step)
	}
	step := s.walk.Current.Steps[i]
	if step.Kind == trail.KindUse {
		return fault.New(fault.InvalidArguments, "change the title of that trail", "step %d uses the trail %s and has no text of its own",
			r.Step, step.Use.Path)
	}
	name := s.name(step.Kind, r.Text)
	for _, steps := range [][]stepName{s.unfinished, s.notPassed} {
		if i := slices.Index(steps, s.name(step.Kind, step.Text)); i >= 0 {
			steps[i] = name
		}
	}
	step.Text = name.text
	step.Changed = step.Changed || !step.NeedsAgent // else there are no calls to write
	return nil
}

func (s *Session) noteNotPassed(number int) error {
	i, err := s.stepIndex(strconv.Itoa(number))
	if err != nil {
		return err
	}
	step := s.walk.Current.Steps[i]
	name := s.name(step.Kind, step.Text)
	isStep := func(other stepName) bool { return other == name }
	s.unfinished, s.notPassed = slices.DeleteFunc(s.unfinished, isStep), append(slices.DeleteFunc(s.notPassed, isStep), name)
	return nil
}

func (s *Session) move(m Move) error {
	from, err := s.stepIndex(strconv.Itoa(m.Step))
	if err != nil {
		return err
	}
	to, err := s.stepIndex(strconv.Itoa(m.To))
	if err != nil {
		return err
	}
	l := s.walk.Current
	if from >= l.Next || to >= l.Next {
		return fault.New(fault.InvalidArguments, "", "only steps that were done can be moved: 1 to %d", l.Next)
	}
	step := l.Steps[from]
	l.Steps = slices.Insert(slices.Delete(l.Steps, from, from+1), to, step)
	return nil
}

// wasOrWere is [text.Count] with a verb.
func wasOrWere(n int, noun string) string {
	if n == 1 {
		return text.Count(n, noun) + " was"
	}
	return text.Count(n, noun) + " were"
}
