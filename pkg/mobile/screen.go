package mobile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// found is an element on a screen.
type found struct {
	node   *screen.Node
	match  screen.Match
	screen Screen
	part   screen.Rect  // what the screen and what scrolls leave of it
	point  screen.Point // where it is touched
	behind string       // the app in front of its window, whose window takes all touches
	// doubted says that the device reports it as not visible, although it is on the screen and nothing else is there.
	doubted bool
	over    *screen.Node // lies above it where it is touched, and is taken to let the touch through; nil for none
}

// condition is something that has to hold of an element.
type condition = act.Condition[*found]

// search looks for the element of a call. It implements act.Screen.
type search struct {
	phone      *phone
	target     target
	checksText bool // a recording by reference has to fail when the element has another text
	conditions []condition
	// stable says that the element must have the same bounds in two reads. Then the keyboard is hidden once if it
	// covers the element.
	stable bool
	settle bool // look only at a screen that has come to rest after an action

	last   Screen       // that was read
	front  string       // the app in front, if there are windows of other apps
	before *screen.Rect // the element in the read before
	hid    bool         // the keyboard was hidden
	other  string       // the app in front when a failure was explained, if it is not the one under test
}

// search returns the search for an element that has to be visible, and that conditions have to hold of.
func (d *phone) search(t target, conditions ...condition) *search {
	return &search{phone: d, target: t, conditions: append([]condition{{Name: "visible", Check: hiddenBecause}}, conditions...)}
}

// searchOnScreen is search for an element that has to be where people see it, whatever iOS reports.
func (d *phone) searchOnScreen(t target, conditions ...condition) *search {
	s := d.search(t, conditions...)
	if d.options.Platform == IOS {
		s.conditions[0].Check = notSeenBecause
	}
	return s
}

// touchable returns the conditions of an element that is to be touched at a point. where returns the point, or why
// there is none.
func (d *phone) touchable(where func(*found) (screen.Point, string)) []condition {
	conditions := []condition{
		{Name: "enabled", Check: func(e *found) string {
			if e.node.Disabled {
				return "it is disabled"
			}
			return ""
		}},
		{Name: "on the screen", Check: func(e *found) (reason string) {
			if e.part.Empty() {
				return noBounds
			}
			e.point, reason = where(e)
			return reason
		}},
		{Name: "above the keyboard", Check: func(e *found) string {
			if e.isUnderKeyboard(e.point) {
				return underKeyboard
			}
			return ""
		}},
	}
	if d.options.Platform == IOS {
		return append(conditions, condition{Name: "uncovered", Check: coveredOnIOS})
	}
	return append(conditions, condition{Name: "uncovered", Check: coveredBecause})
}

// underKeyboard is the reason for an element that the keyboard covers.
const underKeyboard = "the keyboard covers it"

// moving is the reason for an element that is not in the same place in two reads.
const moving = "it moves"

// noBounds is the reason for an element without bounds.
const noBounds = "the device does not report where it is"

// toast is the class of the short notices of Android, which have no bounds. The server reports notifications of any app
// as toasts, too, and all of them as those of one app.
const toast = "android.widget.Toast"

func (e *found) isToast() bool { return e.node.Class != nil && *e.node.Class == toast }

// centre is where an element is touched: in the middle of what is visible of it, beside the bars of iOS.
func centre(e *found) (screen.Point, string) { return e.besideBars().Centre(), "" }

// reportedHidden is the reason for an element that the device reports as not visible.
const reportedHidden = "it is there, but the device reports that it is not visible"

// hiddenBecause returns why an element is not visible, "" if it is. It sets the visible part.
func hiddenBecause(e *found) string {
	reason := outsideBecause(e)
	if e.node.Hidden {
		return reportedHidden
	}
	return reason
}

// notSeenBecause is hiddenBecause for iOS, which reports some elements as not visible that people see, such as those of
// Flutter. One that is on the screen counts as visible if nothing else that is visible is in its place.
func notSeenBecause(e *found) string {
	reason := outsideBecause(e)
	switch at := e.part.Centre(); {
	case reason != "" || !e.node.Hidden:
		return reason
	case e.isUnderKeyboard(at):
		return underKeyboard
	case e.isUnderOthers(at):
		return reportedHidden
	}
	e.doubted = true
	return ""
}

