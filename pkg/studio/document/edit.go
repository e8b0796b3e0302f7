package document

import (
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Apply makes an edit, which is one entry of undo. After an error nothing has changed.
func (d *Document) Apply(e Edit) error {
	if err := d.checkParsed(); err != nil {
		return err
	}
	var r revision
	var err error
	switch e.Op {
	case "reword":
		r, err = d.reword(e)
	case "kind":
		r, err = d.setKind(e)
	case "move":
		r, err = d.move(e)
	case "delete":
		r, err = d.delete(e)
	case "split":
		r, err = d.split(e)
	case "join":
		r, err = d.join(e)
	case "insertStep":
		return d.insertStep(e)
	case "args", "call", "pick":
		r, err = d.setCall(e)
	case "classifier":
		r, err = d.setClassifier(e)
	default:
		err = fault.New(fault.InvalidArguments, "see Edit in protocol.ts", "unknown edit %q", e.Op)
	}
	if err != nil {
		return err
	}
	return d.revise(r, "", false)
}

func (d *Document) revise(r revision, by string, join bool) error {
	next, err := d.now.revise(d.opts.Name, r)
	if err != nil {
		return err
	}
	d.commit(next, by, join)
	return nil
}

// simple is a revision of the texts and calls of some steps.
func (d *Document) simple(change func(v *trail.Revision, at func(int) int), touched ...int) revision {
	return revision{provisional: d.now.provisional, touched: touched, change: func(v *trail.Revision, at func(int) int) error {
		change(v, at)
		return nil
	}}
}

// worded returns the index of a step that has a text and a kind.
func (d *Document) worded(number string) (int, error) {
	step, err := d.stepIndex(number)
	if err != nil {
		return 0, err
	}
	switch kind := d.step(step).Kind; kind {
	case trail.KindTools:
		return 0, fault.New(fault.InvalidArguments, "insert a step, and move the calls into it", "step %s is a list of calls without a text", number)
	case trail.KindUse:
		return 0, fault.New(fault.InvalidArguments, "change the path in the YAML", "step %s uses another trail, whose path it has instead of a text", number)
	}
	return step, nil
}

func (d *Document) reword(e Edit) (revision, error) {
	step, err := d.worded(e.Step)
	if err != nil {
		return revision{}, err
	}
	words := strings.TrimSpace(e.Text)
	if words == "" {
		return revision{}, fault.New(fault.InvalidArguments, "say what the step does, in a sentence", "the text of step %s is empty", e.Step)
	}
	r := d.simple(func(v *trail.Revision, at func(int) int) { v.Reword(at(step), d.step(step).Kind, words) }, step)
	r.provisional = slices.Clone(r.provisional)
	r.provisional[step] = false
	return r, nil
}

func checkKind(kind string) error {
	if kind == trail.KindStep || kind == trail.KindVerify {
		return nil
	}
	return fault.New(fault.InvalidArguments, "give step or verify", "%q is not a kind of step that can be chosen", kind)
}

func (d *Document) setKind(e Edit) (revision, error) {
	step, err := d.worded(e.Step)
	if err == nil {
		err = checkKind(e.Kind)
	}
	if err == nil && d.step(step).Kind == trail.KindTrailhead {
		err = fault.New(fault.InvalidArguments, "", "step %s is the trailhead, which has no other kind", e.Step)
	}
	if err != nil {
		return revision{}, err
	}
	return d.simple(func(v *trail.Revision, at func(int) int) {
		_, calls := d.recorded(d.step(step))
		v.Reword(at(step), e.Kind, d.wording(step, e.Kind, calls))
	}, step), nil
}

// wording returns the text that a step has with other calls: that of a provisional one follows from them.
func (d *Document) wording(step int, kind string, calls []trail.Call) string {
	if d.now.isProvisional(step) && len(calls) > 0 {
		return provisionalText(kind, calls)
	}
	return d.step(step).Text
}

// rewordFor gives a step the text that it has with other calls.
func (d *Document) rewordFor(v *trail.Revision, at func(int) int, step int, calls []trail.Call) {
	if s := d.step(step); d.now.isProvisional(step) {
		v.Reword(at(step), s.Kind, d.wording(step, s.Kind, calls))
	}
}

func (d *Document) move(e Edit) (revision, error) {
	if strings.Contains(e.Number, ".") {
		return d.moveCall(e)
	}
	from, err := d.stepIndex(e.Number)
	if err != nil {
		return revision{}, err
	}
	to, err := d.stepIndex(e.To)
	if err != nil {
		return revision{}, err
	}
	if d.step(from).Kind == trail.KindTrailhead || d.step(to).Kind == trail.KindTrailhead {
		return revision{}, fault.New(fault.InvalidArguments, "", "step 1 is the trailhead, which comes before all steps")
	}
	r := revision{touched: []int{from, to}, change: func(v *trail.Revision, at func(int) int) error {
		if from == to {
			return nil
		}
		return v.MoveStep(at(from), at(to))
	}}
	if r.shift = 1; from < to {
		r.shift = -1
	}
	marks := slices.Clone(d.now.provisional)
	mark := marks[from]
	r.provisional = slices.Insert(slices.Delete(marks, from, from+1), to, mark)
	return r, nil
}

func (d *Document) moveCall(e Edit) (revision, error) {
	from, call, err := d.call(e.Number)
	if err != nil {
		return revision{}, err
	}
	to, before, err := d.call(e.To)
	if err != nil {
		return revision{}, err
	}
	classifier, calls := d.recorded(d.step(from))
	if from == to {
		left := slices.Insert(slices.Delete(slices.Clone(calls), call, call+1), before, calls[call])
		if before > call {
			before++
		}
		return d.simple(func(v *trail.Revision, at func(int) int) {
			if call != before {
				d.rewordFor(v, at, from, left)
				v.MoveCall(at(from), classifier, call, at(to), classifier, before)
			}
		}, from), nil
	}
	toClassifier, others := d.recorded(d.step(to))
	return d.simple(func(v *trail.Revision, at func(int) int) {
		d.rewordFor(v, at, from, slices.Delete(slices.Clone(calls), call, call+1))
		d.rewordFor(v, at, to, slices.Insert(slices.Clone(others), before, calls[call]))
		v.MoveCall(at(from), classifier, call, at(to), toClassifier, before)
	}, from, to), nil
}

func (d *Document) delete(e Edit) (revision, error) {
	if strings.Contains(e.Number, ".") {
		step, call, err := d.call(e.Number)
		if err != nil {
			return revision{}, err
		}
		classifier, calls := d.recorded(d.step(step))
		return d.simple(func(v *trail.Revision, at func(int) int) {
			d.rewordFor(v, at, step, slices.Delete(slices.Clone(calls), call, call+1))
			v.DeleteCall(at(step), classifier, call)
		}, step), nil
	}
	step, err := d.stepIndex(e.Number)
	if err != nil {
		return revision{}, err
	}
	return revision{
		provisional: slices.Delete(slices.Clone(d.now.provisional), step, step+1), touched: []int{step},
		change: func(v *trail.Revision, at func(int) int) error { return v.DeleteStep(at(step)) },
	}, nil
}

func (d *Document) split(e Edit) (revision, error) {
	step, call, err := d.call(e.Call)
	if err != nil {
		return revision{}, err
	}
	if call == 0 {
		return revision{}, fault.New(fault.InvalidArguments, "choose a later call", "call %s is the first of its step", e.Call)
	}
	classifier, calls := d.recorded(d.step(step))
	kind, words := d.step(step).Kind, strings.TrimSpace(e.Text)
	if kind != trail.KindVerify {
		kind = trail.KindStep
	}
	mark := words == ""
	if mark {
		words = provisionalText(kind, calls[call:])
	}
	return revision{
		provisional: slices.Insert(slices.Clone(d.now.provisional), step+1, mark), touched: []int{step},
		change: func(v *trail.Revision, at func(int) int) error {
			d.rewordFor(v, at, step, calls[:call])
			return v.Split(at(step), classifier, call, kind, words)
		},
	}, nil
}

func (d *Document) join(e Edit) (revision, error) {
	step, err := d.stepIndex(e.Step)
	if err != nil {
		return revision{}, err
	}
	if step == 0 || d.step(step-1).Kind == trail.KindTrailhead {
		return revision{}, fault.New(fault.InvalidArguments, "", "there is not a step before step %s that it could be joined to", e.Step)
	}
	for _, s := range []*trail.Step{d.step(step - 1), d.step(step)} {
		if s.Use != nil || !s.Recordable {
			return revision{}, fault.New(fault.InvalidArguments, "leave it apart", "step %s cannot be joined: %q has no calls of its own", e.Step, s.Text)
		}
	}
	_, before := d.recorded(d.step(step - 1))
	_, calls := d.recorded(d.step(step))
	return revision{
		provisional: slices.Delete(slices.Clone(d.now.provisional), step, step+1), touched: []int{step},
		change: func(v *trail.Revision, at func(int) int) error {
			d.rewordFor(v, at, step-1, slices.Concat(before, calls))
			return v.Join(at(step))
		},
	}, nil
}

func (d *Document) insertStep(e Edit) error {
	if err := checkKind(e.Kind); err != nil {
		return err
	}
	step := len(d.now.all()) - 1
	if e.After != "" {
		var err error
		if step, err = d.stepIndex(e.After); err != nil {
			return err
		}
	}
	s := trail.Step{Kind: e.Kind, Text: strings.TrimSpace(e.Text), Recordable: true}
	mark := s.Text == ""
	if mark {
		s.Text = provisionalText(e.Kind, nil)
	}
	return d.addStep(step, s, mark, "")
}

// addStep inserts a step behind another one, -1 for none.
func (d *Document) addStep(behind int, s trail.Step, provisional bool, by string) error {
	marks := slices.Insert(slices.Clone(d.now.provisional), behind+1, provisional)
	if len(d.now.text) > 0 {
		return d.revise(revision{provisional: marks, touched: []int{behind}, change: func(v *trail.Revision, at func(int) int) error {
			if v.File.List && len(s.Recording) == 1 {
				s.Recording = trail.Recording{{Calls: s.Recording[0].Calls}}
			}
			if behind < 0 {
				return v.InsertStep(0, s)
			}
			return v.InsertStep(at(behind)+1, s)
		}}, by, false)
	}
	text, err := trail.Append(d.opts.Name, nil, s, d.opts.Config)
	if err != nil {
		return err
	}
	next, problems := parse(d.opts.Name, text)
	if len(problems) > 0 {
		return problems
	}
	next.provisional = marks
	d.commit(next, by, false)
	return nil
}

func (d *Document) setCall(e Edit) (revision, error) {
	step, call, err := d.call(e.Call)
	if err != nil {
		return revision{}, err
	}
	_, calls := d.recorded(d.step(step))
	c := calls[call]
	switch e.Op {
	case "args":
		c.Args = e.Args
	case "pick":
		c, err = withSelector(c, e.Selector)
	default:
		if c.SaveAs = e.SaveAs; e.SaveAs != "" && !trail.IsValueName(e.SaveAs) {
			err = fault.New(fault.InvalidArguments, "use letters, digits, _ and -, and start with a letter", "%q is not a name for a value", e.SaveAs)
			break
		}
		c.Optional, c.Soft = e.Optional, c.Soft && !e.Optional
		c.Timeout, err = duration(e.Timeout)
	}
	if err != nil {
		return revision{}, err
	}
	return d.replaced(step, call, c), nil
}

// replaced is the revision that puts a call in place of another one.
func (d *Document) replaced(step, call int, c trail.Call) revision {
	classifier, calls := d.recorded(d.step(step))
	left := slices.Clone(calls)
	left[call] = c
	return d.simple(func(v *trail.Revision, at func(int) int) {
		d.rewordFor(v, at, step, left)
		v.SetCall(at(step), classifier, call, c)
	}, step)
}

func (d *Document) setClassifier(e Edit) (revision, error) {
	step, err := d.stepIndex(e.Step)
	if err != nil {
		return revision{}, err
	}
	s := d.step(step)
	from, _ := d.recorded(s)
	switch {
	case d.now.rest.List:
		err = fault.New(fault.InvalidArguments, "", "%s has the list shape, in which recordings have no classifier", d.opts.Name)
	case from == "":
		err = fault.New(fault.InvalidArguments, "record it first", "step %s has no recording for this device", e.Step)
	case slices.Contains(s.Classifiers(), e.Classifier) && from != e.Classifier:
		err = fault.New(fault.InvalidArguments, "delete that recording first", "step %s has a recording for %s already", e.Step, e.Classifier)
	case !slices.Contains(trail.Lineage([]string{e.Classifier}), e.Classifier):
		err = fault.New(fault.InvalidArguments, "write it like android or android-phone", "%q is not a classifier", e.Classifier)
	}
	return d.simple(func(v *trail.Revision, at func(int) int) {
		if from != e.Classifier {
			v.RenameClassifier(at(step), from, e.Classifier)
		}
	}, step), err
}

// withSelector returns a call with a selector in place of what names its element.
func withSelector(c trail.Call, selector map[string]any) (trail.Call, error) {
	if len(selector) == 0 {
		return c, fault.New(fault.InvalidArguments, "pick an element", "no selector is given to put into %s", c.Tool)
	}
	if c.Args["from"] != nil || c.Args["to"] != nil {
		return c, fault.New(fault.InvalidArguments, "change from or to in its arguments", "%s has two elements", c.Tool)
	}
	args := map[string]any{}
	within, isWithin := c.Args["within"].(map[string]any)
	for key, value := range c.Args {
		if isWithin || !namesElement(c.Tool, key) {
			args[key] = value
		}
	}
	if isWithin {
		inner, err := withSelector(trail.Call{Tool: "within", Args: within}, selector)
		args["within"] = inner.Args
		c.Args = args
		return c, err
	}
	args["nodeSelector"] = selector
	c.Args = args
	if by, ok := bySelector()[c.Tool]; ok {
		c.Tool = by
	}
	return c, nil
}

// namesElement reports whether an argument of a tool says which element is meant.
func namesElement(tool, key string) bool {
	switch key {
	case "ref", "nodeSelector", "selector":
		return true
	case "text", "id", "index", "accessibilityText", "resourceId", "enabled", "selected":
		_, older := bySelector()[tool]
		return older || slices.Contains([]string{"tap", "longPress", "mobile_doubleTap", "mobile_getText", "rememberText", "rememberNumber", "assertVisible", "verifyScreenshot"}, tool)
	}
	return false
}

// bySelector returns the tools that take a selector in place of those that take a text or an id.
func bySelector() map[string]string {
	return map[string]string{
		"tapOnElementWithText": "tapOnElementBySelector", "tapOnElementWithAccessibilityText": "tapOnElementBySelector",
		"longPressOnElementWithText": "longPress", "longPressElementWithAccessibilityText": "longPress",
		"assertVisibleWithText": "assertVisibleBySelector", "assertVisibleWithAccessibilityText": "assertVisibleBySelector",
		"assertVisibleWithResourceId": "assertVisibleBySelector", "assertNotVisibleWithText": "assertNotVisibleBySelector",
	}
}
