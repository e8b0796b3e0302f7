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

	// slice is how long page.js may look at one element before it is looked up anew from here.
	slice = 200 * time.Millisecond
	// alone is the same where page.js looks it up by itself, and there is no other frame to look into.
	alone = time.Second
	// frameTime is how long a frame of an animation is.
	frameTime = 16 * time.Millisecond
	// patience is for answers that are on their way when the time is over; a page that is busy for longer does not answer.
	patience = time.Second
)

// ask is what an element must be, and what page.js does with it then.
type ask struct {
	judge   string // the function in page.js that decides
	ready   string // in words, after "is not"
	only    bool   // there must be no second one
	options map[string]any
	prefer  []string // roles, among controls of one name
}

// sight is what page.js saw of an element.
type sight struct {
	OK    bool     `json:"ok"`
	Gone  bool     `json:"gone"`
	Tries int      `json:"tries"`
	Count int      `json:"count"` // how many there are
	Few   []string `json:"few"`   // the first of too many
	What  string   `json:"what"`  // the element
	Why   string   `json:"why"`   // what is wrong with it
	Met   string   `json:"met"`   // what is right with it
	Is    *string  `json:"is"`    // what it has instead of what was expected
	Text  string   `json:"text"`
	Apply bool     `json:"apply"` // page.js is to do it, when told
	X     float64  `json:"x"`
	Y     float64  `json:"y"`
	Moved float64  `json:"moved"`
	At    float64  `json:"at"`
	End   float64  `json:"end"`

	frame *frame
	named []string // names of the role that was looked for, when none fits
}

// span is how long something may be tried, and a moment longer for an answer that is on its way then.
type span struct{ start, end, grace time.Time }

// newSpan leaves of ctx what it takes to explain a failure. The first answer of a page may take its time, however short the limit.
func newSpan(ctx context.Context, limit time.Duration) span {
	now := time.Now()
	grace := max(limit+patience, assertLimit)
	if end, ok := ctx.Deadline(); ok {
		whole := end.Sub(now)
		rest := min(2*patience, whole/4)
		limit, grace = max(0, min(limit, whole-rest)), min(grace, whole-rest/2)
	}
	return span{now, now.Add(limit), now.Add(grace)}
}

// left is what is left of it.
func (s span) left() time.Duration { return max(0, time.Until(s.end)) }

// took is how long it was, in words.
func (s span) took() string { return s.end.Sub(s.start).Round(100 * time.Millisecond).String() }

// attempt is the search for an element that is ready, from the first try to the last.
type attempt struct {
	span
	tab      *tab
	target   target
	ask      ask
	tries    int
	seen     time.Time // when the last of them ended
	rounds   int       // how often a page around the frame of the element was in the way
	last     sight     // of the last try
	identity string    // role and name that the number of an element has stood for
}

func (t *tab) attempt(ctx context.Context, tg target, a ask, limit time.Duration) *attempt {
	return &attempt{span: newSpan(ctx, limit), tab: t, target: tg, ask: a}
}

// run tries until the element is ready. Each try looks the element up anew. The error says what was seen.
func (a *attempt) run(ctx context.Context) (sight, error) {
	bounded, cancel := context.WithDeadline(ctx, a.grace)
	defer cancel()
	for {
		s, err := a.try(bounded)
		a.tries += s.Tries
		switch {
		case err == nil && s.OK:
			return s, nil
		case ctx.Err() != nil:
			return sight{}, context.Cause(ctx)
		case bounded.Err() != nil && time.Since(a.seen) > 2*patience:
			return sight{}, fault.New(fault.CallTimeout, "", "%s: the page does not answer, its scripts are busy (for %s)", a.target.asked,
				time.Since(a.start).Round(100*time.Millisecond))
		case bounded.Err() != nil:
			return sight{}, a.failure(ctx)
		case err != nil && !errors.Is(err, errGone):
			return sight{}, err
		case err == nil:
			a.last, a.seen = s, time.Now()
		}
		if a.left() == 0 && err == nil {
			return sight{}, a.failure(ctx)
		}
		if err != nil || s.Why == "" {
			a.tab.breathe(bounded, max(frameTime, min(slice, a.left())))
		}
	}
}

// breathe waits for the page to change, not for long.
func (t *tab) breathe(ctx context.Context, limit time.Duration) {
	if t.main().eval(ctx, "pause", nil, limit.Milliseconds()) == nil {
		return
	}
	select { // there is no page to wait for yet
	case <-time.After(10 * time.Millisecond):
	case <-ctx.Done():
	}
}

