package web

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// tabCommands are the commands for tabs.
func tabCommands() []command {
	const patterns = `"urlPattern": {"type": "string", "minLength": 1, "description": "A regular expression found in the URL"},
		"title": {"type": "string", "minLength": 1, "description": "A regular expression found in the title"}`
	list := []command{
		newCommand("web_waitForTab", "Waits for a tab that the page opened, and makes it current when it has loaded.",
			patterns+", "+syntax.TimeoutProperty+`}`, webWaitForTab),
		newCommand("web_switchTab", "Makes another open tab current.",
			`"index": {"type": "integer", "minimum": 0, "description": "Its place in web_listTabs, from 0"}, `+patterns+", "+
				syntax.TimeoutProperty+`}`, webSwitchTab),
		newCommand("web_closeTab", "Closes the current tab, and makes the one that opened it current.", "", webCloseTab),
		newCommand("web_listTabs", "Returns index, URL and title of the open tabs, and which one is current.", "", webListTabs),
	}
	for i := range list {
		list[i].withoutPage = true
	}
	return list
}

// tabPattern says which tab a command means.
type tabPattern struct {
	index      int // -1 for any
	url, title *regexp.Regexp
	words      string // for messages
}

func readTabPattern(a syntax.Arguments) (tabPattern, error) {
	t := tabPattern{index: int(a.Number("index", -1))}
	var words []string
	if t.index >= 0 {
		words = append(words, fmt.Sprintf("index %d", t.index))
	}
	for name, to := range map[string]**regexp.Regexp{"urlPattern": &t.url, "title": &t.title} {
		if !a.Has(name) {
			continue
		}
		pattern, err := patternOf(a, name)
		if err != nil {
			return t, err
		}
		*to = pattern
		words = append(words, fmt.Sprintf("%s %q", name, pattern))
	}
	slices.Sort(words)
	if t.words = strings.Join(words, " and "); t.words != "" {
		t.words = " with " + t.words
	}
	return t, nil
}

// matches reports whether a tab is meant. It asks the page for its title if needed.
func (t tabPattern) matches(ctx context.Context, p *page, index int) bool {
	return (t.index < 0 || t.index == index) &&
		(t.url == nil || t.url.MatchString(p.url())) &&
		(t.title == nil || t.title.MatchString(p.title(ctx)))
}

// webWaitForTab waits for a tab that was never current. The newest one is taken.
func webWaitForTab(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	pattern, err := readTabPattern(args)
	if err != nil {
		return tool.Result{}, err
	}
	c := p.context
	opened, err := c.waitForTab(ctx, args, pattern, func(p *page) bool { return !p.wasCurrent.Load() && p.loaded() })
	if err != nil {
		return tool.Result{}, err
	}
	return success("tab %s is current", c.describeTab(opened)), nil
}

func webSwitchTab(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	pattern, err := readTabPattern(args)
	if err != nil {
		return tool.Result{}, err
	}
	if pattern.words == "" {
		return tool.Result{}, fault.New(fault.InvalidArguments, "web_listTabs lists the open tabs",
			"web_switchTab needs index, urlPattern or title")
	}
	c := p.context
	chosen, err := c.waitForTab(ctx, args, pattern, func(*page) bool { return true })
	if err != nil {
		return tool.Result{}, err
	}
	return success("tab %s is current", c.describeTab(chosen)), nil
}

// waitForTab waits until an open tab matches, and makes it current. Of several it takes the newest one.
func (c *browserContext) waitForTab(
	ctx context.Context, args syntax.Arguments, pattern tabPattern, accepts func(*page) bool,
) (*page, error) {
	limit := timeoutOf(args, c.device.limits.action)
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var found *page
	var open []*page
	matches := func() bool {
		open = c.openPages()
		for i, p := range slices.Backward(open) {
			if accepts(p) && pattern.matches(waiting, p, i) {
				found = p
				return true
			}
		}
		return false
	}
	if err := c.device.changes.waitPolling(waiting, matches); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, fault.New(fault.ToolFailed, "", "timed out after %s waiting for a tab%s; open: %s", limit, pattern.words,
			tabList(open))
	}
	c.makeCurrent(found)
	return found, nil
}

// loaded reports whether the page shows a document that has loaded. One that was opened without a URL has none to load.
func (p *page) loaded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.root.loader == "" {
		return p.firstURL == "about:blank"
	}
	return p.root.loadedLoader == p.root.loader
}

