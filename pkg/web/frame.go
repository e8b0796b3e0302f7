package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// errGone says that the document or the element is not there any more: resolve it again.
var errGone = errors.New("the page has changed meanwhile")

// handler runs a command on a tab. A *fault.Error of kind Crashed is a browser or a page that is gone, and ends the session; any other
// becomes a failed result.
type handler func(ctx context.Context, t *tab, args map[string]any) (tool.Result, error)

// worldName is that of the isolated world that our script lives in. Pages cannot see it.
const worldName = "trailblaze"

// frame is a document of the page: the main one, or one in an iframe, which may live in a process and a session of its own.
type frame struct {
	tab     *tab
	id      string
	parent  *frame // nil for the main frame
	session route  // empty while the frame moves to another process

	// Guarded by tab.mu.
	children []*frame
	url      string
	loader   string // id of what loaded the document
	loaded   string // the last loader whose document has had its load event
	world    *world // nil while there is none
	detached bool
}

// route is where calls about a frame go at this moment.
type route struct{ to atomic.Pointer[cdp.Session] }

// Call is that of cdp.Session.
func (r *route) Call(ctx context.Context, method string, params, result any) error {
	s := r.to.Load()
	if s == nil {
		return fmt.Errorf("%s: %w", method, cdp.ErrDetached)
	}
	return s.Call(ctx, method, params, result)
}

// Begin is that of cdp.Session.
func (r *route) Begin(method string, params any) (wait func(ctx context.Context, result any) error) {
	if s := r.to.Load(); s != nil {
		return s.Begin(method, params)
	}
	return func(context.Context, any) error { return fmt.Errorf("%s: %w", method, cdp.ErrDetached) }
}

// world is where our script lives in a document.
type world struct {
	id     int             // valid in the frame's session
	unique string          // valid everywhere, and never again
	gone   context.Context //nolint:containedctx // the life of the document
	end    context.CancelCauseFunc
}

// during is ctx for as long as the document is there; then its cause is errGone.
func (w *world) during(ctx context.Context) (during context.Context, done func()) {
	during, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(w.gone, func() { cancel(errGone) })
	return during, func() {
		stop()
		cancel(nil)
	}
}

// handle is an object of a frame's isolated world, such as an element. It dies with the document.
type handle struct {
	frame    *frame
	objectID string
}

// release lets the object go. Releasing nil, or what is gone, does nothing.
func (h *handle) release() {
	if h == nil {
		return
	}
	if s := h.frame.session.to.Load(); s != nil {
		s.Begin("Runtime.releaseObject", map[string]any{"objectId": h.objectID})
	}
}

// main is the frame of the page itself.
func (t *tab) main() *frame {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.root
}

// frames are the main frame and then those inside it, parents before children and siblings in the order in which they were added.
func (t *tab) frames() []*frame {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.root.all(nil)
}

func (f *frame) all(list []*frame) []*frame {
	if f.session.to.Load() != nil {
		list = append(list, f)
	}
	for _, c := range f.children {
		list = c.all(list)
	}
	return list
}

// now returns where calls about the frame go.
func (f *frame) now() (*cdp.Session, *world, error) {
	f.tab.mu.Lock()
	defer f.tab.mu.Unlock()
	s := f.session.to.Load()
	if f.detached || s == nil {
		return nil, nil, errGone
	}
	return s, f.world, nil
}

// inside returns the frame's session and isolated world, which it makes where the browser has not done it before the document began.
func (f *frame) inside(ctx context.Context) (*cdp.Session, *world, error) {
	s, w, err := f.now()
	if err != nil || w != nil {
		return s, w, err
	}
	err = s.Call(ctx, "Page.createIsolatedWorld", map[string]any{"frameId": f.id, "worldName": worldName}, nil)
	if err != nil {
		return nil, nil, replaced(err)
	}
	if s, w, err = f.now(); err != nil || w == nil {
		return nil, nil, errGone
	}
	err = s.Call(ctx, "Runtime.evaluate", map[string]any{"expression": script, "uniqueContextId": w.unique}, nil)
	return s, w, replaced(err)
}

// returned is what Runtime.callFunctionOn and Runtime.evaluate answer.
type returned struct {
	Result           remote
	ExceptionDetails *exception
}

type remote struct {
	Type, Subtype, Description, ObjectID, UnserializableValue string
	Value                                                     json.RawMessage
}

type exception struct {
	Text      string
	URL       string
	Exception remote
}

// scriptError is what a script threw.
type scriptError struct{ text string }

func (e *scriptError) Error() string { return e.text }

