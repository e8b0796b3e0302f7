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
type handler func(ctx context.Context, t *page, args map[string]any) (tool.Result, error)

// worldName is that of the isolated world that our script lives in. Pages cannot see it.
const worldName = "trailblaze"

// frame is a document of the page: the main one, or one in an iframe, which may live in a process and a session of its own.
type frame struct {
	page    *page
	id      string
	parent  *frame     // nil for the main frame
	session sessionRef // empty while the frame moves to another process

	// Guarded by tab.mu.
	children     []*frame
	url          string
	loader       string // id of what loaded the document
	loadedLoader string // the last loader whose document has had its load event
	world        *world // nil while there is none
	detached     bool
}

// sessionRef is where calls about a frame go at this moment.
type sessionRef struct{ to atomic.Pointer[cdp.Session] }

// Call is that of cdp.Session.
func (r *sessionRef) Call(ctx context.Context, method string, params, result any) error {
	s := r.to.Load()
	if s == nil {
		return fmt.Errorf("%s: %w", method, cdp.ErrDetached)
	}
	return s.Call(ctx, method, params, result)
}

// Send is that of cdp.Session.
func (r *sessionRef) Send(method string, params any) (wait func(ctx context.Context, result any) error) {
	if s := r.to.Load(); s != nil {
		return s.Send(method, params)
	}
	return func(context.Context, any) error { return fmt.Errorf("%s: %w", method, cdp.ErrDetached) }
}

// world is where our script lives in a document.
type world struct {
	id     int             // valid in the frame's session
	unique string          // valid everywhere, and never again
	ctx    context.Context //nolint:containedctx // the life of the document
	cancel context.CancelCauseFunc
}

// bind is ctx for as long as the document is there; then its cause is errGone.
func (w *world) bind(ctx context.Context) (during context.Context, done func()) {
	during, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(w.ctx, func() { cancel(errGone) })
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
		s.Send("Runtime.releaseObject", map[string]any{"objectId": h.objectID})
	}
}

// main is the frame of the page itself.
func (p *page) main() *frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.root
}

// frames are the main frame and then those inside it, parents before children and siblings in the order in which they were added.
func (p *page) frames() []*frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.root.all(nil)
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

// current returns where calls about the frame go.
func (f *frame) current() (*cdp.Session, *world, error) {
	f.page.mu.Lock()
	defer f.page.mu.Unlock()
	s := f.session.to.Load()
	if f.detached || s == nil {
		return nil, nil, errGone
	}
	return s, f.world, nil
}

// ensureWorld returns the frame's session and isolated world, which it makes where the browser has not done it before the document began.
func (f *frame) ensureWorld(ctx context.Context) (*cdp.Session, *world, error) {
	s, w, err := f.current()
	if err != nil || w != nil {
		return s, w, err
	}
	err = s.Call(ctx, "Page.createIsolatedWorld", map[string]any{"frameId": f.id, "worldName": worldName}, nil)
	if err != nil {
		return nil, nil, asGone(err)
	}
	if s, w, err = f.current(); err != nil || w == nil {
		return nil, nil, errGone
	}
	err = s.Call(ctx, "Runtime.evaluate", map[string]any{"expression": script, "uniqueContextId": w.unique}, nil)
	return s, w, asGone(err)
}

// evalResult is what Runtime.callFunctionOn and Runtime.evaluate answer.
type evalResult struct {
	Result           remoteObject
	ExceptionDetails *exception
}

type remoteObject struct {
	Type, Subtype, Description, ObjectID, UnserializableValue string
	Value                                                     json.RawMessage
}

type exception struct {
	Text      string
	URL       string
	Exception remoteObject
}

// scriptError is what a script threw.
type scriptError struct{ text string }

func (e *scriptError) Error() string { return e.text }

