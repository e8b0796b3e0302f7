package web

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// frame is the main frame of a page, or an iframe in it, which may have a process and a session of its own.
type frame struct {
	page    *page
	id      string
	parent  *frame      // nil for the main frame
	session sessionRef  // of the process that the frame is in; empty while it moves to another
	silent  atomic.Bool // it did not respond to the last try of a search

	// Guarded by page.mu.
	children     []*frame
	url          string
	loader       string // id of the navigation that loaded the document
	loadedLoader string // the last loader whose document fired its load event
	parsedLoader string // the last loader whose document fired DOMContentLoaded
	world        *world // nil while there is none
	pageWorld    string // id of the execution context in which the page's own scripts run; empty while there is none
	detached     bool
	leaving      *leaving // a navigation that has not ended; nil for none
	refreshes    bool     // the document will be replaced as soon as it has loaded
	refreshed    int      // how often documents have refreshed themselves, with or without a delay
	failed       bool     // the document is an error page of the browser: that of url did not load
}

// sessionRef refers to the current session of a frame.
type sessionRef struct{ to atomic.Pointer[cdp.Session] }

// Call calls a method in the current session. The error wraps cdp.ErrDetached when there is none.
func (r *sessionRef) Call(ctx context.Context, method string, params, result any) error {
	s := r.to.Load()
	if s == nil {
		return fmt.Errorf("%s: %w", method, cdp.ErrDetached)
	}
	return s.Call(ctx, method, params, result)
}

// Send sends a command to the current session. The error of wait wraps cdp.ErrDetached when there is none.
func (r *sessionRef) Send(method string, params any) (wait func(ctx context.Context, result any) error) {
	if s := r.to.Load(); s != nil {
		return s.Send(method, params)
	}
	return func(context.Context, any) error { return fmt.Errorf("%s: %w", method, cdp.ErrDetached) }
}

// main returns the main frame.
func (p *page) main() *frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.root
}

// frames returns the frames, parents before children and siblings in the order in which they were added.
func (p *page) frames() []*frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.root.appendTree(nil)
}

// ownLoaders returns the loaders of the documents of the page, without those of frames of other origins.
func (p *page) ownLoaders() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []string
	for _, f := range p.framesByID {
		if syntax.OriginOf(f.url) == syntax.OriginOf(p.root.url) {
			list = append(list, f.loader)
		}
	}
	return list
}

// appendTree appends the frame and those inside it, without those that have no session at the moment.
func (f *frame) appendTree(list []*frame) []*frame {
	if f.session.to.Load() != nil {
		list = append(list, f)
	}
	for _, c := range f.children {
		list = c.appendTree(list)
	}
	return list
}

// watchFrames updates the tree of frames from the events of a session.
func (p *page) watchFrames(s *cdp.Session) {
	s.Listen(func(e cdp.Event) { p.onSessionEvent(s, e) })
}

func (p *page) onSessionEvent(s *cdp.Session, e cdp.Event) {
	switch e.Method {
	case "Page.frameAttached",
		"Page.frameNavigated",
		"Page.navigatedWithinDocument",
		"Page.frameDetached",
		"Page.lifecycleEvent":
		p.onFrameEvent(s, e)
	case "Runtime.executionContextCreated", "Runtime.executionContextDestroyed", "Runtime.executionContextsCleared":
		p.onContextEvent(s, e)
	case "Page.frameRequestedNavigation":
		p.onNavigationRequested(e)
		p.onNavigation(e)
	case "Page.frameScheduledNavigation", "Page.frameStartedNavigating", "Page.frameStartedLoading",
		"Page.frameClearedScheduledNavigation", "Page.frameStoppedLoading":
		p.onNavigation(e)
	case "Target.attachedToTarget":
		p.onTargetAttached(e)
	case "Page.fileChooserOpened":
		p.onFileChooser(s, e)
	case "Input.dragIntercepted":
		p.onDragIntercepted(e)
	case "Inspector.targetCrashed":
		p.onCrash(s)
	default:
		p.onPageEvent(s, e)
	}
}

// onFrameEvent handles the events of frames and their documents.
func (p *page) onFrameEvent(s *cdp.Session, e cdp.Event) {
	var params struct {
		FrameID, ParentFrameID, URL, Reason, LoaderID, Name, Type string
		Frame                                                     struct {
			ID, ParentID, LoaderID, URL, URLFragment,
			UnreachableURL string
		}
	}
	if e.Decode(&params) != nil || e.Method == "Page.lifecycleEvent" && params.Name != "load" && params.Name != "DOMContentLoaded" {
		return
	}
	if e.Method == "Page.frameNavigated" && params.Frame.UnreachableURL == "" {
		p.context.noteOrigin(params.Frame.URL)
		if params.Frame.ParentID == "" {
			p.announce(params.Frame.URL)
		}
	}
	p.update(func() {
		switch e.Method {
		case "Page.frameAttached":
			p.addFrame(s, params.FrameID, params.ParentFrameID)
		case "Page.frameNavigated":
			f := p.addFrame(s, params.Frame.ID, params.Frame.ParentID)
			if f.parent == nil {
				p.activity.navigations++
			}
			f.removeChildren()
			f.renewWorld(s)
			f.leaving, f.refreshes = nil, false
			f.loader, f.url = params.Frame.LoaderID, params.Frame.URL+params.Frame.URLFragment
			f.failed = params.Frame.UnreachableURL != ""
			if f.failed {
				f.url = params.Frame.UnreachableURL
			}
			if params.Type == "BackForwardCacheRestore" {
				f.loadedLoader = f.loader
			}
		case "Page.navigatedWithinDocument":
			if f := p.framesByID[params.FrameID]; f != nil {
				f.navigatedWithin(params.URL)
			}
		case "Page.frameDetached":
			p.removeFrame(s, params.FrameID, params.Reason)
		case "Page.lifecycleEvent":
			if f := p.framesByID[params.FrameID]; f != nil {
				f.reached(params.Name, params.LoaderID)
			}
		}
	})
}

