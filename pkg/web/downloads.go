package web

import (
	"context"
	"maps"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/downloads"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

func downloadCommands() []command {
	wait := newCommand("web_waitForDownload",
		"Waits until a download is complete and returns path, fileName, bytes and sha256 of the kept file.",
		`"fileName": {"type": "string", "minLength": 1, "description": "The whole name of the file"},
		"urlPattern": {"type": "string", "minLength": 1, "description": "A regular expression found in the URL"}, `+
			syntax.TimeoutProperty+`, "default": 30000}`, webWaitForDownload)
	wait.withoutPage = true
	return []command{wait}
}

// downloadBehavior makes a browser that this process started save files beside its profile. Another browser keeps its
// own folder.
func (c *browserContext) downloadBehavior() map[string]any {
	params := c.scoped(map[string]any{"behavior": "default", "eventsEnabled": true})
	if c.browser.Folder != "" {
		params["behavior"], params["downloadPath"] = "allowAndName", c.browser.Folder
	}
	return params
}

// onDownload passes the beginning of a download to the session whose page it is in, and its progress to all.
func (b *browser) onDownload(e cdp.Event) {
	var p struct {
		FrameID, GUID, URL, SuggestedFilename, State string
		ReceivedBytes                                float64
	}
	if e.Decode(&p) != nil {
		return
	}
	b.mu.Lock()
	contexts := slices.Collect(maps.Values(b.contexts))
	b.mu.Unlock()
	for _, c := range contexts {
		switch {
		case e.Method == "Browser.downloadProgress":
			c.device.downloads.Progress(p.GUID, p.State, int(p.ReceivedBytes))
		case len(contexts) == 1 || c.hasFrame(p.FrameID):
			c.device.downloads.Begin(p.GUID, p.SuggestedFilename, p.URL)
		}
	}
}

// hasFrame reports whether a frame is in a page of the context, or is the main frame of one that was closed.
func (c *browserContext) hasFrame(id string) bool {
	c.mu.Lock()
	known, pages := c.targets[id], c.pages
	c.mu.Unlock()
	return known || slices.ContainsFunc(pages, func(p *page) bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.framesByID[id] != nil
	})
}

// keepDownloads moves completed downloads to the session's evidence.
func (d *webDevice) keepDownloads(b *browser) { d.downloads.Keep(b.Folder, b.Name) }

// awaitDownloads waits for downloads that are still running, and keeps them.
func (d *webDevice) awaitDownloads(ctx context.Context) {
	c := d.openContext()
	if c == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, d.limits.download)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	_ = d.changes.waitUntil(ctx, func() bool { return len(d.downloads.Running()) == 0 })
	d.keepDownloads(c.browser)
	for _, name := range d.downloads.Running() {
		d.notes.Add(notes.Download, "%s was not kept: it was still running at the end", name)
	}
}

func webWaitForDownload(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	a, d := syntax.Arguments(args), p.device
	pattern, err := patternOf(a, "urlPattern") // matches everything when absent
	if err != nil {
		return tool.Result{}, err
	}
	limit := waitLimit(ctx, a, d.limits.navigation)
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var found downloads.Download
	err = d.changes.waitUntil(waiting, func() bool {
		d.keepDownloads(p.browser)
		return d.downloads.Take(&found, func(l *downloads.Download) bool {
			return (!a.Has("fileName") || l.Name == a.Text("fileName")) && pattern.MatchString(l.URL)
		})
	})
	switch {
	case ctx.Err() != nil && err != nil:
		return tool.Result{}, err
	case err != nil:
		return tool.Result{}, fault.New(fault.ToolFailed, "", "timed out after %s waiting for a download%s; %s", limit,
			a.InWords("fileName", "urlPattern"), d.downloads)
	case found.Canceled():
		return tool.Result{}, fault.New(fault.ToolFailed, "", "the download of %s was canceled", found.Name)
	case found.Problem != "":
		return tool.Result{}, fault.New(fault.ToolFailed, "", "%s was downloaded, but not kept: %s", found.Name, found.Problem)
	}
	return jsonResult(struct {
		Path     string `json:"path"`
		FileName string `json:"fileName"`
		Bytes    int    `json:"bytes"`
		SHA256   string `json:"sha256"`
	}{found.Path, found.Name, found.Bytes, found.SHA256}), nil
}
