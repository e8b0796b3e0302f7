package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// maxDownload is the size of the largest download that is kept, in bytes.
const maxDownload = 64 << 20

// downloads are those of a session. They may be used from any goroutine.
type downloads struct {
	mu   sync.Mutex
	list []*download
}

// download is a file that a page offered. Its fields are guarded by downloads.mu.
type download struct {
	id, name, url string
	state         string // inProgress, completed or canceled
	handled       bool   // it was kept, or could not be
	path          string // of the kept file
	bytes         int
	hash          string // SHA-256 of the content, in hexadecimal
	problem       string // why it was not kept; empty for no problem
	awaited       bool   // a web_waitForDownload has returned it
}

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
			c.device.downloadProgress(p.GUID, p.State, p.ReceivedBytes)
		case len(contexts) == 1 || c.hasFrame(p.FrameID):
			c.device.downloadBegins(download{id: p.GUID, name: p.SuggestedFilename, url: p.URL, state: "inProgress"})
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

func (d *webDevice) downloadBegins(begun download) {
	d.downloads.mu.Lock()
	d.downloads.list = append(d.downloads.list, &begun)
	d.downloads.mu.Unlock()
	d.notes.Add(notes.Download, "%s from %s", begun.name, begun.url)
	d.changes.notify()
}

func (d *webDevice) downloadProgress(id, state string, bytes float64) {
	d.downloads.mu.Lock()
	i := slices.IndexFunc(d.downloads.list, func(l *download) bool { return l.id == id })
	ended := i >= 0 && state != "inProgress" && d.downloads.list[i].state == "inProgress"
	var name string
	if ended {
		d.downloads.list[i].state = state
		name = d.downloads.list[i].name
	}
	d.downloads.mu.Unlock()
	if ended {
		d.notes.Add(notes.Download, "%s is %s, %s", name, state, text.Count(int(bytes), "byte"))
		d.changes.notify()
	}
}

// keepDownloads moves completed downloads to the session's folder.
func (d *webDevice) keepDownloads(b *browser) {
	d.downloads.mu.Lock()
	defer d.downloads.mu.Unlock()
	for _, l := range d.downloads.list {
		if l.handled || l.state != "completed" {
			continue
		}
		l.handled = true
		if b.Folder == "" {
			l.problem = "the browser at " + b.Name + " keeps its downloads itself"
			continue
		}
		path := filepath.Join(b.Folder, l.id)
		if err := l.keep(path, d.session.Keep); err != nil {
			l.problem = err.Error()
			d.notes.Add(notes.Download, "%s was not kept: %v", l.name, err)
		}
		_ = os.Remove(path)
	}
}

// keep writes the file at path into the session's folder.
func (l *download) keep(path string, keep func(device.Artifact) (string, error)) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() > maxDownload {
		return fmt.Errorf("it is larger than %d MiB", maxDownload>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	hash := sha256.Sum256(data)
	l.bytes, l.hash = len(data), hex.EncodeToString(hash[:])
	l.path, err = keep(device.Artifact{Name: filepath.Base(filepath.Clean("/" + l.name)), Data: data, Foreign: true})
	return err
}

// awaitDownloads waits for downloads that are still running, and keeps them.
func (d *webDevice) awaitDownloads(ctx context.Context) {
	c := d.openContext()
	if c == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, d.limits.download)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	running := func(l *download) bool { return l.state == "inProgress" }
	err := d.changes.waitUntil(ctx, func() bool {
		d.downloads.mu.Lock()
		defer d.downloads.mu.Unlock()
		return !slices.ContainsFunc(d.downloads.list, running)
	})
	d.keepDownloads(c.browser)
	if err == nil {
		return
	}
	d.downloads.mu.Lock()
	left := slices.DeleteFunc(slices.Clone(d.downloads.list), func(l *download) bool { return !running(l) })
	d.downloads.mu.Unlock()
	for _, l := range left {
		d.notes.Add(notes.Download, "%s was not kept: it was still running at the end", l.name)
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
	var found download
	err = d.changes.waitUntil(waiting, func() bool {
		d.keepDownloads(p.browser)
		return d.downloads.take(&found, func(l *download) bool {
			return (!a.Has("fileName") || l.name == a.Text("fileName")) && pattern.MatchString(l.url)
		})
	})
	switch {
	case ctx.Err() != nil && err != nil:
		return tool.Result{}, err
	case err != nil:
		return tool.Result{}, fault.New(fault.ToolFailed, "", "timed out after %s waiting for a download%s; %s", limit,
			a.InWords("fileName", "urlPattern"), d.downloads)
	case found.state == "canceled":
		return tool.Result{}, fault.New(fault.ToolFailed, "", "the download of %s was canceled", found.name)
	case found.problem != "":
		return tool.Result{}, fault.New(fault.ToolFailed, "", "%s was downloaded, but not kept: %s", found.name, found.problem)
	}
	return jsonResult(struct {
		Path     string `json:"path"`
		FileName string `json:"fileName"`
		Bytes    int    `json:"bytes"`
		SHA256   string `json:"sha256"`
	}{found.path, found.name, found.bytes, found.hash}), nil
}

// take copies the first download that ended, matches, and was not taken before.
func (ds *downloads) take(to *download, matches func(*download) bool) bool {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for _, l := range ds.list {
		if !l.awaited && l.state != "inProgress" && (l.handled || l.state == "canceled") && matches(l) {
			l.awaited = true
			*to = *l
			return true
		}
	}
	return false
}

// String lists the downloads in words.
func (ds *downloads) String() string {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	var words []string
	for _, l := range ds.list {
		state := l.state
		switch {
		case l.awaited:
			state = "returned before"
		case state == "inProgress":
			state = "still running"
		}
		words = append(words, fmt.Sprintf("%s from %s (%s)", l.name, l.url, state))
	}
	return text.Seen("download", words)
}
