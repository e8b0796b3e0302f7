package web

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/web/aria"
	"github.com/trailblaze/trailblaze/pkg/web/geometry"
)

// captureRounds is how often a page is captured again because frames navigated meanwhile. After that, the frames that
// did are left out.
const captureRounds = 3

// pageCapture is what the frames of a page show.
type pageCapture struct {
	root     *screen.Node
	tree     *screen.Tree
	title    string
	elements map[*screen.Node]element
	frames   []*frame // that were captured, parents before children
	parts    map[*frame]framePart
	// positions are the references of elements by their position: e12 in the main frame, f1e12 in the first frame in
	// it.
	positions map[*screen.Node]string
	// local are the planes from the viewports of frames to that of the outermost frame of the same process, planes those
	// to that of the page. They are nil until measure has set them.
	local, planes map[*frame]geometry.Plane
	recalled      bool // it is one of before
}

// element is an element of a frame.
type element struct {
	frame *frame
	id    int // backend node id
}

// framePart is what one frame shows.
type framePart struct {
	tree     *aria.Tree
	document string // begins the keys of its elements
	owner    int    // backend node id of the frame element in the parent
	root     int    // backend node id of the document
	viewport aria.Viewport
}

// captureAll captures the page with the content of its frames. The error is errGone when the page navigated meanwhile.
func (p *page) captureAll(ctx context.Context) (*pageCapture, error) {
	for round := 1; ; round++ {
		before := p.loaders()
		documents, err := p.captureFrames(ctx)
		if err != nil {
			return nil, err
		}
		after := p.loaders()
		if !maps.Equal(before, after) {
			momentOf(ctx).capture(nil)
			if round < captureRounds {
				continue
			}
			maps.DeleteFunc(documents, func(f *frame, _ aria.Document) bool { return before[f] != after[f] })
		}
		main := p.main()
		if _, ok := documents[main]; !ok {
			return nil, errGone
		}
		return p.newCapture(ctx, main, documents, after)
	}
}

// loaders returns the ids of the navigations that loaded the frames' documents.
func (p *page) loaders() map[*frame]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	loaders := map[*frame]string{}
	for _, f := range p.root.appendTree(nil) {
		loaders[f] = f.loader
	}
	return loaders
}

