package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/web/aria"
	"github.com/trailblaze/trailblaze/pkg/web/axtree"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

const (
	// pollSlice is how long page.js may observe one element before it is resolved again.
	pollSlice = 200 * time.Millisecond
	// singleFrameSlice is the same when page.js resolves the element itself and there is no other frame to search.
	singleFrameSlice = time.Second
)

// check is what page.js checks of an element before an action.
type check struct {
	name           string // of the function in page.js
	want           string // what the element has to be, after "is not"
	unique         bool   // exactly one element must match
	any            bool   // any of the elements that match may be the one, not only the first
	pointer        bool   // the action happens at a point, which must be in the viewport
	options        map[string]any
	preferredRoles []string // among controls with the same name
}

// observed is what page.js saw of an element.
type observed struct {
	Ready, Gone      bool
	Tries, Count     int
	Matches          []string // the first of too many
	Found            string   // the element in words
	Held             []string // the conditions that held
	Reason           string   // why the next one did not
	Missing          string
	Parts            []string // items of a list that are only parts of texts
	Actual           *string  // what the element has instead of what was expected
	Text             string
	Apply            bool    // page.js performs the action
	Refused          bool    // the page has undone what the action did
	Partial          bool    // the element has the text of the selector only as part of another
	Shows            int     // how many elements show a text
	Shown            string  // the one of them that shows it best, in words
	TextPart         bool    // that one shows the text only as part of another
	InWord           bool    // that part begins or ends within a word or number
	Unspaced         string  // the text as a person sees it, if what was looked for is in it only without its white space
	Frames           bool    // frames are in it, which may show a text
	Impossible       string  // why the element can never be ready
	X, Y             float64 // where the action happens, or the corner of the element's box
	Width, Height    float64 // of the box
	Moved, Position  float64 // of a scroll position, in pixels
	Wheel            bool    // a script has handled the wheel
	End              float64 // the largest scroll position
	frame            *frame
	otherNames       []string // names of other elements of the role, when none matches
	notes            remarks  // which of several elements it is, and how it matches
	outsideViewports bool     // a page around the frame of the element did not let the pointer reach it
}

// search finds the element of a target in the frames of a page, the main one first. It implements act.Screen.
type search struct {
	page       *page
	target     syntax.Target
	check      check
	acts       bool                     // the search is for an action
	round      int                      // how often a page around the frame of the element did not let the pointer reach it
	otherNames []string                 // of the last try
	unlocated  int                      // how often no selector for a recording was found
	documents  map[*frame]aria.Document // of this try, when the target has relations
	identity   string                   // role and name of the element that the target's reference referred to at first
	changes    *changeWatcher           // nil before the first wait
	begun      bool                     // the first try has begun
	released   string                   // see inputResult
}

func (p *page) search(t syntax.Target, c check) *search { return &search{page: p, target: t, check: c} }

// action returns an action on the element of a search.
func (s *search) action(ready time.Duration, perform func(context.Context, observed) error) *act.Action[observed] {
	a := &act.Action[observed]{
		Screen:   s,
		Selector: s.target.Selector,
		Want:     s.check.want,
		Place:    "the page",
		Limits:   s.page.limits().actLimits(ready),
	}
	if s.acts = perform != nil; s.acts {
		a.Perform = func(ctx context.Context, o act.Observation[observed]) error { return perform(ctx, o.Element) }
	}
	return a
}

// do waits until the element is ready, acts once, and returns the element.
func (s *search) do(
	ctx context.Context,
	ready time.Duration,
	perform func(context.Context, observed) error,
) (observed, error) {
	o, err := s.action(ready, perform).Do(ctx)
	if err == nil {
		o.Element.notes = s.notes(o.Element)
	}
	return o.Element, err
}

// notes say which of several elements o is, that it has the text of the selector only as a part, and what is ignored.
func (s *search) notes(o observed) remarks {
	var list remarks
	if o.Count > 1 && !s.target.Selector.Indexed {
		list = append(list, fmt.Sprintf("first of %d", o.Count))
	}
	if o.Partial {
		list = append(list, fmt.Sprintf("only part of its text is %s", s.target.Selector.Text))
	}
	return append(list, s.target.Ignored...)
}

// remarks are notes of a result, see tool.Result.
type remarks []string

// String returns remarks as they follow a sentence.
func (r remarks) String() string {
	if len(r) == 0 {
		return ""
	}
	return " (" + strings.Join(r, "; ") + ")"
}

