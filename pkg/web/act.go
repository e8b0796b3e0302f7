package web

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/fault"
)

const (
	actionLimit = 10 * time.Second // for an element to become ready (specification, section 15.1)
	assertLimit = 5 * time.Second  // for what is asserted to hold

	// pollSlice is how long page.js may look at one element before it is looked up anew from here.
	pollSlice = 200 * time.Millisecond
	// singleFrameSlice is the same where page.js looks it up by itself, and there is no other frame to look into.
	singleFrameSlice = time.Second
	// animationFrame is how long a frame of an animation is.
	animationFrame = 16 * time.Millisecond
	// responseLimit is for answers that are on their way when the time is over; a page that is busy for longer does not answer.
	responseLimit = time.Second
)

// condition is what an element must be, and what page.js does with it then.
type condition struct {
	check          string // the function in page.js that decides
	want           string // in words, after "is not"
	unique         bool   // there must be no second one
	options        map[string]any
	preferredRoles []string // roles, among controls of one name
}

// observation is what page.js saw of an element.
type observation struct {
	OK      bool     `json:"ok"`
	Gone    bool     `json:"gone"`
	Tries   int      `json:"tries"`
	Count   int      `json:"count"` // how many there are
	Matches []string `json:"few"`   // the first of too many
	What    string   `json:"what"`  // the element
	Why     string   `json:"why"`   // what is wrong with it
	Held    string   `json:"met"`   // what is right with it
	Actual  *string  `json:"is"`    // what it has instead of what was expected
	Text    string   `json:"text"`
	Apply   bool     `json:"apply"` // page.js is to do it, when told
	X       float64  `json:"x"`
	Y       float64  `json:"y"`
	Moved   float64  `json:"moved"`
	At      float64  `json:"at"`
	End     float64  `json:"end"`

	frame      *frame
	otherNames []string // names of the role that was looked for, when none fits
}

// timeLimit is how long something may be tried, and a moment longer for an answer that is on its way then.
type timeLimit struct{ start, end, final time.Time }

// newTimeLimit leaves of ctx what it takes to explain a failure. The first answer of a page may take its time, however short the limit.
func newTimeLimit(ctx context.Context, limit time.Duration) timeLimit {
	now := time.Now()
	grace := max(limit+responseLimit, assertLimit)
	if end, ok := ctx.Deadline(); ok {
		whole := end.Sub(now)
		rest := min(2*responseLimit, whole/4)
		limit, grace = max(0, min(limit, whole-rest)), min(grace, whole-rest/2)
	}
	return timeLimit{now, now.Add(limit), now.Add(grace)}
}

// left is what is left of it.
func (s timeLimit) left() time.Duration { return max(0, time.Until(s.end)) }

// elapsed is how long it was, in words.
func (s timeLimit) elapsed() string { return s.end.Sub(s.start).Round(100 * time.Millisecond).String() }

// attempt is the search for an element that is ready, from the first try to the last.
type attempt struct {
	timeLimit
	page      *page
	target    target
	condition condition
	tries     int
	lastSeen  time.Time   // when the last of them ended
	rounds    int         // how often a page around the frame of the element was in the way
	last      observation // of the last try
	identity  string      // role and name that the number of an element has stood for
}

func (p *page) attempt(ctx context.Context, tg target, a condition, limit time.Duration) *attempt {
	return &attempt{timeLimit: newTimeLimit(ctx, limit), page: p, target: tg, condition: a}
}