// captureFrames returns the documents of all frames that respond.
func (p *page) captureFrames(ctx context.Context) (map[*frame]aria.Document, error) {
	if known := momentOf(ctx).captured(); known != nil {
		return known, nil
	}
	documents := map[*frame]aria.Document{}
	for _, f := range p.frames() {
		if f.parent != nil && f.session.to.Load() == f.parent.session.to.Load() {
			continue // its document is in the capture of its parent
		}
		err := f.withinSlice(ctx, func(ctx context.Context) error {
			captured, err := p.captureProcess(ctx, f)
			maps.Copy(documents, captured)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	momentOf(ctx).capture(documents)
	return documents, nil
}

// captureProcess returns the documents of f and of the frames inside it that are in the same process.
func (p *page) captureProcess(ctx context.Context, f *frame) (map[*frame]aria.Document, error) {
	documents, err := p.documents(ctx, f)
	if err != nil {
		return nil, err
	}
	skipped := countSkipped(documents)
	for round := 0; skipped > 0 && round < maxLayoutRounds; round++ {
		for inner, d := range documents {
			if err := p.layOut(ctx, inner, d.Skipped()); err != nil {
				return nil, err
			}
		}
		if documents, err = p.documents(ctx, f); err != nil {
			return nil, err
		}
		before := skipped
		if skipped = countSkipped(documents); skipped == before {
			break // nothing in them can be laid out
		}
	}
	for inner, d := range documents {
		if d.HasCheckBox() {
			if d.Mixed, err = inner.mixed(ctx); err != nil {
				return nil, err
			}
		}
	}
	return documents, nil
}

// documents captures the documents of f and of the frames inside it that are in the same process.
func (p *page) documents(ctx context.Context, f *frame) (map[*frame]aria.Document, error) {
	capture, err := f.capture(ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	documents := map[*frame]aria.Document{}
	for _, d := range capture.Split() {
		if inner := p.framesByID[d.FrameID]; inner != nil {
			documents[inner] = d
		}
	}
	return documents, nil
}

func countSkipped(documents map[*frame]aria.Document) int {
	count := 0
	for _, d := range documents {
		count += len(d.Skipped())
	}
	return count
}

// newCapture puts the documents of frames together.
func (p *page) newCapture(
	ctx context.Context, main *frame, documents map[*frame]aria.Document, loaders map[*frame]string,
) (*pageCapture, error) {
	c := &pageCapture{
		title: documents[main].Title, elements: map[*screen.Node]element{}, parts: map[*frame]framePart{},
		positions: map[*screen.Node]string{},
	}
	pages := map[string]screen.Page{}
	snapshot := aria.SnapshotWithLabelled
	if p.device.session.Live {
		snapshot = aria.LiveSnapshot
	}
	for _, f := range p.frames() {
		d, ok := documents[f]
		if !ok {
			continue
		}
		part := framePart{tree: snapshot(d.Capture), document: f.id + "/" + loaders[f], owner: d.Owner, root: d.Root, viewport: d.Viewport}
		if f.parent != nil && part.owner == 0 {
			err := f.withinSlice(ctx, func(ctx context.Context) (err error) {
				part.owner, err = f.ownerID(ctx)
				return err
			})
			if err != nil {
				return nil, err
			}
		}
		c.frames = append(c.frames, f)
		c.parts[f], pages[part.document] = part, screen.Page{Address: addressOf(d.URL), Title: d.Title}
	}
	c.root = c.nodes(main, c.parts[main].tree)
	aria.DropLabels(c.root)
	c.root.Key = screen.Key(c.parts[main].document)
	c.tree = screen.NewTree(c.root, 0, 0, screen.Web)
	c.tree.Pages = pages
	return c, nil
}

// addressOf returns what of a URL tells a page of an app that has several in one document from the others: the path,
// and the path that some apps have in the fragment.
func addressOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	if strings.HasPrefix(u.Fragment, "/") || strings.HasPrefix(u.Fragment, "!") {
		return u.Path + "#" + u.Fragment
	}
	return u.Path
}

// nodes returns a snapshot of f, or of an element in it, as nodes, with the content of the frames inside.
func (c *pageCapture) nodes(f *frame, tree *aria.Tree) *screen.Node {
	prefix := ""
	if number := slices.Index(c.frames, f); number > 0 {
		prefix = "f" + strconv.Itoa(number)
	}
	byID := map[int]*screen.Node{}
	root := tree.Nodes(c.parts[f].document, func(n *screen.Node, l aria.Line) {
		if l.BackendNodeID != 0 {
			c.elements[n] = element{f, l.BackendNodeID}
			n.Bounds = c.boundsOf(c.elements[n])
			byID[l.BackendNodeID] = n
		}
		if l.Ref != "" {
			c.positions[n] = prefix + l.Ref
		}
	})
	for _, inner := range c.frames {
		if inner.parent != f {
			continue
		}
		if owner := byID[c.parts[inner].owner]; owner != nil {
			owner.Children = append(owner.Children, c.nodes(inner, c.parts[inner].tree).Children...)
		}
	}
	return root
}

// part returns what an element shows. It is false if the capture does not contain the element.
func (c *pageCapture) part(e element) (*screen.Tree, bool) {
	if n := c.tree.ByKey(c.key(e)); n != nil {
		return screen.NewTree(n, 0, 0, screen.Web), true
	}
	if c.parts[e.frame].tree == nil {
		return nil, false
	}
	inside, ok := c.parts[e.frame].tree.Within(e.id)
	if !ok {
		return nil, false
	}
	root := c.nodes(e.frame, inside)
	aria.DropLabels(root)
	return screen.NewTree(root, 0, 0, screen.Web), true
}

// View implements device.Viewer.
func (d *webDevice) View(ctx context.Context, o device.ViewOptions) (device.View, error) {
	if o.Show != device.ShowScreen {
		return device.View{Log: d.journal.Show(o.Show, d.redact)}, nil
	}
	var v device.View
	err := d.onPage(ctx, func(ctx context.Context, p *page) (err error) {
		v, err = p.viewWith(ctx, o)
		return err
	})
	if err != nil {
		return device.View{}, lookError(ctx, err)
	}
	return v, nil
}

// onPage looks at the page that is current, and again at another one that has become current when that failed. look ends
// with its context, at the latest at the limit of the page.
func (d *webDevice) onPage(ctx context.Context, look func(context.Context, *page) error) error {
	for {
		p, err := d.waitForPage(ctx)
		if err != nil {
			return err
		}
		err = p.lookWithin(ctx, look)
		if now, openErr := d.waitForPage(ctx); err == nil || openErr != nil || now == p {
			return err
		}
	}
}

// lookLimit returns how long one look at the page may take. While the browser opens another document in it, it does not
// answer what the old one shows, and the last call may have waited for the new one already.
func (p *page) lookLimit() time.Duration {
	switch _, leaves := p.leavesTo(); {
	case leaves && p.slow.Load():
		return p.limits().response
	case leaves:
		return min(p.limits().first, p.limits().look)
	}
	return p.limits().look
}

// lookWithin calls look with a context that ends at the limit of the page. An error says what the page was doing then.
func (p *page) lookWithin(ctx context.Context, look func(context.Context, *page) error) error {
	limit := p.lookLimit()
	within, cancel := p.device.withTimeout(ctx, limit)
	defer cancel()
	err := look(within, p)
	if err == nil || within.Err() == nil || ctx.Err() != nil || fault.As(err) != nil {
		return err
	}
	p.slow.Store(true)
	return p.noLook(limit)
}

// noLook is the error of a look that the page did not answer within a limit.
func (p *page) noLook(limit time.Duration) error {
	at := shorten(p.url())
	if url, leaves := p.leavesTo(); leaves {
		return fault.New(fault.CallTimeout, "check the server; look again later, or open another page with web_navigate",
			"%s, which the page opens, has not responded; until then the browser does not tell what is on %s",
			shorten(url), at)
	}
	return fault.New(fault.CallTimeout, "look again when its scripts have ended, or open another page with web_navigate",
		"%s did not tell what is on it within %s: %s", at, limit, pageIsBusy)
}

// lookError returns what looking at a page failed with, as a *fault.Error.
func lookError(ctx context.Context, err error) error {
	switch {
	case fault.As(err) != nil:
		return fault.As(err)
	case ctx.Err() != nil:
		return fault.Wrap(fault.CallTimeout, err, "", "the page did not show its elements in time")
	}
	return fault.Wrap(fault.ToolFailed, err, "", "read the page")
}

// viewWith returns a view of the page with what o asks for.
func (p *page) viewWith(ctx context.Context, o device.ViewOptions) (v device.View, err error) {
	ctx, stop := boundedBy(ctx, p.ctx)
	defer stop()
	if !o.Peek {
		err = p.device.awaitAnswers(ctx)
	} else if p.device.asking.asks(p) {
		err = errAsking()
	}
	if err != nil {
		return v, err
	}
	switch v, err = p.view(ctx, o); {
	case err != nil || !o.Screenshot:
	case o.Peek:
		v, err = p.viewWithPicture(ctx, o, v)
	default:
		err = p.addPicture(ctx, &v)
	}
	if p.closed() {
		return v, p.closeError()
	}
	if err == nil && !o.Peek {
		v.Events, v.Blocked, v.Messages = p.notes.TakeEvents(), p.takeBlocked(), p.device.messages.Take()
	}
	return v, err
}

// addPicture adds a picture to a view, unless it would show a secret.
func (p *page) addPicture(ctx context.Context, v *device.View) (err error) {
	if v.Withheld = p.whyWithheld(ctx); v.Withheld == "" {
		v.Screenshot, err = p.screenshot(ctx)
		v.Withheld = p.whyWithheld(ctx)
	}
	return err
}

// view returns what the page shows, and what is in the element that o.Within names: a CSS selector, or in a live
// session a reference. It waits until the page has a document.
func (p *page) view(ctx context.Context, o device.ViewOptions) (device.View, error) {
	for changes := p.newChangeWatcher(); ; changes.wait(ctx, minPause, pollInterval) {
		v, err := p.viewOnce(ctx, o)
		if !errors.Is(err, errGone) || ctx.Err() != nil {
			return v, err
		}
	}
}

// viewOnce returns what the page shows now, and what is in the element that o.Within names, without a picture. The
// error is errGone when the page changed meanwhile.
func (p *page) viewOnce(ctx context.Context, o device.ViewOptions) (device.View, error) {
	c, err := p.captureAll(p.keep(ctx))
	if err != nil {
		return device.View{}, err
	}
	v := device.View{URL: p.url(), Status: p.errorStatus(), Title: c.title, Tree: c.tree, Part: c.tree, Ref: c.position}
	if o.Peek {
		if v.Geometry, err = p.measure(ctx, c); err != nil {
			return device.View{}, err
		}
	}
	see := func(*screen.Tree) {}
	if p.device.session.Live {
		v.Ref, see = p.device.references.Ref, p.device.references.See
		if o.Peek {
			see = p.device.references.Number
		}
	}
	see(c.tree)
	if o.Within == "" {
		return v, nil
	}
	e, err := p.elementWithin(ctx, c, o.Within)
	if err != nil {
		return v, err
	}
	part, ok := c.part(e)
	if !ok {
		return v, errGone // it was added after the capture
	}
	if c.tree.ByKey(part.Root().Key) == nil { // else it was seen with what is around it
		see(part)
		see(c.tree) // which has what is around its elements
	}
	v.Part = part
	return v, nil
}

// elementWithin returns the element of a reference, or the first one that matches a CSS selector, which may begin with
// css= as in the references of trails.
func (p *page) elementWithin(ctx context.Context, c *pageCapture, within string) (element, error) {
	if screen.IsReference(within) && p.device.session.Live {
		found, err := p.device.references.Lookup(within, c.tree, screen.ToRead)
		if err != nil {
			return element{}, err
		}
		return c.elements[found.Node], nil
	}
	within = strings.TrimPrefix(within, "css=")
	for _, f := range p.frames() {
		var e element
		err := f.withinSlice(ctx, func(ctx context.Context) error {
			first, err := f.handle(ctx, "first", map[string]string{"css": within})
			if err != nil || first == nil {
				return selectorError(err, within)
			}
			e.frame = f
			e.id, err = f.backendID(ctx, first)
			return err
		})
		if err != nil || e.id != 0 {
			return e, err
		}
	}
	return element{}, errNoMatch(within)
}

func errNoMatch(selector string) error {
	return fault.New(fault.ToolFailed, "a snapshot of the whole page shows what there is", "no element matches %s", selector)
}

// position returns the reference of an element by its position, "" for one without a number.
func (c *pageCapture) position(n *screen.Node) string { return c.positions[n] }
