package agent

import (
	"cmp"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Class says how the element that calls of a model act on is related to that of a recorded call.
type Class string

// The classes of a repair.
const (
	Same      Class = "same"      // the same test id or id, or the same role and name but for case, spaces and punctuation
	Rerouted  Class = "rerouted"  // the same, after other calls
	Renamed   Class = "renamed"   // the same role, and another name
	Different Class = "different" // anything else
)

// Breakage is what was wrong with the element of a recorded call that failed. Two are equal if the call failed for the
// same reason.
type Breakage struct {
	Element string // act.Missing, act.Ambiguous or act.NotReady
	Found   string // the element that is not ready, in words
	Reason  string // why it is not ready
}

// NewBreakage returns what broke a recorded call. details are those of its result. The error says why such a failure is
// never healed.
func NewBreakage(box live.Toolbox, call trail.Call, details map[string]any) (Breakage, error) {
	b := Breakage{}
	b.Element, _ = details[act.ElementKey].(string)
	b.Found, _ = details[act.FoundKey].(string)
	b.Reason, _ = details[act.ReasonKey].(string)
	t, err := box.Registry.Find(call.Tool)
	never := func(format string, args ...any) (Breakage, error) {
		return b, fault.New(fault.HealRefused, "", format, args...)
	}
	isCheck, compared := slices.Contains(box.Checks, call.Tool), !recordedElement(box, call).isNothing()
	switch {
	case err != nil || t.Source.Kind != tool.FromDevice:
		return never("%s is not a command of the device", call.Tool)
	case b.Element == "":
		return never("its element was found, so that something else is wrong")
	case !compared && (!isCheck || givesElement(box, call)):
		return never("%s names its element in a way that cannot be compared", call.Tool)
	case !compared, isCheck && b.Element != act.Missing, isCheck && live.IsAbsence(call), isCheck && countsElements(call):
		return never("what %s expects does not hold", call.Tool)
	}
	return b, nil
}

// countsElements reports whether a check expects a number of elements.
func countsElements(c trail.Call) bool {
	return slices.ContainsFunc([]string{"count", "min", "max"}, func(key string) bool { return c.Args[key] != nil })
}

// Change is a step of a trail in which calls of a model have taken the place of one that failed. Its screens are those of
// the session in which they were made.
type Change struct {
	Box           live.Toolbox
	Kind          string // of the step
	Before, After []trail.Call
	Failing       int // the index in Before of the call that failed
	Added         int // number of calls that After has before the one in its place
	Breakage      Breakage
	Screen        *device.View     // when it failed
	Target        *screen.Node     // the element of the call in its place, on the screen before that was made
	Prior         *device.View     // that screen
	Selectors     []map[string]any // which a recording could use for the target
	Way           []Made           // the calls that After has before the one in its place
	Others        []trail.Call     // the recorded calls of the trail but for the one that failed, and steps that were repaired
	URLs          []string         // of all screens since
	Unrecorded    []string         // tools of calls that were made and cannot be recorded
	Passed        []string         // screens of the last sessions that passed, in the text form
}

// Made is a call of a model that succeeded.
type Made struct {
	Call     trail.Call   // as it is recorded
	Recorded bool         // else it cannot be recorded
	Element  *screen.Node // that it was for, on the screen before it; nil for none, or an unknown one
	Screen   *device.View // that screen
	// Selectors are those that a recording could use for the element.
	Selectors []map[string]any
}

// element returns what is known of the element.
func (m Made) element() element {
	if m.Element == nil {
		return element{}
	}
	e := describeNode(m.Element)
	for _, given := range m.Selectors {
		s, err := screen.ParseSelector(given, screen.ParseOptions{})
		if err != nil {
			continue
		}
		if by := selectedElement(s); !by.counted && by.around == nil {
			e.id, e.testID = cmp.Or(e.id, by.id), cmp.Or(e.testID, by.testID)
		}
	}
	return e
}

// Replace fills in what the step is when the calls that were made take the place of the one that failed: the first that is
// for the same element, else the only one, and those before it. Calls that are to come anyway count for nothing.
func (c *Change) Replace(made []Made) {
	failed := c.Before[c.Failing]
	isCheck := slices.Contains(c.Box.Checks, failed.Tool)
	var counted []Made
	for _, m := range made {
		switch {
		case slices.Contains(c.Box.Checks, m.Call.Tool) != isCheck: // a model may check what it does
		case m.Recorded:
			counted = append(counted, m)
		case !isCheck:
			c.Unrecorded = append(c.Unrecorded, m.Call.Tool)
		}
	}
	for i := range counted {
		c.put(counted, i)
		class, _ := c.class()
		if class == Same || class == Rerouted {
			c.keepRecorded()
		}
		if class == Same || class == Rerouted || class == Renamed && c.areToCome(counted[1:]) {
			return
		}
	}
	if len(counted) > 0 {
		c.put(counted, len(counted)-1)
	}
}

// keepRecorded keeps the call as it is recorded, if it finds the element on the screen on which the model did.
func (c *Change) keepRecorded() {
	failed := c.Before[c.Failing]
	if c.Added == 0 || c.Prior == nil {
		return
	}
	if nodes, known := live.FindElements(c.Prior, failed.Args); known && len(nodes) == 1 && nodes[0] == c.Target {
		c.After[c.Failing+c.Added] = failed
	}
}

// areToCome reports whether calls do what the recording does next.
func (c *Change) areToCome(made []Made) bool {
	next := c.Before[c.Failing+1:]
	return len(made) <= len(next) && slices.EqualFunc(made, next[:min(len(made), len(next))], func(m Made, come trail.Call) bool {
		return SameButForElement(c.Box, m.Call, come)
	})
}

// put makes the call at an index the one in the place of the one that failed.
func (c *Change) put(made []Made, i int) {
	calls := make([]trail.Call, len(made))
	for j, m := range made {
		calls[j] = m.Call
	}
	c.Added, c.Target, c.Prior, c.Selectors, c.Way = i, made[i].Element, made[i].Screen, made[i].Selectors, made[:i]
	c.After = replaceCall(c.Box, c.Before, c.Failing, calls[:i+1])
}

// Judgement is what a change is worth.
type Judgement struct {
	Class Class
	Why   string // of the class
	// Refused says why it is not written, whatever its class; empty if the guard has nothing against it.
	Refused string
	// NeedsCheck says that it counts only if an unchanged positive check of a later step passes in the proof.
	NeedsCheck bool
	// NeedsReview says that a person has to decide: nothing tells whether the recorded element has another name, or is gone.
	NeedsReview bool
}

// MayBeWritten reports whether it is written when its proof passes.
func (j Judgement) MayBeWritten() bool { return j.Refused == "" && j.Class != Different }

// replaceCall returns the calls of a step with others in place of the one at an index. The last of them only gives it
// another element, if it does the same.
func replaceCall(box live.Toolbox, before []trail.Call, failing int, made []trail.Call) []trail.Call {
	call, last := before[failing], len(made)-1
	if SameButForElement(box, call, made[last]) {
		call = withElement(box, call, made[last])
	} else {
		call = made[last]
	}
	return slices.Concat(before[:failing], made[:last], []trail.Call{call}, before[failing+1:])
}

// withElement returns a call for the element of another one. It keeps its tool if that can name the element so.
func withElement(box live.Toolbox, call, other trail.Call) trail.Call {
	args := expectation(box, call)
	for _, name := range remarks() {
		if value, ok := call.Args[name]; ok {
			args[name] = value
		}
	}
	if t, err := box.Registry.Find(call.Tool); err != nil || !takesAll(t, other.Args) {
		call.Tool = other.Tool
	}
	for name, value := range other.Args {
		if namesElement(box, call.Tool, name) {
			args[name] = value
		}
	}
	call.Args = args
	return call
}

// takesAll reports whether a tool has all of some arguments.
func takesAll(t *discover.Tool, args map[string]any) bool {
	known := schemaOf(t).properties
	for name := range args {
		if known[name] == nil && known[t.Aliases[name]] == nil {
			return false
		}
	}
	return true
}

func remarks() []string { return []string{"reasoning", "reason"} }

// expectation returns the arguments of a call that do not say which element it is for: what it does, or expects.
func expectation(box live.Toolbox, c trail.Call) map[string]any {
	out := map[string]any{}
	for name, value := range c.Args {
		if !namesElement(box, c.Tool, name) && !slices.Contains(remarks(), name) {
			out[name] = value
		}
	}
	return out
}

// givesElement reports whether an argument of a call says which element is meant.
func givesElement(box live.Toolbox, c trail.Call) bool {
	for name := range c.Args {
		if namesElement(box, c.Tool, name) {
			return true
		}
	}
	return false
}

// namesElement reports whether an argument of a tool says which element is meant.
func namesElement(box live.Toolbox, name, arg string) bool {
	t, err := box.Registry.Find(name)
	if err != nil {
		return false
	}
	if real := t.Aliases[arg]; real != "" {
		arg = real
	}
	return arg == "ref" || schemaOf(t).isLocator(arg, slices.Contains(box.Checks, name))
}

// SameButForElement reports whether a call does, or expects, what another one does with another element. Limits of time
// may differ.
func SameButForElement(box live.Toolbox, a, b trail.Call) bool {
	return deed(a.Tool) == deed(b.Tool) && reflect.DeepEqual(untimed(expectation(box, a)), untimed(expectation(box, b)))
}

// deed returns one name for the tools that do the same and differ in how they name the element: recordings for phones
// have many that tap, and models are offered one.
func deed(name string) string {
	switch name {
	case "tapOnElementBySelector", "tapOnElementWithText", "tapOnElementWithAccessibilityText", "tapOnAccessibilityNode":
		return "tap"
	case "longPressOnElementWithText", "longPressElementWithAccessibilityText":
		return "longPress"
	}
	return name
}

func untimed(args map[string]any) map[string]any {
	for _, name := range []string{"timeoutMs", "durationMs", "quietWindowMs"} {
		delete(args, name)
	}
	return args
}

// Judge compares the step before and after.
func (c *Change) Judge() Judgement {
	j := Judgement{Refused: c.refused()}
	j.Class, j.Why = c.class()
	j.NeedsCheck = j.Class == Renamed || c.Breakage.Element == act.Ambiguous
	if j.NeedsReview = j.Class == Renamed && !c.wasKept(); j.NeedsReview {
		j.Why += ", and no kept screen shows what was beside it"
	}
	if j.Refused == "" && c.isPresenceCheck() && j.Class != Same {
		j.Refused = "the check says that this element is there, so no other one can take its place"
	}
	return j
}

// refusedWay returns why the calls before the one in the place of the recorded one may do more than lead to its element.
func (c *Change) refusedWay() string {
	for _, m := range c.Way {
		switch name := m.element(); {
		case !leads().MatchString(m.Call.Tool) || givesData(expectation(c.Box, m.Call)):
			return m.Call.Tool + " comes before it, which does more than lead to an element"
		case c.isUsed(name):
			return fmt.Sprintf("another call of the trail is for %s, so the app may have lost what that did", name)
		case c.isElsewhere(m.Screen):
			return "it leads to another page"
		}
	}
	if len(c.Way) > 0 && c.isElsewhere(c.Prior) {
		return "it leads to another page"
	}
	return ""
}

// leads matches the tools of calls that lead to an element.
var leads = lazyregexp.New(`(?i)(?:click|hover|scroll|swipe|tap|press|dialog|back|keyboard)`)

// givesData reports whether arguments have what a call types, chooses or uploads.
func givesData(args map[string]any) bool {
	key, _ := args["key"].(string)
	return len([]rune(key)) == 1 || slices.ContainsFunc([]string{"text", "value", "values", "files", "checked", "promptText"}, func(name string) bool {
		return args[name] != nil
	})
}

// isUsed reports whether another recorded call of the trail is for an element.
func (c *Change) isUsed(e element) bool {
	return slices.ContainsFunc(c.Others, func(other trail.Call) bool {
		o := recordedElement(c.Box, other)
		return equalIDs(o, e) || o.sameName(e) && (o.role == "" || o.role == e.role)
	})
}

// isElsewhere reports whether a screen is of another page than that on which the call failed.
func (c *Change) isElsewhere(v *device.View) bool {
	if v == nil {
		return true
	}
	at, _, _ := strings.Cut(c.Screen.URL, "?")
	is, _, _ := strings.Cut(v.URL, "?")
	return at != is || screen.OtherDocument(c.Screen.Screen(), v.Screen())
}

// isPresenceCheck reports whether the call that failed is a check of nothing but that an element is there.
func (c *Change) isPresenceCheck() bool {
	failed := c.Before[c.Failing]
	return slices.Contains(c.Box.Checks, failed.Tool) && len(untimed(expectation(c.Box, failed))) == 0
}

// maxNewCalls is how many calls may take the place of one.
const maxNewCalls = 8

// refused returns why the guard does not let a change through, "" if it does.
func (c *Change) refused() string {
	rest := len(c.Before) - c.Failing - 1
	end := len(c.After) - rest
	switch {
	case len(c.Unrecorded) > 0:
		return fmt.Sprintf("a call of %s was made, which cannot be recorded", c.Unrecorded[0])
	case len(c.After) == 0:
		return "the step would have no calls"
	case end <= c.Failing || !sameCalls(c.Before[:c.Failing], c.After[:min(c.Failing, len(c.After))]) || !sameCalls(c.Before[c.Failing+1:], c.After[end:]):
		return "other calls than the one that failed would change, or be dropped"
	}
	put := c.After[c.Failing:end]
	if len(put) > maxNewCalls {
		return fmt.Sprintf("%d calls would take the place of one, more than %d", len(put), maxNewCalls)
	}
	if !slices.EqualFunc(c.checks(c.Before), c.checks(c.After), func(a, b trail.Call) bool { return SameButForElement(c.Box, a, b) }) {
		return "the step would not check the same"
	}
	for _, call := range put {
		if why := c.refusedCall(call); why != "" {
			return why
		}
	}
	if why := c.refusedWay(); why != "" {
		return why
	}
	origin := originOf(c.Screen.URL)
	for _, address := range c.URLs {
		if other := originOf(address); other != origin {
			return fmt.Sprintf("it leads from %s to %s", origin, other)
		}
	}
	return ""
}

// refusedCall returns why a call cannot be in the place of the one that failed.
func (c *Change) refusedCall(call trail.Call) string {
	t, err := c.Box.Registry.Find(call.Tool)
	switch {
	case err != nil || t.Source.Kind != tool.FromDevice:
		return call.Tool + " is not a command of the device"
	case !t.IsRecordable:
		return call.Tool + " cannot be recorded"
	case c.Box.Limits[call.Tool] != "":
		return call.Tool + " is restricted"
	case call.Args["url"] != nil && !c.had("url", call.Args["url"]), call.Args["appId"] != nil && !c.had("appId", call.Args["appId"]):
		return call.Tool + " opens another page or app than the recording"
	case c.Kind == trail.KindVerify && !slices.Contains(c.Box.Checks, call.Tool):
		return call.Tool + " acts, and a verify only checks"
	}
	return ""
}

// had reports whether the recording has a value of an argument.
func (c *Change) had(arg string, value any) bool {
	return slices.ContainsFunc(c.Before, func(b trail.Call) bool { return reflect.DeepEqual(b.Args[arg], value) })
}

func (c *Change) checks(calls []trail.Call) []trail.Call {
	return slices.DeleteFunc(slices.Clone(calls), func(call trail.Call) bool { return !slices.Contains(c.Box.Checks, call.Tool) })
}

func sameCalls(a, b []trail.Call) bool {
	return slices.EqualFunc(a, b, func(x, y trail.Call) bool {
		return x.Tool == y.Tool && x.SaveAs == y.SaveAs && x.Timeout == y.Timeout && x.Optional == y.Optional && x.Soft == y.Soft &&
			reflect.DeepEqual(x.Args, y.Args)
	})
}

func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// class returns the class of the change, and why.
func (c *Change) class() (Class, string) {
	put := c.Failing + c.Added
	failed := c.Before[c.Failing]
	if c.Target == nil || put >= len(c.After) {
		return Different, "it is not known which element takes the place of the recorded one"
	}
	if !SameButForElement(c.Box, failed, c.After[put]) {
		return Different, "the call does something else than the recorded one"
	}
	old, now := recordedElement(c.Box, failed), Made{Element: c.Target, Selectors: c.Selectors}.element()
	if why := c.isSame(old, now); why == "" {
		if c.Added > 0 {
			return Rerouted, "it is the same element, after other calls"
		}
		return Same, "it is the same element"
	} else if c.Added > 0 {
		return Different, "other calls come before it, and " + why
	}
	if why := c.notRenamed(old, now); why != "" {
		return Different, why
	}
	return Renamed, fmt.Sprintf("%s is now called %q", old, now.name)
}

// wasKept reports whether a kept screen of a session in which the trail passed shows the name of the recorded element, and
// so what was beside it.
func (c *Change) wasKept() bool {
	name := plain(recordedElement(c.Box, c.Before[c.Failing]).name)
	return slices.ContainsFunc(c.Passed, func(passed string) bool { return slices.Contains(namesIn(passed), name) })
}

// isSame returns why the target is not certainly the recorded element, "" if it is.
func (c *Change) isSame(old, now element) string {
	shown := c.shownBefore(old)
	switch {
	case slices.ContainsFunc(shown, func(n *screen.Node) bool { return n.Key != "" && n.Key == c.Target.Key }):
		return ""
	case old.counted:
		return "the recording counts elements that look alike"
	case !c.isAround(old.around):
		return notWhereRecorded
	case slices.Contains(c.Box.Checks, c.Before[c.Failing].Tool) && old.name != "" && !old.sameName(now):
		return fmt.Sprintf("%s is not %s, which the check expects", now, old)
	case old.sameName(now) && (old.role == "" || old.role == now.role), c.hasIDOf(old, now), c.wasFound(now),
		slices.ContainsFunc(shown, func(n *screen.Node) bool { return c.hasIDOf(describeNode(n), now) }):
		return ""
	}
	return fmt.Sprintf("%s is not %s", now, old)
}

const notWhereRecorded = "it is not where the recording says"

// hasIDOf reports whether the target has an id of another element, and the name, too, if elements of a list share the id.
func (c *Change) hasIDOf(e, now element) bool {
	return equalIDs(e, now) && (e.sameName(now) || !c.areSeveral(func(other element) bool { return equalIDs(other, now) }))
}

// areSeveral reports whether there are several elements of a kind on the screen on which the call failed, or on that of
// the target.
func (c *Change) areSeveral(isOne func(element) bool) bool {
	return slices.ContainsFunc([]*device.View{c.Screen, c.Prior}, func(v *device.View) bool {
		if v == nil {
			return false
		}
		n := 0
		for _, node := range v.Tree.Nodes() {
			if isOne(describeNode(node)) {
				n++
			}
		}
		return n > 1
	})
}

// wasFound reports whether the target is the element that was not ready.
func (c *Change) wasFound(now element) bool {
	found := describedElement(c.Breakage.Found)
	if m := tagAndID().FindStringSubmatch(c.Breakage.Found); m != nil {
		found.id = m[1]
	}
	isLike := func(e element) bool { return found.sameName(e) && found.role == e.role }
	return c.hasIDOf(found, now) || isLike(now) && !c.areSeveral(isLike)
}

// tagAndID matches an element of a page as messages describe it by its id, such as input#quantity.
var tagAndID = lazyregexp.New(`^[a-z][a-z0-9-]*#([\w-]+)`)

// shownBefore returns the elements that the recording means on the screen on which the call failed.
func (c *Change) shownBefore(old element) []*screen.Node {
	args := c.Before[c.Failing].Args
	if c.Breakage.Element == act.Missing || c.Screen == nil || args["nodeSelector"] == nil && (old.counted || old.id != "") {
		return nil
	}
	nodes, known := live.FindElements(c.Screen, args)
	if !known {
		return nil
	}
	return nodes
}

// isAround reports whether the target is where a selector says, on its screen. nil is anywhere.
func (c *Change) isAround(where *screen.Selector) bool {
	return where == nil || c.Prior != nil && c.Prior.Tree.Check(where) == nil && slices.Contains(c.Prior.Tree.Resolve(where).Nodes, c.Target)
}

// notRenamed returns why the target is not the recorded element with another name, "" if it may be.
func (c *Change) notRenamed(old, now element) string {
	switch {
	case old.name == "" || now.name == "":
		return fmt.Sprintf("%s is not %s", now, old)
	case old.role == "":
		return "the recording does not say which role the element has"
	case old.role != now.role:
		return fmt.Sprintf("it is a %s, not a %s", now.role, old.role)
	case !strings.ContainsFunc(old.name, unicode.IsLetter) || !strings.ContainsFunc(now.name, unicode.IsLetter):
		return fmt.Sprintf("%s is not %s, and one of them has no letters", now, old)
	case old.counted || !c.isAround(old.around):
		return notWhereRecorded
	case equalIDs(old, now) && !c.hasIDOf(old, now):
		return "several elements have its id"
	case !slices.Equal(numbersIn(old.name), numbersIn(now.name)) && len(numbersIn(old.name)) > 0:
		return fmt.Sprintf("the numbers in %q and %q differ", old.name, now.name)
	}
	if c.isUsed(now) {
		return fmt.Sprintf("another call of the trail is for %s", now)
	}
	for _, v := range []*device.View{c.Screen, c.Prior} {
		if v != nil && shows(v.Tree, old.name) {
			return fmt.Sprintf("the screen still shows %q", old.name)
		}
	}
	for _, passed := range c.Passed {
		if names := namesIn(passed); slices.Contains(names, plain(old.name)) && slices.Contains(names, plain(now.name)) {
			return fmt.Sprintf("%q was beside %q when the trail last passed", now.name, old.name)
		}
	}
	return ""
}

// shows reports whether an element of a screen has a name, or content.
func shows(t *screen.Tree, name string) bool {
	return slices.ContainsFunc(t.Nodes(), func(n *screen.Node) bool { return plain(n.Name()) == plain(name) || plain(n.Content()) == plain(name) })
}

// quotedName matches the names in the text form of a screen.
var quotedName = lazyregexp.New(`(?m)^\s*- \S+ ("(?:[^"\\]|\\.)*")`)

func namesIn(text string) []string {
	var names []string
	for _, m := range quotedName().FindAllStringSubmatch(text, -1) {
		names = append(names, plain(describedElement("x "+m[1]).name))
	}
	return names
}

// plain returns a name without case, spaces and punctuation. One that has nothing else is all of it. Signs such as + and €
// are kept.
func plain(name string) string {
	name = norm.NFKC.String(name)
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || unicode.IsSymbol(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
	if letters == "" {
		return strings.TrimSpace(name)
	}
	return letters
}

// number matches a number with its sign, which is none behind a word, as in "A-1".
var number = lazyregexp.New(`(?:\B[-+−–]\p{Sc}?)?\d+(?:[.,]\d+)*`)

// numbersIn returns the numbers in a name, which are values and not words.
func numbersIn(name string) []string { return number().FindAllString(norm.NFKC.String(name), -1) }