// try looks for the element in every frame, the main one first, once or for a slice of time.
func (a *attempt) try(ctx context.Context) (sight, error) {
	if a.target.ref != "" {
		return a.number(ctx)
	}
	frames := a.tab.frames()
	if a.ask.only && a.target.nth < 0 && len(frames) > 1 {
		return a.onlyOne(ctx, frames)
	}
	none := sight{Tries: 1}
	nth := a.target.nth
	for _, f := range frames {
		var s sight
		err := f.bounded(ctx, func(ctx context.Context) (err error) {
			s, err = a.look(ctx, f, nth, len(frames) == 1)
			return err
		})
		if err != nil {
			return sight{}, err
		}
		if s.Count > max(nth, 0) {
			return s, nil
		}
		nth -= s.Count // the place among the elements of the frames that follow
		none.Count += s.Count
		none.Tries = max(none.Tries, s.Tries)
		none.named = append(none.named, s.named...)
	}
	return none, nil
}

// bounded asks something of a frame. One inside the page that is gone, or hangs as advertisements do, has nothing to say.
func (f *frame) bounded(ctx context.Context, ask func(context.Context) error) error {
	if f.parent == nil {
		return ask(ctx)
	}
	moment, cancel := context.WithTimeout(ctx, slice+patience)
	defer cancel()
	err := ask(moment)
	if errors.Is(err, errGone) || err != nil && moment.Err() != nil && ctx.Err() == nil {
		return nil
	}
	return err
}

// onlyOne looks for an element that must be the only one in all frames.
func (a *attempt) onlyOne(ctx context.Context, frames []*frame) (sight, error) {
	var found []sight
	total := sight{Tries: 1}
	for _, f := range frames {
		first := *a
		first.ask = ask{judge: "exists", only: true, prefer: a.ask.prefer}
		var s sight
		err := f.bounded(ctx, func(ctx context.Context) (err error) {
			s, err = first.look(ctx, f, -1, false)
			return err
		})
		if err != nil {
			return sight{}, err
		}
		if s.Count > 0 {
			found = append(found, s)
			total.Count += s.Count
			total.Few = append(total.Few, s.Few...)
			if len(s.Few) == 0 {
				total.Few = append(total.Few, s.What)
			}
		}
		total.named = append(total.named, s.named...)
	}
	if len(found) == 1 && total.Count == 1 {
		return a.look(ctx, found[0].frame, -1, false)
	}
	total.Few = total.Few[:min(len(total.Few), 4)]
	return total, nil
}

// look is one frame's part of a try. whole says that there is no other frame.
func (a *attempt) look(ctx context.Context, f *frame, nth int, whole bool) (sight, error) {
	nodes, named, err := a.nodes(ctx, f)
	if err != nil {
		return sight{}, err
	}
	if len(nodes) > 0 || a.target.spec == nil {
		return a.lookAt(ctx, f, nodes, named, nth)
	}
	wait := min(slice, a.left())
	if whole {
		wait = min(alone, a.left())
	}
	if a.target.plain { // controls of that name may come
		whole, wait = false, min(wait, slice)
	}
	return a.judge(ctx, f, a.target.spec, nil, nth, wait, whole)
}

// nodes are the elements that the accessibility tree of a frame has for the target.
func (a *attempt) nodes(ctx context.Context, f *frame) (nodes []axNode, named []string, err error) {
	switch {
	case a.target.plain:
		nodes, err = f.controlsNamed(ctx, a.target.name.text, a.ask.prefer)
	case a.target.spec == nil:
		nodes, named, err = f.byRole(ctx, a.target.role, a.target.name)
		if err == nil && len(nodes) == 0 && f.parent == nil {
			nodes, err = a.tab.recorded(ctx, a.target)
		}
	}
	return nodes, named, err
}

// recorded are the elements that have the role and name in the snapshots that recordings are made from, where the browser has not: it
// gives rows no names, for one.
func (t *tab) recorded(ctx context.Context, tg target) ([]axNode, error) {
	tree, err := t.tree(ctx)
	if err != nil {
		return nil, err
	}
	var nodes []axNode
	for _, line := range tree.Lines() {
		if exactly, _ := tg.name.fits(line.Name); exactly && line.BackendNodeID != 0 && (tg.role == "" || line.Role == tg.role) {
			nodes = append(nodes, axNode{Role: axValue{line.Role}, Name: axValue{line.Name}, Element: line.BackendNodeID})
		}
	}
	return nodes, nil
}