// String returns the element in words, with a note.
func (o observed) String() string { return o.Found + o.notes.String() }

// Observe implements act.Screen.
func (s *search) Observe(ctx context.Context, wait time.Duration) (act.Observation[observed], error) {
	o, err := s.find(ctx, wait)
	if err == nil && o.Ready && s.check.pointer && o.frame.parent != nil {
		if o, err = s.toViewport(ctx, o); o.outsideViewports {
			s.round++
		}
	}
	if err != nil {
		return act.Observation[observed]{}, err
	}
	if o.Impossible != "" {
		return act.Observation[observed]{}, fault.New(fault.ToolFailed, "", "%s: %s", o.Found, o.Impossible)
	}
	s.otherNames = o.otherNames
	reason := o.Reason
	if o.Actual != nil {
		reason += fmt.Sprintf(" is %q, %s", shorten(*o.Actual), syntax.NotExpected(s.check.options))
	}
	return act.Observation[observed]{
		Element: o,
		Count:   o.Count,
		Matches: o.Matches,
		Found:   o.Found,
		Held:    o.Held,
		Reason:  reason,
		Ready:   o.Ready,
		Missing: o.Missing,
		Tries:   o.Tries,
		Waited:  o.Reason != "" && !o.outsideViewports,
	}, nil
}

// find finds the element and checks it, once or for a slice of time.
func (s *search) find(ctx context.Context, wait time.Duration) (observed, error) {
	switch {
	case s.target.Ref != "" && s.page.device.session.Live && ctx.Value(callFromTrail{}) == nil:
		return s.findShown(ctx, wait)
	case s.target.Ref != "":
		return s.findByRef(ctx, wait)
	}
	if s.acts && !s.begun { // a person has often pointed at the element right before
		ctx, _ = s.page.recall(ctx)
	}
	s.begun = true
	if err := s.captureRelated(ctx); err != nil {
		return observed{}, err
	}
	frames := s.page.frames()
	if s.check.unique && !s.target.Selector.Indexed && len(frames) > 1 {
		return s.findUnique(ctx, frames, wait)
	}
	none := observed{Tries: 1}
	index := s.index()
	for _, f := range frames {
		var o observed
		err := f.withinSlice(ctx, func(ctx context.Context) (err error) {
			o, err = s.findIn(ctx, f, index, wait, len(frames) == 1)
			return err
		})
		if err != nil {
			return observed{}, err
		}
		if o.Count > max(index, 0) {
			return o, nil
		}
		if index >= 0 {
			index -= o.Count // among the elements of the frames that follow
		}
		none.add(o)
	}
	return none, nil
}

// index returns the index of the target, or -1 for the first element.
func (s *search) index() int {
	if s.target.Selector.Indexed {
		return s.target.Selector.Index
	}
	return -1
}

// add adds what was seen in a frame that does not have the element.
func (o *observed) add(other observed) {
	o.Count += other.Count
	o.Tries = max(o.Tries, other.Tries)
	o.otherNames = append(o.otherNames, other.otherNames...)
	if other.Missing != "" {
		o.Missing = other.Missing
	}
}

// findUnique finds an element that must be the only one in all frames.
func (s *search) findUnique(ctx context.Context, frames []*frame, wait time.Duration) (observed, error) {
	exists := *s
	exists.check = check{name: "exists", unique: true, preferredRoles: s.check.preferredRoles}
	total := observed{Tries: 1}
	var last *frame
	for _, f := range frames {
		var o observed
		err := f.withinSlice(ctx, func(ctx context.Context) (err error) {
			o, err = exists.findIn(ctx, f, -1, 0, false)
			return err
		})
		if err != nil {
			return observed{}, err
		}
		total.add(o)
		if o.Count > 0 {
			last = f
			total.Matches = append(total.Matches, o.Matches...)
			if len(o.Matches) == 0 {
				total.Matches = append(total.Matches, o.Found)
			}
		}
	}
	if total.Count == 1 {
		return s.findIn(ctx, last, -1, wait, false)
	}
	total.Matches = total.Matches[:min(len(total.Matches), act.MaxMatches)]
	return total, nil
}

// withinSlice calls find, for an inner frame with a time limit. It returns nil when the inner frame was removed or does
// not respond in time, as advertisements may do: the frame is treated as one without elements.
func (f *frame) withinSlice(ctx context.Context, find func(context.Context) error) error {
	if f.parent == nil {
		return find(ctx)
	}
	slice, cancel := context.WithTimeout(ctx, f.slice())
	defer cancel()
	err := find(slice)
	if errors.Is(err, errGone) || f.noteResponse(ctx, slice, err) {
		return nil
	}
	return err
}