// run tries until the element is ready. Each try looks the element up anew. The error says what was seen.
func (a *attempt) run(ctx context.Context) (observation, error) {
	bounded, cancel := context.WithDeadline(ctx, a.final)
	defer cancel()
	for {
		s, err := a.try(bounded)
		a.tries += s.Tries
		switch {
		case err == nil && s.OK:
			return s, nil
		case ctx.Err() != nil:
			return observation{}, context.Cause(ctx)
		case bounded.Err() != nil && time.Since(a.lastSeen) > 2*responseLimit:
			return observation{}, fault.New(fault.CallTimeout, "", "%s: the page does not answer, its scripts are busy (for %s)", a.target.description,
				time.Since(a.start).Round(100*time.Millisecond))
		case bounded.Err() != nil:
			return observation{}, a.failure(ctx)
		case err != nil && !errors.Is(err, errGone):
			return observation{}, err
		case err == nil:
			a.last, a.lastSeen = s, time.Now()
		}
		if a.left() == 0 && err == nil {
			return observation{}, a.failure(ctx)
		}
		if err != nil || s.Why == "" {
			a.page.waitForChange(bounded, max(animationFrame, min(pollSlice, a.left())))
		}
	}
}

// waitForChange waits for the page to change, not for long.
func (p *page) waitForChange(ctx context.Context, limit time.Duration) {
	if p.main().eval(ctx, "pause", nil, limit.Milliseconds()) == nil {
		return
	}
	select { // there is no page to wait for yet
	case <-time.After(10 * time.Millisecond):
	case <-ctx.Done():
	}
}

// try looks for the element in every frame, the main one first, once or for a slice of time.
func (a *attempt) try(ctx context.Context) (observation, error) {
	if a.target.ref != "" {
		return a.tryNumber(ctx)
	}
	frames := a.page.frames()
	if a.condition.unique && a.target.nth < 0 && len(frames) > 1 {
		return a.unique(ctx, frames)
	}
	none := observation{Tries: 1}
	nth := a.target.nth
	for _, f := range frames {
		var s observation
		err := f.withinSlice(ctx, func(ctx context.Context) (err error) {
			s, err = a.look(ctx, f, nth, len(frames) == 1)
			return err
		})
		if err != nil {
			return observation{}, err
		}
		if s.Count > max(nth, 0) {
			return s, nil
		}
		nth -= s.Count // the place among the elements of the frames that follow
		none.Count += s.Count
		none.Tries = max(none.Tries, s.Tries)
		none.otherNames = append(none.otherNames, s.otherNames...)
	}
	return none, nil
}

// withinSlice asks something of a frame. One inside the page that is gone, or hangs as advertisements do, has nothing to say.
func (f *frame) withinSlice(ctx context.Context, ask func(context.Context) error) error {
	if f.parent == nil {
		return ask(ctx)
	}
	moment, cancel := context.WithTimeout(ctx, pollSlice+responseLimit)
	defer cancel()
	err := ask(moment)
	if errors.Is(err, errGone) || err != nil && moment.Err() != nil && ctx.Err() == nil {
		return nil
	}
	return err
}

// unique looks for an element that must be the only one in all frames.
func (a *attempt) unique(ctx context.Context, frames []*frame) (observation, error) {
	var found []observation
	total := observation{Tries: 1}
	for _, f := range frames {
		first := *a
		first.condition = condition{check: "exists", unique: true, preferredRoles: a.condition.preferredRoles}
		var s observation
		err := f.withinSlice(ctx, func(ctx context.Context) (err error) {
			s, err = first.look(ctx, f, -1, false)
			return err
		})
		if err != nil {
			return observation{}, err
		}
		if s.Count > 0 {
			found = append(found, s)
			total.Count += s.Count
			total.Matches = append(total.Matches, s.Matches...)
			if len(s.Matches) == 0 {
				total.Matches = append(total.Matches, s.What)
			}
		}
		total.otherNames = append(total.otherNames, s.otherNames...)
	}
	if len(found) == 1 && total.Count == 1 {
		return a.look(ctx, found[0].frame, -1, false)
	}
	total.Matches = total.Matches[:min(len(total.Matches), 4)]
	return total, nil
}