// lookAt looks at the one of several nodes that is meant.
func (a *attempt) lookAt(ctx context.Context, f *frame, nodes []axNode, named []string, nth int) (sight, error) {
	if len(nodes) <= max(nth, 0) {
		return sight{Count: len(nodes), Tries: 1, named: named}, nil
	}
	if a.ask.only && nth < 0 && len(nodes) > 1 {
		s := sight{Count: len(nodes), Tries: 1, frame: f}
		for _, n := range nodes[:min(4, len(nodes))] {
			s.Few = append(s.Few, fmt.Sprintf("%s %q", n.Role.text(), n.Name.text()))
		}
		return s, nil
	}
	s, err := a.lookAtNode(ctx, f, nodes[max(nth, 0)].Element)
	s.Count = len(nodes)
	return s, err
}

func (a *attempt) lookAtNode(ctx context.Context, f *frame, id int) (sight, error) {
	element, err := a.tab.node(ctx, f, id)
	if err != nil {
		return sight{}, err
	}
	defer element.release()
	s, err := a.judge(ctx, f, nil, element, -1, min(slice, a.left()), false)
	if err == nil && s.Gone {
		err = errGone
	}
	return s, err
}

// judge asks page.js, for a slice of time.
func (a *attempt) judge(ctx context.Context, f *frame, spec map[string]string, element *handle, nth int, wait time.Duration, whole bool) (sight, error) {
	options := map[string]any{"slice": wait.Milliseconds(), "alone": whole, "only": a.ask.only, "round": a.rounds}
	if nth >= 0 {
		options["nth"] = nth
	}
	maps.Copy(options, a.ask.options)
	var object any
	if element != nil {
		object = element
	}
	s := sight{frame: f}
	err := f.eval(ctx, "attempt", &s, a.ask.judge, spec, object, options)
	return s, noSelector(err, spec["css"])
}

// noSelector says of an error that a script threw whether it is about a CSS selector; any other stays as it is.
func noSelector(err error, css string) error {
	if thrown, ok := errors.AsType[*scriptError](err); ok && css != "" && strings.HasPrefix(thrown.text, "SyntaxError") {
		return fault.New(fault.InvalidArguments, "write it as for document.querySelector", "%q is no CSS selector", css)
	}
	return err
}

// number looks at the element that a number means now. Once it has meant an element, it will not mean another in the same call.
func (a *attempt) number(ctx context.Context) (sight, error) {
	tree, err := a.tab.tree(ctx)
	if err != nil {
		return sight{}, err
	}
	line, ok := tree.Ref(a.target.ref)
	if !ok {
		return sight{Tries: 1}, nil
	}
	is := fmt.Sprintf("%s %q", line.Role, line.Name)
	if a.identity != "" && is != a.identity {
		return sight{}, fault.New(fault.ToolFailed, "name the element itself, with nodeSelector or ref", "%s was %s, and is %s since the page changed",
			a.target.ref, a.identity, is)
	}
	a.identity, a.target.asked = is, fmt.Sprintf("%s (%s)", a.target.ref, is)
	s, err := a.lookAtNode(ctx, a.tab.main(), line.BackendNodeID)
	s.Count = 1
	return s, err
}

// point is where the element that is ready is in the viewport of the page. On its way there, every frame around it lets the pointer
// through.
func (a *attempt) point(ctx context.Context) (sight, error) {
	for {
		s, err := a.run(ctx)
		if err != nil || s.frame.parent == nil {
			return s, err
		}
		out, err := a.outward(ctx, s)
		switch {
		case err == nil && out.OK:
			return out, nil
		case err != nil && !errors.Is(err, errGone):
			return sight{}, err
		case err == nil:
			a.last = out
			a.rounds++
		}
		if a.left() == 0 {
			return sight{}, a.failure(ctx)
		}
		a.tab.breathe(ctx, slice)
	}
}

