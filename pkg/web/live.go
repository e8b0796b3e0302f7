package web

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// findShown checks the element that a view showed under the target's reference. Before that, it makes the selector
// that a recording names the element by, and in later tries it checks that the selector still finds the element.
func (s *search) findShown(ctx context.Context, wait time.Duration) (observed, error) {
	loading := s.page.isLoading() // then it may have been captured before it was complete
	capture, err := s.page.captureAll(ctx)
	if err != nil {
		return observed{}, err
	}
	use := screen.ToRead
	if s.acts {
		use = screen.ToAct
	}
	found, err := s.page.device.references.Lookup(s.target.Ref, capture.tree, use)
	if err != nil && (loading || s.page.isLoading()) && wait > pollSlice {
		return observed{Tries: 1, Missing: err.Error() + "; the page is still loading"}, nil
	}
	if err != nil {
		return observed{}, err
	}
	located, err := s.locateShown(ctx, capture, found.Node, s.page.device.located)
	if err != nil || located == nil {
		return observed{Tries: 1, Missing: fmt.Sprintf("the frame of %s, %s, does not respond", s.target.Ref, found.Was)}, err
	}
	if found.Again {
		located.Again = fmt.Sprintf("%s is now %s, which was rendered in its place",
			s.target.Ref, s.page.device.references.Ref(found.Node))
	}
	s.page.device.located = located
	e := capture.elements[found.Node]
	o := observed{Tries: 1}
	err = e.frame.withinSlice(ctx, func(ctx context.Context) (err error) {
		o, err = s.observeNode(ctx, e.frame, e.id, wait)
		o.Count = 1
		return err
	})
	if by, labelled := strings.CutSuffix(o.Found, byLabel); found.Node.Name() != "" && by != "" {
		o.Found = found.Node.String()
		if labelled {
			o.Found += byLabel
		}
	}
	return o, err
}

// isLoading reports whether the document of the page has not been loaded completely.
func (p *page) isLoading() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.root.loadedLoader != p.root.loader
}

// byLabel is how page.js ends the words for an input that is clicked on its label.
const byLabel = " by its label"

// locatedElement is how a recording names an element.
type locatedElement struct {
	tool.Located
	selector map[string]any // the argument nodeSelector
	key      screen.Key     // of the element
}

// takeLocated adds to a result how a recording names the element of the call.
func (d *webDevice) takeLocated(r tool.Result) tool.Result {
	if d.located == nil {
		return r
	}
	located := d.located.Located
	located.Again = d.notes.Redact(located.Again)
	for i, warning := range located.Warnings {
		located.Warnings[i] = d.notes.Redact(warning)
	}
	r.Located = &located
	return r
}