// look is one frame's part of a try. whole says that there is no other frame.
func (a *attempt) look(ctx context.Context, f *frame, nth int, whole bool) (observation, error) {
	nodes, named, err := a.nodes(ctx, f)
	if err != nil {
		return observation{}, err
	}
	if len(nodes) > 0 || a.target.spec == nil {
		return a.lookAt(ctx, f, nodes, named, nth)
	}
	wait := min(pollSlice, a.left())
	if whole {
		wait = min(singleFrameSlice, a.left())
	}
	if a.target.textOnly { // controls of that name may come
		whole, wait = false, min(wait, pollSlice)
	}
	return a.check(ctx, f, a.target.spec, nil, nth, wait, whole)
}

// nodes are the elements that the accessibility tree of a frame has for the target.
func (a *attempt) nodes(ctx context.Context, f *frame) (nodes []axNode, named []string, err error) {
	switch {
	case a.target.textOnly:
		nodes, err = f.controlsNamed(ctx, a.target.name.text, a.condition.preferredRoles)
	case a.target.spec == nil:
		nodes, named, err = f.byRole(ctx, a.target.role, a.target.name)
		if err == nil && len(nodes) == 0 && f.parent == nil {
			nodes, err = a.page.snapshotNodes(ctx, a.target)
		}
	}
	return nodes, named, err
}

// snapshotNodes are the elements that have the role and name in the snapshots that recordings are made from, where the browser has not: it
// gives rows no names, for one.
func (p *page) snapshotNodes(ctx context.Context, tg target) ([]axNode, error) {
	tree, err := p.tree(ctx)
	if err != nil {
		return nil, err
	}
	var nodes []axNode
	for _, line := range tree.Lines() {
		if exactly, _ := tg.name.matches(line.Name); exactly && line.BackendNodeID != 0 && (tg.role == "" || line.Role == tg.role) {
			nodes = append(nodes, axNode{Role: axValue{line.Role}, Name: axValue{line.Name}, Element: line.BackendNodeID})
		}
	}
	return nodes, nil
}

// lookAt looks at the one of several nodes that is meant.
func (a *attempt) lookAt(ctx context.Context, f *frame, nodes []axNode, named []string, nth int) (observation, error) {
	if len(nodes) <= max(nth, 0) {
		return observation{Count: len(nodes), Tries: 1, otherNames: named}, nil
	}
	if a.condition.unique && nth < 0 && len(nodes) > 1 {
		s := observation{Count: len(nodes), Tries: 1, frame: f}
		for _, n := range nodes[:min(4, len(nodes))] {
			s.Matches = append(s.Matches, fmt.Sprintf("%s %q", n.Role.text(), n.Name.text()))
		}
		return s, nil
	}
	s, err := a.lookAtNode(ctx, f, nodes[max(nth, 0)].Element)
	s.Count = len(nodes)
	return s, err
}

func (a *attempt) lookAtNode(ctx context.Context, f *frame, id int) (observation, error) {
	element, err := a.page.resolveNode(ctx, f, id)
	if err != nil {
		return observation{}, err
	}
	defer element.release()
	s, err := a.check(ctx, f, nil, element, -1, min(pollSlice, a.left()), false)
	if err == nil && s.Gone {
		err = errGone
	}
	return s, err
}

// check asks page.js, for a slice of time.
func (a *attempt) check(ctx context.Context, f *frame, spec map[string]string, element *handle, nth int, wait time.Duration, whole bool) (observation, error) {
	options := map[string]any{"slice": wait.Milliseconds(), "alone": whole, "only": a.condition.unique, "round": a.rounds}
	if nth >= 0 {
		options["nth"] = nth
	}
	maps.Copy(options, a.condition.options)
	var object any
	if element != nil {
		object = element
	}
	s := observation{frame: f}
	err := f.eval(ctx, "attempt", &s, a.condition.check, spec, object, options)
	return s, selectorError(err, spec["css"])
}

// selectorError says of an error that a script threw whether it is about a CSS selector; any other stays as it is.
func selectorError(err error, css string) error {
	if thrown, ok := errors.AsType[*scriptError](err); ok && css != "" && strings.HasPrefix(thrown.text, "SyntaxError") {
		return fault.New(fault.InvalidArguments, "write it as for document.querySelector", "%q is no CSS selector", css)
	}
	return err
}

