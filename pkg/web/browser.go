package web

import (
	"context"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/web/chromium"
)

// browser is a connection to a browser, and the contexts in it.
type browser struct {
	*chromium.Browser

	app *browserContext // that all pages of an Electron app are in; nil for a browser

	mu       sync.Mutex
	contexts map[string]*browserContext // by id
}

// startBrowser starts a browser, or connects to one.
func startBrowser(ctx context.Context, o chromium.Options, log func(level, message, hint string)) (*browser, error) {
	b := &browser{contexts: map[string]*browserContext{}}
	var err error
	if b.Browser, err = o.Start(ctx, log, b.onEvent); err != nil {
		return nil, err
	}
	return b, nil
}

// attachedTarget are the parameters of Target.attachedToTarget.
type attachedTarget struct {
	SessionID  string
	TargetInfo struct {
		TargetID, Type, URL, BrowserContextID, ParentFrameID, OpenerID string
	}
	WaitingForDebugger bool
}

// onEvent passes a new page to the context that it is in, and detaches from pages of other clients. Events of downloads
// are passed to the context whose page began them.
func (b *browser) onEvent(conn *cdp.Conn, e cdp.Event) {
	switch e.Method {
	case "Target.attachedToTarget":
		b.onAttached(conn, e)
	case "Browser.downloadWillBegin", "Browser.downloadProgress":
		b.onDownload(e)
	}
}

func (b *browser) onAttached(conn *cdp.Conn, e cdp.Event) {
	var a attachedTarget
	if e.Decode(&a) != nil {
		return
	}
	c := b.contextOf(a)
	s := conn.Session(a.SessionID)
	if c != nil {
		c.onAttached(s, a)
		return
	}
	s.Send("Runtime.runIfWaitingForDebugger", nil)
	conn.Browser().Send("Target.detachFromTarget", map[string]any{"sessionId": a.SessionID})
}

// contextOf returns the context that a page is in; nil if it is none of a session. Those of an app are all its windows,
// but not the tools for developers.
func (b *browser) contextOf(a attachedTarget) *browserContext {
	if b.app != nil {
		if strings.HasPrefix(a.TargetInfo.URL, "devtools://") {
			return nil
		}
		return b.app
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.contexts[a.TargetInfo.BrowserContextID]
}

// scoped returns parameters of a call for a context. That of an app has no id.
func (c *browserContext) scoped(params map[string]any) map[string]any {
	if c.id != "" {
		params["browserContextId"] = c.id
	}
	return params
}
