package live

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Weakness is why a check that succeeded says little.
type Weakness string

// The weaknesses of checks.
const (
	HeldBefore Weakness = "held before" // on the screens before the last step that changed it and before its last action, too
	NeverSeen  Weakness = "never seen"  // something is not there, but no screen of the session is known to have shown it
)

// noteAction remembers the screen before a step that changed it with calls that are not checks. before is what was shown
// before a request for the step. Steps of other processes do not count.
func (s *Session) noteAction(r StepRequest, before *device.View) {
	if r.Other {
		return
	}
	step := stepName{r.Kind, strings.TrimSpace(r.Text)}
	if s.lastStep != step || s.lastRunning != r.step {
		s.lastActed = false
	}
	continues := s.lastActed
	s.lastStep, s.lastRunning = step, r.step
	acts := slices.ContainsFunc(r.Calls, func(c trail.Call) bool { return s.mayChangeApp(c.Tool) })
	if !acts || before == nil || s.shown == nil || sameScreen(before, s.shown) {
		return
	}
	if s.lastActed, s.beforeAction = true, before; !continues {
		s.beforeStep = before
	}
}

func sameScreen(a, b *device.View) bool { return a.URL == b.URL && wholeText(*a) == wholeText(*b) }

// wholeText is everything on the screen of a view.
func wholeText(v device.View) string {
	return v.Tree.Text(screen.TextOptions{Whole: true}).String()
}

// weaknesses notes in a report which of its checks are weak. recorded has what would be recorded of each call.
func (s *Session) weaknesses(calls []trail.Call, recorded [][]trail.Call, report *StepReport) {
	for i, c := range calls {
		if !report.Calls[i].OK || !s.isCheckIn("", c) {
			continue
		}
		if len(recorded[i]) == 1 {
			c.Args = recorded[i][0].Args // its selectors can be resolved on another screen
		}
		if resolved, err := trail.Interpolate(c.Args, s.inner.Memory()); err == nil {
			c.Args = resolved
		}
		switch {
		case IsAbsence(c) && s.mayBeMisspelt(calls[i]):
			report.Calls[i].Weak = NeverSeen
		case s.beforeStep != nil && s.shown != nil && holds(s.beforeStep, c) && holds(s.beforeAction, c):
			report.Calls[i].Weak = HeldBefore
			report.Warnings = append(report.Warnings, c.Tool+" held before the last action, too, so it does not show what that did")
		}
	}
}

// withoutWeak returns the calls to record without the checks whose weakness a request refuses.
func withoutWeak(r StepRequest, report StepReport, recorded [][]trail.Call) [][]trail.Call {
	out := slices.Clone(recorded)
	for i := range out {
		if weak := report.Calls[i].Weak; weak != "" && slices.Contains(r.Refuse, weak) {
			out[i] = nil
		}
	}
	return out
}

// IsAbsence reports whether a check succeeds because something is not there.
func IsAbsence(c trail.Call) bool {
	if c.Tool == device.AssertWaypoint {
		w, err := device.ReadWaypoint(c.Args)
		return err == nil && !w.HasRequired()
	}
	most, bounded := c.Args["count"], c.Args["count"] != nil
	if !bounded {
		most, bounded = c.Args["max"], c.Args["max"] != nil
	}
	return strings.Contains(strings.ToLower(c.Tool), "notvisible") || bounded && fmt.Sprint(most) == "0"
}

// holds reports whether a check holds on a view, as far as that can be said of it. It knows checks of texts, elements,
// values, items, numbers of elements, states, URLs and titles, and of all that identifies a screen.
func holds(v *device.View, c trail.Call) bool {
	a, name := device.Arguments(c.Args), strings.ToLower(c.Tool)
	switch {
	case c.Tool == device.AssertWaypoint:
		return isAt(v, a)
	case strings.HasSuffix(name, "verifyurl"), strings.HasSuffix(name, "waitforurl"):
		return found(a.Text("pattern"), v.URL)
	case strings.HasSuffix(name, "verifytitle"):
		return found(a.Text("pattern"), v.Title)
	case a.Has("count"), a.Has("min"), a.Has("max"):
		nodes, known := FindElements(v, a)
		n := float64(len(nodes))
		return known && n == a.Number("count", n) && n >= a.Number("min", n) && n <= a.Number("max", n)
	case strings.Contains(name, "notvisible"):
		nodes, known := FindElements(v, a)
		return known && len(nodes) == 0
	case !strings.Contains(name, "visible") && !strings.HasPrefix(name, "web_verify"):
		return false
	}
	nodes, _ := FindElements(v, a)
	return slices.ContainsFunc(nodes, func(n *screen.Node) bool { return hasExpected(v.Tree, n, a) })
}

// isAt reports whether a view is certainly the screen that arguments of assertWaypoint describe.
func isAt(v *device.View, a device.Arguments) bool {
	w, err := device.ReadWaypoint(a)
	return err == nil && !slices.ContainsFunc(w.Rules, func(r device.Rule) bool {
		nodes, known := FindElements(v, device.Arguments{"nodeSelector": r.Selector})
		return !known || !r.Holds(len(nodes))
	})
}