// tryNumber looks at the element that a number means now. Once it has meant an element, it will not mean another in the same call.
func (a *attempt) tryNumber(ctx context.Context) (observation, error) {
	tree, err := a.page.tree(ctx)
	if err != nil {
		return observation{}, err
	}
	line, ok := tree.Ref(a.target.ref)
	if !ok {
		return observation{Tries: 1}, nil
	}
	is := fmt.Sprintf("%s %q", line.Role, line.Name)
	if a.identity != "" && is != a.identity {
		return observation{}, fault.New(fault.ToolFailed, "name the element itself, with nodeSelector or ref", "%s was %s, and is %s since the page changed",
			a.target.ref, a.identity, is)
	}
	a.identity, a.target.description = is, fmt.Sprintf("%s (%s)", a.target.ref, is)
	s, err := a.lookAtNode(ctx, a.page.main(), line.BackendNodeID)
	s.Count = 1
	return s, err
}

// pointInViewport is where the element that is ready is in the viewport of the page. On its way there, every frame around it lets the pointer
// through.
func (a *attempt) pointInViewport(ctx context.Context) (observation, error) {
	for {
		s, err := a.run(ctx)
		if err != nil || s.frame.parent == nil {
			return s, err
		}
		out, err := a.toViewport(ctx, s)
		switch {
		case err == nil && out.OK:
			return out, nil
		case err != nil && !errors.Is(err, errGone):
			return observation{}, err
		case err == nil:
			a.last = out
			a.rounds++
		}
		if a.left() == 0 {
			return observation{}, a.failure(ctx)
		}
		a.page.waitForChange(ctx, pollSlice)
	}
}

func (a *attempt) toViewport(ctx context.Context, s observation) (observation, error) {
	for f := s.frame; f.parent != nil; f = f.parent {
		owner, err := a.page.frameElement(ctx, f)
		if err != nil {
			return observation{}, err
		}
		out := observation{What: s.What, Held: "attached, visible, stable, enabled", Count: s.Count}
		err = f.parent.eval(ctx, "through", &out, owner, s.X, s.Y)
		owner.release()
		if err != nil {
			return observation{}, err
		}
		if out.Why != "" {
			return out, nil
		}
		s.X, s.Y = out.X, out.Y
	}
	return s, nil
}

// frameElement is the element of its parent that a frame is in.
func (p *page) frameElement(ctx context.Context, f *frame) (*handle, error) {
	var answer struct {
		ID int `json:"backendNodeId"`
	}
	err := f.parent.session.Call(ctx, "DOM.getFrameOwner", map[string]any{"frameId": f.id}, &answer)
	if _, refused := errors.AsType[*cdp.Error](err); refused {
		return nil, errGone
	}
	if err != nil {
		return nil, err
	}
	return p.resolveNode(ctx, f.parent, answer.ID)
}

// inputResult is what page.js saw of an event.
type inputResult struct {
	NewDocument bool    `json:"other"` // the document is another one
	Passed      bool    `json:"passed"`
	Blocked     string  `json:"blocked"` // what would have got it
	Accepted    bool    `json:"took"`    // the field has the text that was meant for it
	Changed     bool    `json:"changed"` // something happened in the field
	Shows       *string `json:"shows"`   // what it shows, nil when it has left the page
}

// inputResult asks the frames on the way of an event. about is the text that was entered, and whether it replaced what was there. A document
// that is gone has heard of it, unless the one that took its place says that the event came there, and was blocked.
func (a *attempt) inputResult(ctx context.Context, s observation, about ...any) (inputResult, error) {
	var v inputResult
	err := s.frame.eval(ctx, "verdict", &v, about...)
	if errors.Is(err, errGone) {
		moment, cancel := context.WithTimeout(ctx, responseLimit)
		defer cancel()
		_ = a.page.main().eval(moment, "verdict", &v) // it may not be there yet, and then has blocked nothing
		v.NewDocument = true
	}
	if v.NewDocument {
		return inputResult{Passed: v.Blocked == "", Accepted: true, Blocked: v.Blocked}, nil
	}
	for f := s.frame.parent; f != nil && err == nil && !v.Passed && v.Blocked == ""; f = f.parent {
		err = f.eval(ctx, "verdict", &v)
	}
	return v, err
}