// isUnderOthers reports whether something that is visible, and is neither around the element nor in it, is at a point.
// What only holds others shows nothing itself.
func (e *found) isUnderOthers(at screen.Point) bool {
	tree := e.screen.Tree
	return slices.ContainsFunc(tree.Nodes(), func(n *screen.Node) bool {
		empty := len(n.Children) > 0 && n.Name() == "" && n.Content() == "" && !isBar(n) && !isDialog(n)
		return !n.Hidden && !empty && n.Bounds != nil && n.Bounds.Contains(at) && !tree.IsWithin(n, e.node) && !tree.IsWithin(e.node, n)
	})
}

// outsideBecause returns why an element is not on the screen, "" if it is. It sets the visible part.
func outsideBecause(e *found) string {
	part, ok := e.screen.Tree.VisiblePart(e.node)
	e.part = part
	switch {
	case e.isToast():
		return ""
	case e.node.Bounds == nil:
		return noBounds
	case e.node.Bounds.Empty():
		return "it has no area"
	case !ok:
		return "it is outside of the screen, or scrolled out of view"
	}
	return ""
}

// action returns the action for which the search finds the element, or with a nil perform the check of its conditions.
func (s *search) action(want string, ready time.Duration, perform func(context.Context, *found) error) *act.Action[*found] {
	a := &act.Action[*found]{
		Screen: s, Selector: s.target.words, Want: want, Place: "the screen", Limits: s.phone.limits.readyWithin(ready),
	}
	if perform != nil {
		a.Perform = func(ctx context.Context, o act.Observation[*found]) error { return perform(ctx, o.Element) }
	}
	return a
}

// readyWithin are the limits of an action whose element has to be ready within some time.
func (l Limits) readyWithin(ready time.Duration) act.Limits {
	return act.Limits{Ready: ready, First: l.First, Poll: l.Poll, Response: l.Response, Slow: l.Slow}
}

// Observe implements act.Screen.
func (s *search) Observe(ctx context.Context, _ time.Duration) (act.Observation[*found], error) {
	start := time.Now()
	o, err := s.look(ctx)
	if err != nil || !s.stable {
		return o, err
	}
	if o.Reason == underKeyboard && !s.hid {
		s.hid = true
		if err := s.phone.tryHideKeyboard(ctx); err != nil {
			return o, err
		}
		s.before, start = nil, time.Now()
		if o, err = s.look(ctx); err != nil {
			return o, err
		}
	}
	if o.Ready && !s.atRest(o) {
		if err := act.Pause(ctx, s.phone.limits.Stable-time.Since(start)); err != nil {
			return o, err
		}
		if o, err = s.look(ctx); err != nil {
			return o, err
		}
		o.Tries = 2
	}
	moves := o.Ready && !s.atRest(o)
	s.before = boundsOf(o)
	switch {
	case moves:
		o.Ready, o.Reason = false, moving
	case o.Ready:
		o.Held = append(o.Held, "stable")
	}
	return o, nil
}

// atRest reports whether the element is where it was in the read before. It remembers where it is.
func (s *search) atRest(o act.Observation[*found]) bool {
	before, now := s.before, boundsOf(o)
	s.before = now
	return before != nil && now != nil && *before == *now
}

func boundsOf(o act.Observation[*found]) *screen.Rect {
	if o.Element == nil {
		return nil
	}
	return o.Element.node.Bounds
}

// look reads the screen, resolves the element in it, and checks the conditions.
func (s *search) look(ctx context.Context) (act.Observation[*found], error) {
	list, err := s.find(ctx)
	if err != nil {
		return act.Observation[*found]{}, err
	}
	o := act.Choose(s.target.words, s.target.unique, list, describe, s.conditions...)
	if len(list) == 0 && s.target.selector != nil {
		o.Missing = s.missing()
	}
	return o, nil
}

func describe(e *found) string { return e.node.String() }

// find reads the screen and returns the elements that match, best first.
func (s *search) find(ctx context.Context) (list []*found, err error) {
	settle := s.settle || s.target.ref != "" // a reference is not waited for
	if s.last, err = s.phone.read(ctx, settle, s.target); err != nil {
		return nil, err
	}
	if s.front = ""; s.stable {
		s.front = s.phone.covering(ctx, s.last.Tree)
	}
	return s.resolve(ctx)
}