func (a *attempt) outward(ctx context.Context, s sight) (sight, error) {
	for f := s.frame; f.parent != nil; f = f.parent {
		owner, err := a.tab.owner(ctx, f)
		if err != nil {
			return sight{}, err
		}
		out := sight{What: s.What, Met: "attached, visible, stable, enabled", Count: s.Count}
		err = f.parent.eval(ctx, "through", &out, owner, s.X, s.Y)
		owner.release()
		if err != nil {
			return sight{}, err
		}
		if out.Why != "" {
			return out, nil
		}
		s.X, s.Y = out.X, out.Y
	}
	return s, nil
}

// owner is the element of its parent that a frame is in.
func (t *tab) owner(ctx context.Context, f *frame) (*handle, error) {
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
	return t.node(ctx, f.parent, answer.ID)
}

// verdict is what page.js saw of an event.
type verdict struct {
	Other   bool    `json:"other"` // the document is another one
	Passed  bool    `json:"passed"`
	Blocked string  `json:"blocked"` // what would have got it
	Took    bool    `json:"took"`    // the field has the text that was meant for it
	Changed bool    `json:"changed"` // something happened in the field
	Shows   *string `json:"shows"`   // what it shows, nil when it has left the page
}

// verdict asks the frames on the way of an event. about is the text that was entered, and whether it replaced what was there. A document
// that is gone has heard of it, unless the one that took its place says that the event came there, and was blocked.
func (a *attempt) verdict(ctx context.Context, s sight, about ...any) (verdict, error) {
	var v verdict
	err := s.frame.eval(ctx, "verdict", &v, about...)
	if errors.Is(err, errGone) {
		moment, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		_ = a.tab.main().eval(moment, "verdict", &v) // it may not be there yet, and then has blocked nothing
		v.Other = true
	}
	if v.Other {
		return verdict{Passed: v.Blocked == "", Took: true, Blocked: v.Blocked}, nil
	}
	for f := s.frame.parent; f != nil && err == nil && !v.Passed && v.Blocked == ""; f = f.parent {
		err = f.eval(ctx, "verdict", &v)
	}
	return v, err
}

// apply has page.js do what it found possible, once: a document that is gone has done it. ok is false when the element went before.
func (a *attempt) apply(ctx context.Context, s sight) (done sight, ok bool, err error) {
	err = s.frame.eval(ctx, "apply", &done)
	if errors.Is(err, errGone) {
		return s, true, nil
	}
	return done, err == nil && !done.Gone, err
}

// again notes that the page put another element in the way at the last moment, which has heard nothing. It fails when time is over.
func (a *attempt) again(ctx context.Context, s sight, v verdict) error {
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
	explain, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s := a.last
	var first, hint string
	details := []string{fmt.Sprintf("%s in %s", plural(a.tries, "try", "tries"), a.took())}
	switch {
	case len(s.Few) > 0:
		first = fmt.Sprintf("%s fits %d elements, and one is needed: %s", a.target.asked, s.Count, strings.Join(s.Few, ", "))
		hint = "say more of the element, or which one with nodeSelector.web.nthIndex"
	case s.Why == "":
		first = a.missing(explain)
	default:
		first = fmt.Sprintf("%s is not %s: %s", a.target.asked, a.ask.ready, s.Why)
		if s.Is != nil {
			first += fmt.Sprintf(" is %q, not %q", shorten(*s.Is), a.ask.options["expected"])
		}
		if s.What != "" {
			details = append(details, "found "+s.What+matches(s.Count))
		}
		if s.Met != "" {
			details = append(details, "it is "+s.Met)
		}
	}
	details = append(details, a.tab.where(explain))
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
	text := "there is no " + a.target.asked
	if a.last.Count > 0 {
		return fmt.Sprintf("%s, only %d", text, a.last.Count)
	}
	var candidates []string
	asked, kind := "", "text"
	switch {
	case a.target.ref != "":
		return text + " on the page any more; numbers are those of the page as it is now"
	case a.target.spec == nil:
		candidates = a.last.named
		if a.target.name != nil {
			asked = a.target.name.text
		}
	default:
		for _, k := range []string{"text", "id", "testId", "css"} {
			if value, ok := a.target.spec[k]; ok {
				asked, kind = value, k
			}
		}
		_ = a.tab.main().eval(ctx, "words", &candidates, kind) // a page that does not answer has no candidates
	}
	if near := nearest(asked, candidates); near != "" {
		return fmt.Sprintf("%s; there is %s", text, near)
	}
	return text
}

// where is the address and the title of the page.
func (t *tab) where(ctx context.Context) string {
	var page struct{ URL, Title string }
	if t.main().eval(ctx, "page", &page) != nil {
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