// apply has page.js do what it found possible, once: a document that is gone has done it. ok is false when the element went before.
func (a *attempt) apply(ctx context.Context, s observation) (done observation, ok bool, err error) {
	err = s.frame.eval(ctx, "apply", &done)
	if errors.Is(err, errGone) {
		return s, true, nil
	}
	return done, err == nil && !done.Gone, err
}

// retryAfter notes that the page put another element in the way at the last moment, which has heard nothing. It fails when time is over.
func (a *attempt) retryAfter(ctx context.Context, s observation, v inputResult) error {
	s.Why = v.Blocked + " was in its place at the last moment"
	a.last = s
	a.tries++
	if a.left() == 0 {
		return a.failure(ctx)
	}
	return nil
}

// failure says what was asked, what was seen and what was tried.
func (a *attempt) failure(ctx context.Context) error {
	explain, cancel := context.WithTimeout(ctx, responseLimit)
	defer cancel()
	s := a.last
	var first, hint string
	details := []string{fmt.Sprintf("%s in %s", plural(a.tries, "try", "tries"), a.elapsed())}
	switch {
	case len(s.Matches) > 0:
		first = fmt.Sprintf("%s fits %d elements, and one is needed: %s", a.target.description, s.Count, strings.Join(s.Matches, ", "))
		hint = "say more of the element, or which one with nodeSelector.web.nthIndex"
	case s.Why == "":
		first = a.missing(explain)
	default:
		first = fmt.Sprintf("%s is not %s: %s", a.target.description, a.condition.want, s.Why)
		if s.Actual != nil {
			first += fmt.Sprintf(" is %q, not %q", shorten(*s.Actual), a.condition.options["expected"])
		}
		if s.What != "" {
			details = append(details, "found "+s.What+matches(s.Count))
		}
		if s.Held != "" {
			details = append(details, "it is "+s.Held)
		}
	}
	details = append(details, a.page.describe(explain))
	return fault.New(fault.ToolFailed, hint, "%s (%s)", first, strings.Join(details, "; "))
}

func matches(count int) string {
	if count < 2 {
		return ""
	}
	return fmt.Sprintf(", of %d", count)
}

// missing says that there is no such element, and what there is.
func (a *attempt) missing(ctx context.Context) string {
	text := "there is no " + a.target.description
	if a.last.Count > 0 {
		return fmt.Sprintf("%s, only %d", text, a.last.Count)
	}
	var candidates []string
	asked, kind := "", "text"
	switch {
	case a.target.ref != "":
		return text + " on the page any more; numbers are those of the page as it is now"
	case a.target.spec == nil:
		candidates = a.last.otherNames
		if a.target.name != nil {
			asked = a.target.name.text
		}
	default:
		for _, k := range []string{"text", "id", "testId", "css"} {
			if value, ok := a.target.spec[k]; ok {
				asked, kind = value, k
			}
		}
		_ = a.page.main().eval(ctx, "words", &candidates, kind) // a page that does not answer has no candidates
	}
	if near := nearest(asked, candidates); near != "" {
		return fmt.Sprintf("%s; there is %s", text, near)
	}
	return text
}

// describe is the address and the title of the page.
func (p *page) describe(ctx context.Context) string {
	var page struct{ URL, Title string }
	if p.main().eval(ctx, "page", &page) != nil {
		return "the page does not answer"
	}
	return fmt.Sprintf("page %s %q", shorten(page.URL), shorten(page.Title))
}

func shorten(text string) string {
	if runes := []rune(text); len(runes) > 200 {
		return string(runes[:199]) + "…"
	}
	return text
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