// slice returns how long one try may wait for the frame: less if it did not respond to the last one.
func (f *frame) slice() time.Duration {
	if f.silent.Load() {
		return pollSlice
	}
	return pollSlice + f.page.limits().response
}

// noteResponse reports whether the frame did not respond to a try within its slice, which ended with err.
func (f *frame) noteResponse(ctx, slice context.Context, err error) (silent bool) {
	silent = err != nil && !errors.Is(err, errGone) && slice.Err() != nil && ctx.Err() == nil && f.parent != nil
	f.silent.Store(silent)
	return silent
}

// findIn finds the element in one frame. only is true if the page has no other frame.
func (s *search) findIn(ctx context.Context, f *frame, index int, wait time.Duration, only bool) (observed, error) {
	nodes, names, err := s.nodes(ctx, f)
	if err != nil {
		return observed{}, err
	}
	if len(nodes) > 0 || s.target.Spec == nil {
		o, err := s.chooseNode(ctx, f, nodes, names, index, wait)
		if err != nil || o.Ready || !s.target.Text || s.check.name != "visible" || index >= 0 || len(o.Matches) > 0 {
			return o, err
		}
		if shown, err := s.observe(ctx, f, s.target.Spec, nil, -1, 0, false); shown.Ready || err != nil {
			return shown, err // what shows the name of a hidden control
		}
		return o, nil
	}
	slice := min(pollSlice, wait)
	if only && !s.target.Text { // controls with the name may appear, which page.js does not look for
		slice = min(singleFrameSlice, wait)
	}
	return s.observe(ctx, f, s.target.Spec, nil, index, slice, only && !s.target.Text)
}

// nodes returns the elements in the accessibility tree of a frame that match the target, and the names of other
// elements with its role.
func (s *search) nodes(ctx context.Context, f *frame) (nodes []axtree.Node, names []string, err error) {
	switch {
	case s.target.Related != nil:
		nodes, err = s.relatedNodes(ctx, f)
	case s.target.Text:
		nodes, err = f.controlsNamed(ctx, s.target.Name.Text, s.check.preferredRoles)
	case s.target.Spec == nil:
		one := s.changes == nil && !s.check.unique && !s.target.Selector.Indexed
		nodes, names, err = f.byRole(ctx, s.target.Role, s.target.Name, one)
		if err == nil && len(nodes) == 0 && f.parent == nil {
			var more []string
			nodes, more, err = s.page.snapshotNodes(ctx, s.target)
			names = append(names, more...)
		}
	}
	return nodes, names, err
}

// snapshotNodes returns the elements with the target's role and name in the snapshots that recordings are made from, and
// the names of others with its role.
// They may lack the name in the browser's accessibility tree, which gives no names to rows, for example. The name of an
// element without one is its text, as in relations.
func (p *page) snapshotNodes(ctx context.Context, t syntax.Target) (nodes []axtree.Node, others []string, err error) {
	snapshot := aria.Snapshot
	if t.Role == "generic" { // what people click although it has no role
		snapshot = aria.LiveSnapshot
	}
	tree, err := p.treeOf(ctx, snapshot)
	if err != nil {
		return nil, nil, err
	}
	for _, line := range tree.Lines() {
		name := cmp.Or(line.Name, line.Text)
		switch exactly, _ := t.Name.Matches(name); {
		case line.BackendNodeID == 0 || t.Role != "" && line.Role != t.Role:
		case exactly:
			nodes = append(nodes, axtree.NewNode(line.Role, line.Name, line.BackendNodeID))
		case t.Role != "" && name != "":
			others = append(others, shorten(name))
		}
	}
	return nodes, others, nil
}

// chooseNode checks the node with an index, the first node for index -1.
func (s *search) chooseNode(
	ctx context.Context, f *frame, nodes []axtree.Node, names []string, index int, wait time.Duration,
) (observed, error) {
	selector := act.Selector{Indexed: index >= 0, Index: max(index, 0)}
	if s.check.any && index < 0 {
		return s.chooseAny(ctx, f, nodes)
	}
	chosen := act.Choose(selector, s.check.unique, nodes, describe)
	if !chosen.Ready {
		return observed{Count: len(nodes), Tries: 1, Matches: chosen.Matches, otherNames: names, frame: f}, nil
	}
	o, err := s.observeNode(ctx, f, chosen.Element.BackendNodeID, wait)
	o.Count = len(nodes)
	return o, err
}

