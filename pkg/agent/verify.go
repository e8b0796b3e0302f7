package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// verification is what is known of the checks of a verify. It lasts over the retries of the task, so that a check that did
// not hold is not forgotten. Those that held do not count for a retry.
type verification struct {
	held     int        // checks that count
	weak     int        // of these that are vacuous
	first    *expected  // a check that did not hold, which has to hold before any other one counts; nil for none
	vacuous  []expected // checks that were refused once
	replaced []string   // checks that did not hold, in the place of which others were made
	allowed  int        // how many more may be replaced
	shown    *shownElements
	given    []string // names whose values the session began with
	// written are the names in memory that the model has given a value, or that were given one in this task.
	remembered, written map[string]bool
}

// expected is what a check expects, however the element is named.
type expected struct {
	key  string // equal for checks that expect the same
	told string // the check as the model proposed it, with references: nothing of it comes from the app
	text string // the check with role and name of its element, for people
}

// expectationOf returns what a check expects. Where that is not a text, a value or items, it includes which element is
// meant, by role and name.
func (v *verification) expectationOf(c trail.Call) expected {
	args, _ := json.Marshal(c.Args) //nolint:errchkjson // they were decoded from JSON
	e := expected{told: brief(c.Tool+" "+string(args), 200)}
	e.text = e.told
	what := maps.Clone(c.Args)
	for _, name := range append(unseen(), "ref", "within", "message") {
		delete(what, name)
	}
	explicit := slices.ContainsFunc([]string{"text", "expected", "contains", "pattern", "items", "expectedText"}, func(name string) bool {
		return what[name] != nil
	})
	if ref, _ := c.Args["ref"].(string); ref != "" {
		element := ref // that is counted
		if screen.IsReference(ref) {
			element = v.shown.described[ref]
			e.text += " on " + brief(element, 100)
		}
		if !explicit {
			what["ref"] = element
		}
	}
	key, _ := json.Marshal([]any{c.Tool, what}) //nolint:errchkjson // as above
	e.key = string(key)
	return e
}

// check returns why a call cannot be made in a verify.
func (v *verification) check(c call) error {
	if err := v.canFail(c); err != nil {
		return err
	}
	e := v.expectationOf(c.Call)
	if v.first == nil || v.first.key == e.key {
		return nil
	}
	if v.allowed == 0 {
		return fault.New(NotDone, "check the same again, on another element or later, or end with failed", "you first checked %s, which did not hold",
			v.first.told)
	}
	return nil
}

// canFail refuses checks that hold whatever the app shows, and those of values that the model has put into memory.
func (v *verification) canFail(c call) error {
	for name := range v.remembered {
		if hasName(c.Args, name) {
			return fault.New(NotDone, "check what the app shows", "%s has a value that you have put into memory", name)
		}
	}
	if c.tool.Source.Kind == tool.FromBuiltin {
		return v.comparesApp(c)
	}
	for name := range v.written {
		if hasName(c.Args, name) {
			return fault.New(NotDone, "write the value that the task states", "%s was put into memory in this task", name)
		}
	}
	if pattern, _ := c.Args["pattern"].(string); c.tool.Source.Kind == tool.FromDevice && pattern != "" && matchesAnything(pattern) {
		return fault.New(NotDone, "name what it must be", "the pattern %q matches anything", brief(pattern, 60))
	}
	_, exact := c.Args["count"]
	_, most := c.Args["max"]
	if least, some := c.Args["min"]; some && !exact && !most && fmt.Sprint(least) == "0" {
		return fault.New(NotDone, "say how many there must be", "there are always at least 0")
	}
	return nil
}

// comparesApp refuses a comparison unless what is compared comes from a value that a call has put into memory, and what is
// expected does not come from the same values.
func (v *verification) comparesApp(c call) error {
	actual, expectation := c.Args["actual"], c.Args["expected"]
	if actual == nil {
		actual = c.Args["expression"]
	}
	for name := range v.written {
		if hasName(expectation, name) {
			return fault.New(NotDone, "write the value that the task states", "%s was put into memory in this task", name)
		}
	}
	shared := slices.ContainsFunc(trail.TokenNames(expectation), func(name string) bool { return hasName(actual, name) })
	if shared || !slices.ContainsFunc(trail.TokenNames(actual), v.mayChange) {
		return fault.New(NotDone, "check what the app shows, such as with a ref", "a comparison of constants cannot fail")
	}
	return nil
}