// read returns what is on the screen, when it has come to rest if settle is set, with the rows and columns and the focus
// that are needed to find a target.
func (d *phone) read(ctx context.Context, settle bool, t target) (now Screen, err error) {
	if settle {
		now, err = d.readSettled(ctx)
	}
	switch {
	case err != nil:
		return now, err
	case t.cells:
		now, err = d.driver.ReadCells(ctx)
	case !settle:
		now, err = d.driver.Read(ctx)
	}
	if err != nil || !t.focus {
		return now, err
	}
	return d.driver.withFocus(ctx, now)
}

// covering returns the app in front if the screen has windows of several apps, "" if not.
func (d *phone) covering(ctx context.Context, t *screen.Tree) string {
	if !slices.ContainsFunc(t.Windows, func(w screen.Window) bool { return w.App != t.Windows[0].App }) {
		return ""
	}
	front, err := d.driver.Foreground(ctx)
	if err != nil {
		return ""
	}
	return front
}

// behind returns the app in front if one of its windows is over that of n, which is of another app; "" if none is. A
// dialog of the system, such as for a permission, takes every touch, also beside it. A window that merely floats above
// belongs to an app that is not in front, and those of a split screen lie side by side.
func (s *search) behind(n *screen.Node) string {
	var above []*screen.Node
	for _, w := range s.last.Tree.Windows {
		over := func(front *screen.Node) bool {
			return front.Bounds == nil || w.Root.Bounds == nil || !front.Bounds.Intersect(*w.Root.Bounds).Empty()
		}
		switch {
		case w.App == s.front:
			above = append(above, w.Root)
		case s.last.Tree.IsWithin(n, w.Root) && slices.ContainsFunc(above, over):
			return s.front
		}
	}
	return ""
}

// resolve returns the elements that match on the screen that was read, best first.
func (s *search) resolve(ctx context.Context) ([]*found, error) {
	if s.target.ref != "" {
		return s.lookup(ctx)
	}
	if err := s.last.Tree.Check(s.target.selector); err != nil {
		return nil, err
	}
	resolve := s.last.Tree.Resolve
	if s.stable {
		resolve = s.last.Tree.ResolveForAction
	}
	match := resolve(s.target.selector)
	var list []*found
	for _, n := range distinct(match.Nodes) {
		if s.target.enabled == nil || *s.target.enabled != n.Disabled {
			list = append(list, &found{node: n, match: match, screen: s.last, behind: s.behind(n)})
		}
	}
	if s.target.words.Indexed {
		slices.SortStableFunc(list, byPlace)
		return list, nil
	}
	slices.SortStableFunc(list, func(a, b *found) int { return s.unsuitable(a) - s.unsuitable(b) })
	return list, nil
}

// unsuitable returns 0 for an element that is visible, and for an assertion one that all conditions hold of, 1 for one
// whose visibility is in doubt, and 2 for the others.
func (s *search) unsuitable(e *found) int {
	conditions := s.conditions
	if s.stable {
		conditions = conditions[:1]
	}
	switch {
	case slices.ContainsFunc(conditions, func(c condition) bool { return c.Check(e) != "" }):
		return 2
	case e.doubted:
		return 1
	}
	return 0
}

// byPlace orders elements by top and left; those without bounds come last.
func byPlace(a, b *found) int {
	p, q := a.node.Bounds, b.node.Bounds
	switch {
	case p == nil || q == nil:
		return trueLast(p == nil, q == nil)
	case p.Top != q.Top:
		return p.Top - q.Top
	}
	return p.Left - q.Left
}

// trueLast compares a and b so that false comes before true.
func trueLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// missing returns the message for a selector that matches nothing, if there is more to say than that.
func (s *search) missing() string {
	tree, words := s.last.Tree, s.target.words.String()
	if showsNothing(tree) {
		return words + " was not found: this app shows nothing to accessibility here"
	}
	why := tree.Explain(s.target.selector)
	if why == "" || why == "nothing matches "+s.target.selector.String() {
		return ""
	}
	return words + " was not found: " + why
}

// showsNothing reports whether nothing on a screen has a name or a content, and one element without children fills it,
// as in apps that draw themselves.
func showsNothing(t *screen.Tree) bool {
	return isBlank(t) && slices.ContainsFunc(t.Nodes(), func(n *screen.Node) bool {
		return len(n.Children) == 0 && n.Bounds != nil && 10*n.Bounds.Width()*n.Bounds.Height() >= 8*t.Width*t.Height
	})
}

// isBlank reports whether nothing on a screen has a name or a content.
func isBlank(t *screen.Tree) bool {
	return !slices.ContainsFunc(t.Nodes(), func(n *screen.Node) bool { return n.Name() != "" || n.Content() != "" })
}