// describe returns a node in words.
func describe(n axtree.Node) string { return fmt.Sprintf("%s %q", n.Role.Text(), n.Name.Text()) }

// Discern implements act.Discerner: it says in what elements of the main frame are.
func (s *search) Discern(ctx context.Context, matches []string) []string {
	nodes, _, err := s.nodes(ctx, s.page.main())
	if err != nil || len(nodes) < len(matches) {
		return matches
	}
	tree, err := s.page.tree(ctx)
	if err != nil {
		return matches
	}
	return act.FirstMatches(nodes, func(n axtree.Node) string {
		return strings.TrimSpace(describe(n) + " " + tree.Place(n.BackendNodeID))
	})
}

// chooseAny checks the nodes until one is ready.
func (s *search) chooseAny(ctx context.Context, f *frame, nodes []axtree.Node) (observed, error) {
	var first observed
	for i, n := range nodes {
		o, err := s.observeNode(ctx, f, n.BackendNodeID, 0)
		if err != nil {
			return observed{}, err
		}
		if i == 0 || o.Ready {
			first = o
		}
		if o.Ready {
			break
		}
	}
	first.Count = len(nodes)
	return first, nil
}

func (s *search) observeNode(ctx context.Context, f *frame, backendNodeID int, wait time.Duration) (observed, error) {
	element, err := s.page.resolveNode(ctx, f, backendNodeID)
	if err != nil {
		return observed{}, err
	}
	defer element.release()
	o, err := s.observe(ctx, f, nil, element, -1, min(pollSlice, wait), false)
	if err == nil && o.Gone {
		err = errGone
	}
	return o, err
}

// observe calls observe of page.js for a slice of time, with a spec or an element.
func (s *search) observe(
	ctx context.Context, f *frame, spec map[string]string, element *handle, index int, wait time.Duration, stay bool,
) (observed, error) {
	options := map[string]any{
		"wait": wait.Milliseconds(), "stay": stay, "unique": s.check.unique, "any": s.check.any, "round": s.round,
		"frame": s.page.limits().frame.Milliseconds(),
	}
	if index >= 0 {
		options["index"] = index
	}
	maps.Copy(options, s.check.options)
	var object any
	if element != nil {
		object = element
	}
	o := observed{frame: f}
	err := f.eval(ctx, "observe", &o, s.check.name, spec, object, options)
	return o, selectorError(err, spec["css"])
}

// selectorError turns what a script threw about an invalid CSS selector into an error for the user. Any other error
// stays as it is.
func selectorError(err error, css string) error {
	if thrown, ok := errors.AsType[*scriptError](err); ok && css != "" &&
		strings.HasPrefix(thrown.text, "SyntaxError") {
		return fault.New(fault.InvalidArguments, "write it as for document.querySelector", "%q is not a CSS selector",
			css)
	}
	return err
}

// findByRef checks the element that the target's reference refers to now. It is an error when the reference referred to
// another element earlier in the same call.
func (s *search) findByRef(ctx context.Context, wait time.Duration) (observed, error) {
	f, line, ok, err := s.page.atPosition(ctx, s.target.Ref)
	if err != nil {
		return observed{}, err
	}
	if !ok {
		return observed{
			Tries:   1,
			Missing: s.target.Ref + " does not exist: numbers are those of the page as it is now",
		}, nil
	}
	identity := fmt.Sprintf("%s %q", line.Role, line.Name)
	if s.identity != "" && identity != s.identity {
		return observed{}, fault.New(fault.ToolFailed, "name the element itself, with nodeSelector or ref",
			"the page changed: %s was %s and is now %s", s.target.Ref, s.identity, identity)
	}
	s.identity = identity
	o, err := s.observeNode(ctx, f, line.BackendNodeID, wait)
	o.Count = 1
	return o, err
}

// atPosition returns the line of a reference by its position: e12 in the main frame, f1e12 in the first frame in it.
func (p *page) atPosition(ctx context.Context, ref string) (f *frame, line aria.Line, ok bool, err error) {
	var number int
	var inner string
	if _, err := fmt.Sscanf(ref, "f%d%s", &number, &inner); err != nil {
		tree, err := p.tree(ctx)
		if err != nil {
			return nil, line, false, err
		}
		line, ok = tree.Ref(ref)
		return p.main(), line, ok, nil
	}
	c, err := p.captureAll(ctx)
	if err != nil || number >= len(c.frames) {
		return nil, line, false, err
	}
	f = c.frames[number]
	line, ok = c.parts[f].tree.Ref(inner)
	return f, line, ok, nil
}

