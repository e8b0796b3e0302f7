package trail

import (
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// maxClassifiers is the number of classifiers for which warn looks for missing recordings.
const maxClassifiers = 50

// warn warns of steps without a recording for a classifier that other steps have.
func (r *reader) warn() {
	wanted := map[string][]string{} // classifier to lineage
	var order []string
	unnamed := false // the list shape's recordings
	steps, nodes := r.file.AllSteps(), r.allStepNodes()
	for i, s := range steps {
		for _, recorded := range s.Recording {
			c := recorded.Classifier
			if unnamed = unnamed || c == ""; c == "" || wanted[c] != nil || len(order) == maxClassifiers {
				continue
			}
			wanted[c] = Lineage([]string{c})
			r.checkPlatform(nodes[i], c)
			if _, skipped := r.file.SkipReason(wanted[c]); !skipped {
				order = append(order, c)
			}
		}
	}
	for i, s := range steps {
		r.warnVerify(s, nodes[i])
		if !s.Recordable || s.Use != nil {
			continue
		}
		missing := slices.DeleteFunc(slices.Clone(order), func(c string) bool {
			_, found := s.Lookup(wanted[c])
			return found
		})
		switch {
		case len(missing) > 0:
			r.warnMissing(nodes[i], "no recording for "+strings.Join(missing, ", ")+"; other steps have one")
		case unnamed && len(s.Recording) == 0:
			r.warnMissing(nodes[i], "no recording; other steps have one")
		}
	}
}

// actions are the tools of devices and built-in ones that check nothing. A tool of a server may.
var actions = lazyregexp.New(`^(web_(click|type|fillSecret|selectOption|hover|scroll|pressKey|wait|navigate|resize|snapshot|` +
	`currentUrl|setChecked|uploadFile|dragTo|handleDialog|route|unroute|setClock|evaluate|switchTab|closeTab|listTabs|` +
	`applyCookies|applyStorageState|getStorageState)|tap\w*|longPress\w*|swipe\w*|scroll|pinch|dragByPoints|inputText\w*|` +
	`eraseText|clearText|press(Key|Back|Home)|hideKeyboard|openUrl|launchApp|clearAppData|captureScreen|takeSnapshot|` +
	`navigate|click|fill|evaluateJs|setMemory|wait)$`)

// answers are the tools that only return or keep something, and pass whatever it is.
var answers = lazyregexp.New(`^(isVisible|hasText|getElementCount|remember(Value|Text|Number)|dumpMemory)$`)

// warnVerify warns of a verify whose recordings cannot fail because of what the app shows: no device has a call in it,
// or all calls of a device are actions, optional, or pass whatever they return. The empty recording of one device beside
// the calls of another is a no-op.
func (r *reader) warnVerify(s *Step, at yamldoc.Node) {
	const hint = "record a call that checks it, such as web_verifyTextVisible or assertVisible"
	if s.Kind != KindVerify || len(s.Recording) == 0 {
		return
	}
	calls := 0
	for _, recorded := range s.Recording {
		calls += len(recorded.Calls)
		isAnswer := func(c Call) bool { return answers().MatchString(c.Tool) }
		isCheck := func(c Call) bool { return !isAnswer(c) && !actions().MatchString(c.Tool) }
		decides := func(c Call) bool { return isCheck(c) && !c.Optional }
		answer, check := slices.IndexFunc(recorded.Calls, isAnswer), slices.IndexFunc(recorded.Calls, isCheck)
		switch {
		case len(recorded.Calls) == 0 || slices.ContainsFunc(recorded.Calls, decides):
		case check >= 0:
			at.Warnf("leave out optional", "nothing in this verify can fail: %s is optional", recorded.Calls[check].Tool)
			return
		case answer >= 0:
			at.Warnf(hint, "nothing in this verify can fail: %s passes whatever it returns", recorded.Calls[answer].Tool)
			return
		default:
			at.Warnf(hint, "this verify checks nothing: it has only actions, such as %s", recorded.Calls[0].Tool)
			return
		}
	}
	if calls == 0 {
		at.Warnf(hint, "this verify checks nothing: its recording is empty")
	}
}

// allStepNodes returns the mappings of the steps that File.all returns.
func (r *reader) allStepNodes() []yamldoc.Node {
	if r.file.Trailhead == nil {
		return r.stepNodes
	}
	return slices.Insert(slices.Clone(r.stepNodes), 0, r.head)
}

func (r *reader) warnMissing(at yamldoc.Node, message string) {
	noOp := "android: []"
	if r.file.List {
		noOp = "tools: []"
	}
	at.Warnf("record it, or write "+noOp+" for a step without calls, or recordable: false for a step for an agent", "%s",
		message)
}

// checkPlatform warns of a classifier that starts with a misspelt platform.
func (r *reader) checkPlatform(at yamldoc.Node, classifier string) {
	platform := platformOf(classifier)
	if _, ok := scope.ParsePlatform(platform); ok {
		return
	}
	if near := fault.Nearest(platform, scope.PlatformNames()); len(near) > 0 {
		at.Warnf(fault.DidYouMean(platform, near), "the classifier %q does not start with a known platform", classifier)
	}
}