// WaitForChange implements act.Screen. A phone does not report changes, so that it is read again after limit.
func (*search) WaitForChange(ctx context.Context, limit time.Duration) { _ = act.Pause(ctx, limit) }

// Similar implements act.Screen.
func (s *search) Similar(context.Context) []string {
	if s.last.Tree == nil || s.target.selector == nil {
		return nil
	}
	var ref func(*screen.Node) string
	if s.phone.session.Live {
		ref = s.phone.seeReferences(s.last.Tree, true)
	}
	var list []string
	for _, n := range s.last.Tree.Near(s.target.selector) {
		list = append(list, screen.Describe([]*screen.Node{n}, ref))
	}
	return list
}

// Location implements act.Screen.
func (s *search) Location(ctx context.Context) (words string) {
	words, s.other = s.phone.location(ctx)
	return words
}

// alertElsewhere is what is in front if that is an alert which is not in the tree.
const alertElsewhere = "an alert"

// lockScreen is what is in front of a device that is locked or has its screen off.
const lockScreen = "the lock screen"

// location says which app is in front, "" if that is not known, and returns it if another one is under test. It names a
// lock screen, and an alert of the system that is not in the tree.
func (d *phone) location(ctx context.Context) (words, other string) {
	if does := d.driver.lock(ctx); does != "" {
		return "the device " + does, lockScreen
	}
	words, other = d.appInFront(ctx)
	last := d.driver.last.Load()
	if last == nil || slices.ContainsFunc(last.Nodes(), isDialog) {
		return words, other
	}
	if text := d.driver.alert(ctx); text != "" {
		other = alertElsewhere
		words = strings.TrimPrefix(words+fmt.Sprintf("; an alert is shown that cannot be read with it: %q", text), "; ")
	}
	return words, other
}

func (d *phone) appInFront(ctx context.Context) (words, other string) {
	front, err := d.driver.Foreground(ctx)
	switch {
	case err != nil || front == "":
		return "", ""
	case front == d.app:
		return "app " + front, ""
	case d.app == "":
		return front + " is in front", ""
	}
	return front + " is in front", front
}

// Hint implements act.Adviser.
func (s *search) Hint(reason string) string {
	switch {
	case s.other == alertElsewhere:
		return "launchApp: {permissions: …} answers it before the app asks; tapOnPoint taps one of its buttons"
	case s.other == lockScreen:
		return "unlock the device, and keep its screen on during tests"
	case s.other != "":
		return "tap a button of what is in front first, or start the app again; launchApp: {permissions: …} sets permissions " +
			"before the app asks for them"
	case reason == moving:
		return "raise timeoutMs if it comes to rest later; tapOnPoint taps a place without waiting"
	}
	return ""
}

// readSettled returns what is on the screen. After an action it first waits until what the action brings may have begun
// to show, and the screen has come to rest, but not for long.
func (d *phone) readSettled(ctx context.Context) (Screen, error) {
	return d.readSettledOn(ctx, d.driver)
}

// readSettledOn is readSettled for a driver.
func (d *phone) readSettledOn(ctx context.Context, driver *serial) (Screen, error) {
	actions := driver.actions.Load()
	moving := actions != driver.settled.Load()
	start := time.Now()
	now, err := driver.Read(ctx)
	for end := time.Now().Add(d.limits.Settle); moving && err == nil && time.Now().Before(end); {
		if err := act.Pause(ctx, d.limits.Stable-time.Since(start)); err != nil {
			return now, err
		}
		start = time.Now()
		before := signature(now.Tree)
		if now, err = driver.Read(ctx); err == nil {
			moving = signature(now.Tree) != before || driver.hasJustActed(d.limits.Begin)
		}
	}
	if err == nil {
		driver.settled.Store(actions)
	}
	return now, err
}

// signature is equal for two screens that look the same.
func signature(t *screen.Tree) string {
	var b strings.Builder
	for _, n := range t.Nodes() {
		fmt.Fprintf(&b, "%s %q %q %v %v", n.RoleName(), n.Name(), n.Content(), n.States, len(n.Children))
		if n.Bounds != nil {
			fmt.Fprint(&b, *n.Bounds)
		}
	}
	return b.String()
}

// isNotFound reports whether err means that the element was not found or not ready, as opposed to a failure of the
// device or wrong arguments.
func isNotFound(err error) bool {
	_, ok := errors.AsType[*act.Failure](err)
	return ok
}