// err is what the script threw, or nil.
func (r returned) err() error {
	if r.ExceptionDetails == nil {
		return nil
	}
	return &scriptError{r.ExceptionDetails.String()}
}

func (e *exception) String() string {
	text := e.Exception.Description
	if text == "" && e.Exception.Value != nil {
		text = "Uncaught " + string(e.Exception.Value)
	}
	if text == "" {
		text = e.Text
	}
	return text
}

// eval calls trailblaze.<function> of page.js in the isolated world of f and decodes into result, unless that is nil, what it returns or
// what its promise becomes. args are JSON values or *handle. It is errGone when the document is replaced meanwhile.
func (f *frame) eval(ctx context.Context, function string, result any, args ...any) error {
	r, err := f.call(ctx, function, true, args)
	if err != nil || result == nil || r.Result.Value == nil {
		return err
	}
	if err := json.Unmarshal(r.Result.Value, result); err != nil {
		return fmt.Errorf("what %s returned: %w", function, err)
	}
	return nil
}

// handle does the same and keeps the result as an object; nil for null and undefined.
func (f *frame) handle(ctx context.Context, function string, args ...any) (*handle, error) {
	r, err := f.call(ctx, function, false, args)
	if err != nil || r.Result.ObjectID == "" {
		return nil, err
	}
	return &handle{f, r.Result.ObjectID}, nil
}

func (f *frame) call(ctx context.Context, function string, byValue bool, args []any) (r returned, err error) {
	s, w, err := f.inside(ctx)
	if err != nil {
		return r, err
	}
	ctx, done := w.during(ctx)
	defer done()
	values := []any{map[string]any{"value": function}}
	for _, arg := range args {
		if h, ok := arg.(*handle); ok {
			if h.frame != f {
				return r, errGone
			}
			values = append(values, map[string]any{"objectId": h.objectID})
		} else {
			values = append(values, map[string]any{"value": arg})
		}
	}
	err = s.Call(ctx, "Runtime.callFunctionOn", map[string]any{
		"functionDeclaration": "function(name, ...args) { return globalThis.trailblaze[name](...args) }",
		"uniqueContextId":     w.unique, "arguments": values, "returnByValue": byValue, "awaitPromise": true, "userGesture": true,
	}, &r)
	if err == nil {
		err = r.err()
	}
	return r, replaced(err)
}

// replaced makes errGone of what the browser says of documents and elements that are not there any more.
func replaced(err error) error {
	if errors.Is(err, cdp.ErrDetached) {
		return errGone
	}
	refused, ok := errors.AsType[*cdp.Error](err)
	if !ok {
		return err
	}
	for _, text := range []string{
		"context", "ContextId", "navigated or closed", "Could not find object", "Cannot find object", "No node", "Node with given id", "frame", "Frame",
		"same JavaScript world", "Promise was collected", "does not belong to the document", "detached",
	} {
		if strings.Contains(refused.Message, text) {
			return errGone
		}
	}
	return err
}

// node is the element of a node of the accessibility tree.
func (t *tab) node(ctx context.Context, f *frame, backendNodeID int) (*handle, error) {
	s, w, err := f.inside(ctx)
	if err != nil {
		return nil, err
	}
	var resolved struct{ Object remote }
	err = s.Call(ctx, "DOM.resolveNode", map[string]any{"backendNodeId": backendNodeID, "executionContextId": w.id}, &resolved)
	if err != nil {
		return nil, replaced(err)
	}
	return &handle{f, resolved.Object.ObjectID}, nil
}

// watchFrames keeps the tree of frames as the events of a session tell it.
func (t *tab) watchFrames(s *cdp.Session) {
	s.Listen(func(e cdp.Event) {
		switch e.Method {
		case "Page.frameAttached", "Page.frameNavigated", "Page.navigatedWithinDocument", "Page.frameDetached", "Page.lifecycleEvent":
			t.documentEvent(s, e)
		case "Runtime.executionContextCreated", "Runtime.executionContextDestroyed", "Runtime.executionContextsCleared":
			t.worldEvent(s, e)
		case "Target.attachedToTarget":
			t.frameMoved(e)
		case "Inspector.targetCrashed":
			t.crashed(s)
		default:
			t.heardBeside(s, e)
		}
	})
}

