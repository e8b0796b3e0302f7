package document

import (
	"reflect"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Rewrite gives each text of the trail the value that clean has for it: those of steps and of calls for all devices, and
// what else the file has, such as comments and the teardown. It forgets what was edited, also when it returns an error
// about a text that is left.
func (d *Document) Rewrite(clean func(any) any) error {
	defer d.Forget()
	for i, s := range d.now.all() {
		d.rewriteStep(i, s, clean)
	}
	text, _ := clean(string(d.now.text)).(string)
	if problems := d.SetText([]byte(text), false); len(problems) > 0 {
		problems = d.SetText([]byte(bareName().ReplaceAllString(text, `$1"$2"$3`)), false)
		if len(problems) > 0 {
			return errLeft
		}
	}
	for _, s := range d.now.rest.TeardownSteps() {
		for _, r := range s.Recording {
			if slices.ContainsFunc(r.Calls, func(c trail.Call) bool { return !reflect.DeepEqual(clean(c.Args), any(c.Args)) }) {
				return errLeft
			}
		}
	}
	return nil
}

var errLeft = fault.New(fault.Trail, "write {{NAME}} in its place in the YAML", "the trail still has the value of a secret, which could not be replaced")

// bareName is a name in braces that was put in place of a text without quotes, which YAML takes for a mapping.
var bareName = lazyregexp.New(`(?m)([:\[{,-] +)(\{\{[\w.-]+\}\})( *(?:[,\]}#]|$))`)

// rewriteStep does what can be done without the text of the file. What fails is left for that.
func (d *Document) rewriteStep(step int, s *trail.Step, clean func(any) any) {
	if words, _ := clean(s.Text).(string); words != s.Text {
		if _, err := d.worded(stepNumber(step)); err == nil {
			_ = d.revise(d.simple(func(v *trail.Revision, at func(int) int) { v.Reword(at(step), s.Kind, words) }, step), "", false)
		}
	}
	for _, r := range s.Recording {
		for i, c := range r.Calls {
			args, _ := clean(c.Args).(map[string]any)
			if reflect.DeepEqual(args, c.Args) {
				continue
			}
			c.Args = args
			_ = d.revise(d.simple(func(v *trail.Revision, at func(int) int) { v.SetCall(at(step), r.Classifier, i, c) }, step), "", false)
		}
	}
}