// toViewport converts the point of an element in an inner frame to coordinates of the page's viewport. The result is
// not ready if the pointer cannot reach the frame in one of the pages around it.
func (s *search) toViewport(ctx context.Context, o observed) (observed, error) {
	for f := o.frame; f.parent != nil; f = f.parent {
		owner, err := s.page.frameElement(ctx, f)
		if err != nil {
			return observed{}, err
		}
		out := observed{
			Found: o.Found,
			Held:  []string{"attached", "visible", "stable", "enabled"},
			Count: o.Count,
			Tries: o.Tries,
		}
		err = f.parent.eval(ctx, "pointInParent", &out, owner, o.X, o.Y, s.page.limits().frame.Milliseconds())
		owner.release()
		if err != nil {
			return observed{}, err
		}
		if out.Reason != "" {
			out.outsideViewports = true
			return out, nil
		}
		o.X, o.Y = out.X, out.Y
	}
	return o, nil
}

// frameElement returns the iframe element in the parent of f that contains f.
func (p *page) frameElement(ctx context.Context, f *frame) (*handle, error) {
	id, err := f.ownerID(ctx)
	if err != nil {
		return nil, err
	}
	return p.resolveNode(ctx, f.parent, id)
}

// ownerID returns the backend node id of the iframe element in the parent of f that contains f.
func (f *frame) ownerID(ctx context.Context) (int, error) {
	var owner struct {
		ID int `json:"backendNodeId"`
	}
	err := f.parent.session.Call(ctx, "DOM.getFrameOwner", map[string]any{"frameId": f.id}, &owner)
	if _, refused := errors.AsType[*cdp.Error](err); refused {
		return 0, errGone
	}
	return owner.ID, err
}

// count returns how many elements match in all frames.
func (s *search) count(ctx context.Context) (total int, err error) {
	if err := s.captureRelated(ctx); err != nil {
		return 0, err
	}
	for _, f := range s.page.frames() {
		err := f.withinSlice(ctx, func(ctx context.Context) error {
			o, err := s.findIn(ctx, f, -1, 0, false)
			total += o.Count
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return total, nil
}

// WaitForChange implements act.Screen. It takes a quarter of limit at least, so that a page that changes all the time
// is not read all the time.
func (s *search) WaitForChange(ctx context.Context, limit time.Duration) {
	if s.changes == nil {
		s.changes = s.page.newChangeWatcher()
	}
	s.changes.wait(ctx, limit/4, limit)
}

// Similar implements act.Screen.
func (s *search) Similar(ctx context.Context) []string {
	if s.target.Spec == nil {
		wanted := ""
		if s.target.Name != nil {
			wanted = s.target.Name.Text
		}
		return syntax.Nearest(wanted, s.otherNames)
	}
	for _, kind := range []string{"css", "testId", "id", "text"} {
		if value, ok := s.target.Spec[kind]; ok {
			return s.page.similar(ctx, value, kind)
		}
	}
	return nil
}

// similar returns texts or ids of the page, quoted, that are similar to one that was not found.
func (p *page) similar(ctx context.Context, wanted, kind string) []string {
	var candidates []string
	_ = p.main().eval(ctx, "suggestions", &candidates, kind, wanted) // a page that does not respond has none
	return syntax.Nearest(wanted, candidates)
}

// Location implements act.Screen.
func (s *search) Location(ctx context.Context) string { return s.page.location(ctx) }

// location returns the URL and the title of the page in words, its status if that is an error, and what it asks a person
// to correct.
func (p *page) location(ctx context.Context) string {
	var at pageLocation
	if p.main().eval(ctx, "location", &at) != nil {
		p.slow.Store(true)
		return "the page does not respond"
	}
	where := fmt.Sprintf("page %s %q", shorten(at.URL), shorten(at.Title))
	if status := p.errorStatus(); status != "" {
		where += ", answered with " + status
	}
	var complaint string
	if p.main().eval(ctx, "complaint", &complaint) == nil && complaint != "" {
		where += fmt.Sprintf(", which says %q", shorten(complaint))
	}
	return where
}

// shorten shortens a text for a message.
func shorten(s string) string {
	return text.Shorten(s, 200)
}