// documentEvent is about frames and what they show.
func (t *tab) documentEvent(s *cdp.Session, e cdp.Event) {
	var p struct {
		FrameID, ParentFrameID, URL, Reason, LoaderID, Name, Type string
		Frame                                                     struct{ ID, ParentID, LoaderID, URL, URLFragment, UnreachableURL string }
	}
	if e.Decode(&p) != nil || e.Method == "Page.lifecycleEvent" && p.Name != "load" {
		return
	}
	t.update(func() {
		switch e.Method {
		case "Page.frameAttached":
			t.add(s, p.FrameID, p.ParentFrameID)
		case "Page.frameNavigated":
			f := t.add(s, p.Frame.ID, p.Frame.ParentID)
			f.forgetChildren()
			f.loader, f.url = p.Frame.LoaderID, p.Frame.URL+p.Frame.URLFragment
			if p.Frame.UnreachableURL != "" {
				f.url = p.Frame.UnreachableURL
			}
			if p.Type == "BackForwardCacheRestore" {
				f.loaded = f.loader
			}
		case "Page.navigatedWithinDocument":
			if f := t.byID[p.FrameID]; f != nil {
				f.url = p.URL
			}
		case "Page.frameDetached":
			t.detach(s, p.FrameID, p.Reason)
		case "Page.lifecycleEvent":
			if f := t.byID[p.FrameID]; f != nil {
				f.loaded = p.LoaderID
			}
		}
	})
}

// add finds or makes a frame. One that is told of in a session lives there.
func (t *tab) add(s *cdp.Session, id, parent string) *frame {
	f := t.byID[id]
	if f == nil && parent == "" { // the page has another main frame now
		t.root.forgetChildren()
		t.root.forgetWorld()
		delete(t.byID, t.root.id)
		f = &frame{tab: t, id: id}
		t.root.detached = true
		t.root = f
	} else if f == nil {
		up := t.byID[parent]
		if up == nil {
			up = t.root
		}
		f = &frame{tab: t, id: id, parent: up}
		up.children = append(up.children, f)
	}
	if f.session.to.Swap(s) != s {
		f.forgetWorld()
	}
	t.byID[id] = f
	return f
}

// detach takes a frame away. One that is only swapped goes on in another session, which may be heard before the session that it leaves.
func (t *tab) detach(s *cdp.Session, id, reason string) {
	f := t.byID[id]
	if f == nil || f.parent == nil || reason == "swap" && f.session.to.Load() != s {
		return
	}
	f.forgetChildren()
	if reason == "swap" {
		return
	}
	f.forgetWorld()
	f.detached = true
	delete(t.byID, id)
	f.parent.children = slices.DeleteFunc(slices.Clone(f.parent.children), func(c *frame) bool { return c == f })
}

func (f *frame) forgetChildren() {
	for _, c := range f.children {
		c.forgetChildren()
		c.forgetWorld()
		c.detached = true
		delete(f.tab.byID, c.id)
	}
	f.children = nil
}

func (f *frame) forgetWorld() {
	if f.world != nil {
		f.world.end(errGone)
		f.world = nil
	}
}

// worldEvent is about the isolated worlds of documents.
func (t *tab) worldEvent(s *cdp.Session, e cdp.Event) {
	var p struct {
		Context struct {
			ID       int
			Name     string
			UniqueID string
			AuxData  struct{ FrameID string }
		}
		ExecutionContextID int
	}
	if e.Decode(&p) != nil || e.Method == "Runtime.executionContextCreated" && p.Context.Name != worldName {
		return
	}
	t.update(func() {
		if e.Method == "Runtime.executionContextCreated" {
			if f := t.byID[p.Context.AuxData.FrameID]; f != nil {
				f.forgetWorld()
				w := &world{id: p.Context.ID, unique: p.Context.UniqueID}
				w.gone, w.end = context.WithCancelCause(context.Background()) //nolint:forbidigo // a document belongs to no call
				f.session.to.Store(s)
				f.world = w
			}
			return
		}
		all := e.Method == "Runtime.executionContextsCleared"
		for _, f := range t.byID {
			if f.world != nil && f.session.to.Load() == s && (all || f.world.id == p.ExecutionContextID) {
				f.forgetWorld()
			}
		}
	})
}

// frameMoved is heard when a frame gets a process of its own.
func (t *tab) frameMoved(e cdp.Event) {
	var a attached
	if e.Decode(&a) != nil {
		return
	}
	s := t.browser.conn.Session(a.SessionID)
	if a.TargetInfo.Type == "iframe" {
		t.update(func() {
			f := t.add(s, a.TargetInfo.TargetID, a.TargetInfo.ParentFrameID)
			f.forgetChildren()
			f.forgetWorld()
		})
		t.watchFrames(s)
		t.set(s)
	}
	s.Begin("Runtime.runIfWaitingForDebugger", nil)
}
