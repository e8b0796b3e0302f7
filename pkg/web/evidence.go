package web

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// Evidence implements device.Device. It may be called while a call is running. Artifacts that a page which does not
// respond cannot provide are left out.
func (d *webDevice) Evidence(ctx context.Context) []device.Artifact {
	c := d.openContext()
	if c == nil {
		return nil // no page is open yet
	}
	d.keepDownloads(c.browser)
	p := c.lastPage()
	if open := c.openPages(); p.closed() && len(open) > 0 {
		p = open[len(open)-1]
	}
	c.bringToFront(p)
	return p.evidence(ctx)
}

func (p *page) evidence(ctx context.Context) []device.Artifact {
	limit := p.limits().evidence
	if p.slow.Load() { // a slow page must not delay the end of the session much
		limit = p.limits().slowEvidence
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	var parts [3]device.Artifact
	var failed [2]error
	var work sync.WaitGroup
	work.Go(func() {
		var data []byte
		if data, failed[0] = p.safeScreenshot(ctx); failed[0] != nil {
			return
		}
		parts[1] = device.Artifact{Name: "screenshot.png", Title: "the page", Data: data}
	})
	work.Go(func() {
		v, err := p.viewOnce(ctx, device.ViewOptions{})
		if failed[1] = err; err == nil {
			text := v.Tree.Text(screen.TextOptions{MaxBytes: keptBytes, Ref: v.Ref})
			shown := p.notes.Redact(text.String()) + "\n"
			parts[2] = device.Artifact{
				Name: "screen.txt", Title: "what is on the page", Data: []byte(shown),
				Text: true,
			}
		}
	})
	title := p.title(ctx)
	work.Wait()
	about := fmt.Sprintf("URL: %s\nTitle: %s\n", p.url(), title) + p.context.otherTabs(p)
	for i, what := range []string{"screenshot", "accessibility tree"} {
		if failed[i] != nil {
			about += fmt.Sprintf("The %s is missing: %v\n", what, failed[i])
		}
	}
	about = p.notes.Redact(about + p.notes.String())
	parts[0] = device.Artifact{
		Name:  "page.txt",
		Title: "URL, console errors and failed requests",
		Data:  []byte(about),
		Text:  true,
	}
	return slices.DeleteFunc(parts[:], func(a device.Artifact) bool { return len(a.Data) == 0 })
}

// title returns the title of the page, empty when the page does not respond in time.
func (p *page) title(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, p.limits().response)
	defer cancel()
	title, _ := evaluateInMain[string](ctx, p, "document.title")
	return title
}