// AwaitElement returns what a session shows once the element of a call is on its screen, as far as that can be said, or at
// the limit, which is the call's own if that is shorter.
func AwaitElement(ctx context.Context, s *session.Session, c trail.Call, limit time.Duration) (v device.View, err error) {
	own := device.Arguments(c.Args).Number("timeoutMs", float64(limit.Milliseconds()))
	_, err = act.Await(ctx, min(limit, time.Duration(own*float64(time.Millisecond))), 50*time.Millisecond, func() (bool, error) {
		v, err = s.View(ctx, device.ViewOptions{Peek: true})
		return err == nil && mayBeReady(s, &v, c), err
	})
	return v, err
}

// mayBeReady reports whether a screen shows the element of a call, as far as that can be said.
func mayBeReady(s *session.Session, v *device.View, c trail.Call) bool {
	if c.Args["nodeSelector"] == nil && c.Args["ref"] == nil || IsAbsence(c) {
		return true
	}
	args, err := trail.Interpolate(c.Args, s.Memory())
	if err != nil {
		return true
	}
	nodes, known := FindElements(v, args)
	return !known || len(nodes) > 0
}

// FindElements returns the elements of a view that arguments name, in the element that they are within, if any. known is
// false if that cannot be said.
func FindElements(v *device.View, a device.Arguments) (nodes []*screen.Node, known bool) {
	nodes, known = namedAnywhere(v, a)
	if !known || !a.Has("within") {
		return nodes, known
	}
	within, _ := a["within"].(map[string]any)
	around, _ := namedAnywhere(v, within)
	if len(around) == 0 {
		return nil, false
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(n *screen.Node) bool {
		return !slices.ContainsFunc(around, func(outer *screen.Node) bool { return n == outer || slices.Contains(v.Tree.Descendants(outer), n) })
	}), true
}

// namedAnywhere returns the elements of a view that arguments name by a selector, a reference, role and name, a text, or a
// pattern.
func namedAnywhere(v *device.View, a device.Arguments) (nodes []*screen.Node, known bool) {
	if selector, ok := a["nodeSelector"]; ok {
		parsed, err := screen.ParseSelector(selector, screen.ParseOptions{})
		if err != nil || v.Tree.Check(parsed) != nil {
			return nil, false
		}
		return v.Tree.Resolve(parsed).Nodes, true
	}
	ref, text, pattern := a.Text("ref"), a.Text("text"), a.Text("pattern")
	if strings.HasPrefix(ref, "css=") || ref == "" && text == "" && pattern == "" {
		return nil, false
	}
	for _, n := range v.Tree.Nodes() {
		content := shownContent(v.Tree, n)
		switch {
		case ref != "" && screen.IsReference(ref) && v.Ref(n) == ref,
			ref != "" && (n.String() == ref || n.RoleName() == ref),
			ref == "" && text == "" && (found(pattern, n.Name()) || found(pattern, content)),
			ref == "" && text != "" && a["exact"] == true && (n.Name() == text || content == text),
			ref == "" && text != "" && a["exact"] != true &&
				(containsText(n.Name(), text) || containsText(content, text)):
			nodes = append(nodes, n)
		}
	}
	return nodes, true
}

// shownContent returns the content of an element as far as it is a text of the screen. On the web, what is typed into a
// field is not.
func shownContent(t *screen.Tree, n *screen.Node) string {
	if n.Editable && slices.Contains(t.Dialects, screen.Web) {
		return ""
	}
	return n.Content()
}

// hasExpected reports whether an element has the value, the items and the state that arguments demand.
func hasExpected(t *screen.Tree, n *screen.Node, a device.Arguments) bool {
	texts := []string{n.Name(), n.Content()}
	for _, below := range t.Descendants(n) {
		texts = append(texts, below.Name(), below.Content())
	}
	some := func(key string, match func(text, want string) bool) bool {
		return !a.Has(key) || slices.ContainsFunc(texts, func(text string) bool { return match(text, a.Text(key)) })
	}
	for _, item := range a.Texts("items") {
		if !slices.ContainsFunc(texts, func(text string) bool { return containsText(text, item) }) {
			return false
		}
	}
	return !strings.EqualFold(a.Text("type"), "ATTRIBUTE") && hasState(n, strings.ToLower(a.Text("state"))) &&
		some("expected", func(text, want string) bool { return text == want }) && some("contains", strings.Contains) &&
		(a.Text("pattern") == "" || some("pattern", func(text, want string) bool { return found(want, text) }))
}

// hasState reports whether an element is in a state, as far as that is known.
func hasState(n *screen.Node, state string) bool {
	opposites := map[string]string{"enabled": "disabled", "unchecked": "checked", "collapsed": "expanded", "unselected": "selected"}
	if opposite := opposites[state]; opposite != "" {
		return !slices.Contains(n.StateWords(), opposite)
	}
	return state == "" || state == "visible" || slices.Contains(n.StateWords(), state)
}

// found reports whether a regular expression is found in a text.
func found(pattern, text string) bool {
	expression, err := regexp.Compile(pattern)
	return err == nil && pattern != "" && expression.MatchString(text)
}

func containsText(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(strings.Join(strings.Fields(part), " ")))
}
