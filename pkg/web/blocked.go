package web

import (
	"fmt"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/access"
)

// blockedNavigations are the URLs that the page was kept from opening in the place of itself, because their origin is
// not allowed. Guarded by page.mu.
type blockedNavigations struct {
	urls      []string // since the last take
	requested string   // in urls or taken from there, but the browser has not asked for it yet; empty for none
}

// onNavigationRequested notes a navigation that will be blocked as soon as a frame requests it, which is before the
// browser confirms the click that led to it.
func (p *page) onNavigationRequested(e cdp.Event) {
	var requested struct{ FrameID, URL, Disposition string }
	if e.Decode(&requested) != nil || requested.Disposition != "currentTab" || requested.FrameID != p.main().id ||
		p.device.origins.Allows(requested.URL) {
		return
	}
	p.update(func() {
		p.blocked.urls = append(p.blocked.urls, requested.URL)
		p.blocked.requested = requested.URL
	})
}

// onNavigationBlocked notes a navigation that was blocked.
func (p *page) onNavigationBlocked(address string) {
	p.update(func() {
		if p.blocked.requested != address {
			p.blocked.urls = append(p.blocked.urls, address)
		}
		p.blocked.requested = ""
	})
}

// takeBlocked returns the navigations that were blocked since the last call.
func (p *page) takeBlocked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	urls := p.blocked.urls
	p.blocked.urls = nil
	return slices.Compact(urls)
}

// blockedResult is the result of a command that led to a page which may not be opened.
func blockedResult(a *access.Origins, command, address string) tool.Result {
	refused := fault.As(a.Refusal(address, ""))
	return tool.Result{
		Kind: refused.Kind, Hint: refused.Hint,
		Text: fmt.Sprintf("%s led to a page that was blocked: %s", command, refused.Message),
	}
}