// err is what the script threw, or nil.
func (r evalResult) err() error {
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

func (f *frame) call(ctx context.Context, function string, byValue bool, args []any) (r evalResult, err error) {
	s, w, err := f.ensureWorld(ctx)
	if err != nil {
		return r, err
	}
	ctx, done := w.bind(ctx)
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
	return r, asGone(err)
}

// asGone makes errGone of what the browser says of documents and elements that are not there any more.
func asGone(err error) error {
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

// resolveNode is the element of a node of the accessibility tree.
func (p *page) resolveNode(ctx context.Context, f *frame, backendNodeID int) (*handle, error) {
	s, w, err := f.ensureWorld(ctx)
	if err != nil {
		return nil, err
	}
	var resolved struct{ Object remoteObject }
	err = s.Call(ctx, "DOM.resolveNode", map[string]any{"backendNodeId": backendNodeID, "executionContextId": w.id}, &resolved)
	if err != nil {
		return nil, asGone(err)
	}
	return &handle{f, resolved.Object.ObjectID}, nil
}

// watchFrames keeps the tree of frames as the events of a session tell it.
func (p *page) watchFrames(s *cdp.Session) {
	s.Listen(func(e cdp.Event) {
		switch e.Method {
		case "Page.frameAttached", "Page.frameNavigated", "Page.navigatedWithinDocument", "Page.frameDetached", "Page.lifecycleEvent":
			p.onFrameEvent(s, e)
		case "Runtime.executionContextCreated", "Runtime.executionContextDestroyed", "Runtime.executionContextsCleared":
			p.onContextEvent(s, e)
		case "Target.attachedToTarget":
			p.onTargetAttached(e)
		case "Inspector.targetCrashed":
			p.onCrash(s)
		default:
			p.onPageEvent(s, e)
		}
	})
}

// onFrameEvent is about frames and what they show.
func (p *page) onFrameEvent(s *cdp.Session, e cdp.Event) {
	var params struct {
		FrameID, ParentFrameID, URL, Reason, LoaderID, Name, Type string
		Frame                                                     struct{ ID, ParentID, LoaderID, URL, URLFragment, UnreachableURL string }
	}
	if e.Decode(&params) != nil || e.Method == "Page.lifecycleEvent" && params.Name != "load" {
		return
	}
	p.update(func() {
		switch e.Method {
		case "Page.frameAttached":
			p.addFrame(s, params.FrameID, params.ParentFrameID)
		case "Page.frameNavigated":
			f := p.addFrame(s, params.Frame.ID, params.Frame.ParentID)
			f.removeChildren()
			f.loader, f.url = params.Frame.LoaderID, params.Frame.URL+params.Frame.URLFragment
			if params.Frame.UnreachableURL != "" {
				f.url = params.Frame.UnreachableURL
			}
			if params.Type == "BackForwardCacheRestore" {
				f.loadedLoader = f.loader
			}
		case "Page.navigatedWithinDocument":
			if f := p.framesByID[params.FrameID]; f != nil {
				f.url = params.URL
			}
		case "Page.frameDetached":
			p.removeFrame(s, params.FrameID, params.Reason)
		case "Page.lifecycleEvent":
			if f := p.framesByID[params.FrameID]; f != nil {
				f.loadedLoader = params.LoaderID
			}
		}
	})
}

// addFrame finds or makes a frame. One that is told of in a session lives there.
func (p *page) addFrame(s *cdp.Session, id, parent string) *frame {
	f := p.framesByID[id]
	if f == nil && parent == "" { // the page has another main frame now
		p.root.removeChildren()
		p.root.endWorld()
		delete(p.framesByID, p.root.id)
		f = &frame{page: p, id: id}
		p.root.detached = true
		p.root = f
	} else if f == nil {
		up := p.framesByID[parent]
		if up == nil {
			up = p.root
		}
		f = &frame{page: p, id: id, parent: up}
		up.children = append(up.children, f)
	}
	if f.session.to.Swap(s) != s {
		f.endWorld()
	}
	p.framesByID[id] = f
	return f
}

// removeFrame takes a frame away. One that is only swapped goes on in another session, which may be heard before the session that it leaves.
func (p *page) removeFrame(s *cdp.Session, id, reason string) {
	f := p.framesByID[id]
	if f == nil || f.parent == nil || reason == "swap" && f.session.to.Load() != s {
		return
	}
	f.removeChildren()
	if reason == "swap" {
		return
	}
	f.endWorld()
	f.detached = true
	delete(p.framesByID, id)
	f.parent.children = slices.DeleteFunc(slices.Clone(f.parent.children), func(c *frame) bool { return c == f })
}

func (f *frame) removeChildren() {
	for _, c := range f.children {
		c.removeChildren()
		c.endWorld()
		c.detached = true
		delete(f.page.framesByID, c.id)
	}
	f.children = nil
}

func (f *frame) endWorld() {
	if f.world != nil {
		f.world.cancel(errGone)
		f.world = nil
	}
}

// onContextEvent is about the isolated worlds of documents.
func (p *page) onContextEvent(s *cdp.Session, e cdp.Event) {
	var params struct {
		Context struct {
			ID       int
			Name     string
			UniqueID string
			AuxData  struct{ FrameID string }
		}
		ExecutionContextID int
	}
	if e.Decode(&params) != nil || e.Method == "Runtime.executionContextCreated" && params.Context.Name != worldName {
		return
	}
	p.update(func() {
		if e.Method == "Runtime.executionContextCreated" {
			if f := p.framesByID[params.Context.AuxData.FrameID]; f != nil {
				f.endWorld()
				w := &world{id: params.Context.ID, unique: params.Context.UniqueID}
				w.ctx, w.cancel = context.WithCancelCause(context.Background()) //nolint:forbidigo // a document belongs to no call
				f.session.to.Store(s)
				f.world = w
			}
			return
		}
		all := e.Method == "Runtime.executionContextsCleared"
		for _, f := range p.framesByID {
			if f.world != nil && f.session.to.Load() == s && (all || f.world.id == params.ExecutionContextID) {
				f.endWorld()
			}
		}
	})
}

// onTargetAttached is heard when a frame gets a process of its own.
func (p *page) onTargetAttached(e cdp.Event) {
	var a attachedTarget
	if e.Decode(&a) != nil {
		return
	}
	s := p.browser.conn.Session(a.SessionID)
	if a.TargetInfo.Type == "iframe" {
		p.update(func() {
			f := p.addFrame(s, a.TargetInfo.TargetID, a.TargetInfo.ParentFrameID)
			f.removeChildren()
			f.endWorld()
		})
		p.watchFrames(s)
		p.initSession(s)
	}
	s.Send("Runtime.runIfWaitingForDebugger", nil)
}