// mayChange reports whether the value of a token is not one that the session began with.
func (v *verification) mayChange(token string) bool {
	return !slices.ContainsFunc(v.given, func(name string) bool { return isOf(token, name) })
}

// matchesAnything reports whether a pattern is found in every text that is not empty.
func matchesAnything(pattern string) bool {
	expression, err := regexp.Compile(pattern)
	return err == nil && !slices.ContainsFunc([]string{"a", "Z", "7", "☃", "-"}, func(s string) bool { return !expression.MatchString(s) })
}

// refuse returns the weaknesses for which a check is not to count. A vacuous one is refused once.
func (v *verification) refuse(c trail.Call) []live.Weakness {
	if slices.ContainsFunc(v.vacuous, func(e expected) bool { return e.key == v.expectationOf(c).key }) {
		return []live.Weakness{live.NeverSeen}
	}
	return []live.Weakness{live.NeverSeen, live.HeldBefore}
}

// replaceBy gives up the check that did not hold for another one, which was checked before.
func (v *verification) replaceBy(c trail.Call) {
	if v.first != nil && v.first.key != v.expectationOf(c).key {
		v.replaced = append(v.replaced, v.first.text)
		v.first = nil
		v.allowed--
	}
}

// made notes how a check ended. It returns what the model is told of it, and what those who review it are warned of.
func (v *verification) made(c trail.Call, report live.CallReport, refused []live.Weakness) (note, warning string) {
	e := v.expectationOf(c)
	switch {
	case !report.Made:
	case !report.OK:
		if v.first == nil && !slices.Contains(malformed(), report.Kind) {
			v.first = &e
		}
	case slices.Contains(refused, report.Weak) && report.Weak == live.HeldBefore:
		v.vacuous = append(v.vacuous, e)
		return c.Tool + " does not count: it also held before the last step that acted, so it does not show what that did. " +
			"Check what only that step can have caused. If there is nothing else, make the same check again", ""
	case slices.Contains(refused, report.Weak):
		return c.Tool + " does not count: no screen of this session has shown what it names, so it would also hold if that is misspelt", ""
	default:
		if v.first != nil && v.first.key == e.key {
			v.first = nil
		}
		if slices.Contains(notAlone(), c.Tool) {
			return c.Tool + " does not count by itself: it holds for almost anything. Check what the app shows, too", ""
		}
		v.held++
		if report.Weak != "" {
			v.weak++
			return "", e.text + " is vacuous: it also held before the last step that acted"
		}
	}
	return "", ""
}

// notAlone are checks that do not show that what a verify states is so, but may be made beside others.
func notAlone() []string {
	return []string{"assertNotEquals", "web_verifyAccessibility", "web_assertNetworkEvent"}
}

// malformed are the kinds of a failure that say nothing about what a check expects.
func malformed() []fault.Kind {
	return []fault.Kind{
		screen.StaleRef, fault.InvalidArguments, fault.UnknownTool, fault.UnknownValue, fault.PermissionDenied, fault.Cancelled, fault.Crashed,
		fault.ProtocolError, fault.Device,
	}
}

// missing returns what a verify lacks to be done; "" for nothing.
func (v *verification) missing() string {
	switch {
	case v.first != nil:
		return "you first checked " + v.first.told + ", which has to hold"
	case v.held == 0:
		return "no check has held that counts"
	}
	return ""
}

// unmet returns why a task failed that ended before its first check has held; "" for nothing.
func (v *verification) unmet() string {
	if v == nil || v.first == nil {
		return ""
	}
	return "the model first checked " + v.first.text + ", which did not hold"
}

func words(list []string) string { return strings.Join(list, "; ") }