func webCloseTab(ctx context.Context, p *page, _ map[string]any) (tool.Result, error) {
	c := p.context
	if p.closed() {
		return tool.Result{}, c.noCurrentPage(p)
	}
	others := slices.DeleteFunc(c.openPages(), func(other *page) bool { return other == p })
	if len(others) == 0 {
		return tool.Result{}, fault.New(fault.ToolFailed, "open another page with web_navigate instead",
			"the tab %s is the only one, and cannot be closed", p.url())
	}
	next := others[len(others)-1]
	for _, other := range others {
		if other.targetID == p.openerID {
			next = other
		}
	}
	url := p.url()
	c.makeCurrent(next)
	err := c.browser.Conn.Browser().Call(ctx, "Target.closeTarget", map[string]any{"targetId": p.targetID}, nil)
	if err != nil {
		return tool.Result{}, err
	}
	if err := c.device.changes.waitUntil(ctx, func() bool { return !slices.Contains(c.openPages(), p) }); err != nil {
		return tool.Result{}, &waitingError{"the tab to close", err}
	}
	return success("closed the tab %s; tab %s is current", url, c.describeTab(next)), nil
}

func webListTabs(ctx context.Context, p *page, _ map[string]any) (tool.Result, error) {
	type tab struct {
		Index   int    `json:"index"`
		URL     string `json:"url"`
		Title   string `json:"title"`
		Current bool   `json:"current"`
	}
	c := p.context
	current := c.currentPage()
	tabs := []tab{}
	for i, p := range c.openPages() {
		tabs = append(tabs, tab{i, p.url(), p.title(ctx), p == current})
	}
	data := notes.Marshal(tabs)
	return tool.Result{OK: true, Text: string(data), Structured: json.RawMessage(`{"tabs":` + string(data) + `}`)}, nil
}

// describeTab returns the index and the URL of a tab.
func (c *browserContext) describeTab(p *page) string {
	return fmt.Sprintf("%d (%s)", slices.Index(c.openPages(), p), p.shownURL())
}

// shownURL returns the URL of the page, or the one that it was opened with while it shows nothing.
func (p *page) shownURL() string {
	if url := p.url(); url != "about:blank" || p.firstURL == "" {
		return url
	}
	return p.firstURL
}

// tabList describes tabs in words.
func tabList(pages []*page) string {
	words := make([]string, len(pages))
	for i, p := range pages {
		words[i] = fmt.Sprintf("%d (%s)", i, p.shownURL())
	}
	return strings.Join(words, ", ")
}

// actsOnPage reports whether a command acts on a page and returns a sentence, not a value.
func actsOnPage(name string) bool {
	return slices.Contains([]string{
		"tap", "inputText", "launchApp", "navigate", "click", "fill", "web_navigate", "web_click", "web_hover", "web_type",
		"web_fillSecret", "web_selectOption", "web_pressKey", "web_setChecked", "web_dragTo", "web_uploadFile",
	}, name)
}

// describeTabs says in the result of an action which tabs were opened during it. The hint of a failure names tabs that
// the session has not used yet.
func (c *browserContext) describeTabs(name string, r *tool.Result, before []*page) {
	var opened, unused []string
	for _, p := range c.openPages() {
		switch {
		case p.wasCurrent.Load():
		case r.OK && actsOnPage(name) && !slices.Contains(before, p):
			opened = append(opened, c.describeTab(p)+p.openState())
		case !r.OK:
			unused = append(unused, c.describeTab(p))
		}
	}
	switch {
	case len(opened) > 0:
		r.Text += "; opened tab " + strings.Join(opened, ", ") + ", which web_waitForTab makes current"
	case len(unused) > 0:
		r.Hint = strings.TrimPrefix(r.Hint+"; tab "+strings.Join(unused, ", ")+
			" is open, too; web_waitForTab makes it current", "; ")
	}
}

// openState says that the page has no document yet; empty if it has.
func (p *page) openState() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hasOpened() {
		return ""
	}
	return " without a response"
}

// otherTabs lists the tabs beside p for evidence; empty if there is none.
func (c *browserContext) otherTabs(p *page) string {
	open := c.openPages()
	if len(open) < 2 {
		return ""
	}
	var text strings.Builder
	text.WriteString("\nOpen tabs:\n")
	for i, other := range open {
		current := ""
		if other == p {
			current = " (this page)"
		}
		fmt.Fprintf(&text, "- %d %s%s\n", i, other.url(), current)
	}
	return text.String()
}
