package trail

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// maxClassifiers is the number of classifiers for which warn looks for missing recordings.
const maxClassifiers = 50

// warnFunc takes a warning of a step, by its index in File.AllSteps.
type warnFunc func(step int, hint, format string, args ...any)

// warn warns of steps without a recording for a classifier that other steps have.
func (f *File) warn(warn warnFunc) {
	wanted := map[string][]string{} // classifier to lineage
	var order []string
	unnamed := false // the list shape's recordings
	steps := f.AllSteps()
	for i, s := range steps {
		for _, recorded := range s.Recording {
			c := recorded.Classifier
			if unnamed = unnamed || c == ""; c == "" || wanted[c] != nil || len(order) == maxClassifiers {
				continue
			}
			wanted[c] = Lineage([]string{c})
			checkPlatform(i, c, warn)
			if _, skipped := f.SkipReason(wanted[c]); !skipped {
				order = append(order, c)
			}
		}
	}
	for i, s := range steps {
		s.warnVerify(i, warn)
		if !s.Recordable || s.Use != nil {
			continue
		}
		missing := slices.DeleteFunc(slices.Clone(order), func(c string) bool {
			_, found := s.Lookup(wanted[c])
			return found
		})
		switch {
		case len(missing) > 0:
			f.warnMissing(i, "no recording for "+strings.Join(missing, ", ")+"; other steps have one", warn)
		case unnamed && len(s.Recording) == 0:
			f.warnMissing(i, "no recording; other steps have one", warn)
		}
	}
}

// WithSteps returns the file with other steps, and with the warnings that it has then.
func (f *File) WithSteps(steps []Step) *File {
	out := *f
	out.Steps = steps
	out.warnings = slices.Clone(f.ownWarnings)
	all := out.AllSteps()
	out.warn(func(step int, hint, format string, args ...any) {
		out.warnings = append(out.warnings, fault.Problem{
			Kind: fault.Trail, File: f.Name, Line: all[step].Line, Column: all[step].Column, Message: fmt.Sprintf(format, args...), Hint: hint,
		})
	})
	out.warnings.Sort()
	return &out
}

// actions are the tools of devices and built-in ones that check nothing. A tool of a server may.
var actions = lazyregexp.New(`^(web_(click|type|fillSecret|selectOption|hover|scroll|pressKey|wait|navigate|resize|snapshot|` +
	`currentUrl|setChecked|uploadFile|dragTo|handleDialog|route|unroute|setClock|evaluate|switchTab|closeTab|listTabs|` +
	`applyCookies|applyStorageState|getStorageState)|tap\w*|longPress\w*|swipe\w*|scroll|pinch|dragByPoints|inputText\w*|` +
	`eraseText|clearText|press(Key|Back|Home)|hideKeyboard|openUrl|launchApp|clearAppData|captureScreen|takeSnapshot|` +
	`navigate|click|fill|evaluateJs|setMemory|wait)$`)

// answers are the tools that only return or keep something, and pass whatever it is.
var answers = lazyregexp.New(`^(isVisible|hasText|getElementCount|rememberValue|dumpMemory)$`)

// warnVerify warns of a verify whose recordings cannot fail because of what the app shows: no device has a call in it,
// or all calls of a device are actions or pass whatever they return. The empty recording of one device beside the calls
// of another is a no-op.
func (s *Step) warnVerify(index int, warn warnFunc) {
	const hint = "record a call that checks it, such as web_verifyTextVisible or assertVisible"
	if s.Kind != KindVerify || len(s.Recording) == 0 {
		return
	}
	calls := 0
	for _, recorded := range s.Recording {
		calls += len(recorded.Calls)
		isAnswer := func(c Call) bool { return answers().MatchString(c.Tool) }
		checks := func(c Call) bool { return !isAnswer(c) && !actions().MatchString(c.Tool) }
		switch answer := slices.IndexFunc(recorded.Calls, isAnswer); {
		case len(recorded.Calls) == 0 || slices.ContainsFunc(recorded.Calls, checks):
		case answer >= 0:
			warn(index, hint, "nothing in this verify can fail: %s passes whatever it returns", recorded.Calls[answer].Tool)
			return
		default:
			warn(index, hint, "this verify checks nothing: it has only actions, such as %s", recorded.Calls[0].Tool)
			return
		}
	}
	if calls == 0 {
		warn(index, hint, "this verify checks nothing: its recording is empty")
	}
}

// allStepNodes returns the mappings of the steps that File.all returns.
func (r *reader) allStepNodes() []yamldoc.Node {
	if r.file.Trailhead == nil {
		return r.stepNodes
	}
	return slices.Insert(slices.Clone(r.stepNodes), 0, r.head)
}

func (f *File) warnMissing(step int, message string, warn warnFunc) {
	noOp := "android: []"
	if f.List {
		noOp = "tools: []"
	}
	warn(step, "record it, or write "+noOp+" for a step without calls, or recordable: false for a step for an agent", "%s",
		message)
}

// checkPlatform warns of a classifier that starts with a misspelt platform.
func checkPlatform(step int, classifier string, warn warnFunc) {
	platform := platformOf(classifier)
	if _, ok := scope.ParsePlatform(platform); ok {
		return
	}
	if near := fault.Nearest(platform, scope.PlatformNames()); len(near) > 0 {
		warn(step, fault.DidYouMean(platform, near), "the classifier %q does not start with a known platform", classifier)
	}
}