// navigatedWithin notes another URL of the same document. The caller holds page.mu.
func (f *frame) navigatedWithin(url string) {
	if f.leaving != nil && f.leaving.loader == "" {
		f.leaving = nil
	}
	f.url = url
}

// reached notes an event in the life of a document: load or DOMContentLoaded. The caller holds page.mu.
func (f *frame) reached(name, loader string) {
	if name == "load" {
		f.loadedLoader = loader
	} else {
		f.parsedLoader = loader
	}
}

// addFrame returns the frame with an id, and adds it if it is new. It makes s the session of the frame. The caller
// holds page.mu.
func (p *page) addFrame(s *cdp.Session, id, parent string) *frame {
	f := p.framesByID[id]
	if f == nil && parent == "" { // a new main frame
		p.root.removeChildren()
		p.root.endWorld()
		delete(p.framesByID, p.root.id)
		f = &frame{page: p, id: id}
		p.root.detached = true
		p.root = f
	} else if f == nil {
		owner := p.framesByID[parent]
		if owner == nil {
			owner = p.root
		}
		f = &frame{page: p, id: id, parent: owner}
		owner.children = append(owner.children, f)
	}
	if f.session.to.Swap(s) != s {
		f.endWorld()
	}
	p.framesByID[id] = f
	return f
}

// removeFrame removes a frame. A frame that is swapped continues in another session, whose events may arrive before
// this one.
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

// removeChildren removes the frames inside f. The caller holds page.mu.
func (f *frame) removeChildren() {
	for _, c := range f.children {
		c.removeChildren()
		c.endWorld()
		c.detached = true
		delete(f.page.framesByID, c.id)
	}
	f.children = nil
}

// endWorld cancels what is running in the frame's isolated world, with the cause errGone, and sets world to nil. The
// caller holds page.mu.
func (f *frame) endWorld() {
	if f.world != nil {
		f.world.endMessages()
		f.world.cancel(errGone)
		f.world = nil
	}
}

// renewWorld begins anew in the world of a frame that shows another document, if it still has one: the browser keeps
// the window of a first, empty document for the one that replaces it, and runs no scripts that are registered for new
// documents. The caller holds page.mu.
func (f *frame) renewWorld(s *cdp.Session) {
	if old := f.world; old != nil {
		f.endWorld()
		f.world = newWorld(f.page, old.id, old.unique)
		f.install(s, f.world)
	}
}

// onContextEvent handles the events of execution contexts: the isolated worlds of documents.
func (p *page) onContextEvent(s *cdp.Session, e cdp.Event) {
	var params struct {
		Context struct {
			ID       int
			Name     string
			UniqueID string
			AuxData  struct {
				FrameID   string
				IsDefault bool
			}
		}
		ExecutionContextID int
	}
	if e.Decode(&params) != nil {
		return
	}
	if e.Method == "Runtime.executionContextCreated" && params.Context.AuxData.IsDefault {
		p.mu.Lock()
		if f := p.framesByID[params.Context.AuxData.FrameID]; f != nil {
			f.pageWorld = params.Context.UniqueID
		}
		p.mu.Unlock()
		return
	}
	if e.Method == "Runtime.executionContextCreated" && params.Context.Name != p.device.worldName {
		return
	}
	p.update(func() {
		if e.Method == "Runtime.executionContextCreated" {
			if f := p.framesByID[params.Context.AuxData.FrameID]; f != nil {
				f.endWorld()
				f.session.to.Store(s)
				f.world = newWorld(p, params.Context.ID, params.Context.UniqueID)
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

// onTargetAttached handles the event that a frame got a process of its own.
func (p *page) onTargetAttached(e cdp.Event) {
	var a attachedTarget
	if e.Decode(&a) != nil {
		return
	}
	s := p.browser.Conn.Session(a.SessionID)
	if a.TargetInfo.Type == "iframe" {
		p.update(func() {
			f := p.addFrame(s, a.TargetInfo.TargetID, a.TargetInfo.ParentFrameID)
			f.removeChildren()
			f.endWorld()
		})
		p.initFrame(s, a)
	}
	s.Send("Runtime.runIfWaitingForDebugger", nil)
}
