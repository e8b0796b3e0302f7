package web

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// matchesCommand describes findMatches.
func matchesCommand() command {
	return newCommand("findMatches", "Returns the elements that match, visible or not, now or within timeoutMs; an empty list if none does.",
		syntax.MatchesProperties()+", "+syntax.TimeoutProperty+`, "default": 0}`, findMatches).checkedBy(checkMatches)
}

// checkMatches checks the arguments of findMatches.
func checkMatches(args syntax.Arguments) error {
	_, err := syntax.MatchesOf(args)
	return err
}

// match is an element as findMatches returns it.
type match struct {
	Tag     string `json:"tag"`
	Text    string `json:"text"` // the beginning of what it shows
	Label   string `json:"label,omitempty"`
	ID      string `json:"id,omitempty"`
	Class   string `json:"class,omitempty"`
	Visible bool   `json:"visible"`
	Enabled bool   `json:"enabled"`
	// Where it is in the viewport of the page, in whole pixels; nil for one that is not laid out.
	Bounds  *screen.Rect `json:"bounds,omitempty"`
	CenterX *int         `json:"centerX,omitempty"`
	CenterY *int         `json:"centerY,omitempty"`

	Box   *box `json:"box,omitempty"` // in the viewport of its frame, as page.js returns it; nil in results
	frame *frame
}

func findMatches(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t, err := syntax.MatchesOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	s := p.search(t, check{name: "exists"})
	changes := p.newChangeWatcher()
	start, limit := time.Now(), timeoutOf(args, 0)
	for ; ; changes.wait(ctx, minPause, pollInterval) {
		found, err := s.describeMatches(ctx)
		switch took := time.Since(start); {
		case err == nil && (len(found) > 0 || took >= limit):
			return tool.Result{
				OK: true, Text: string(notes.Marshal(found)), Structured: notes.Marshal(map[string]any{"matches": found}), Notes: t.Ignored,
			}, nil
		case err != nil && (!errors.Is(err, act.ErrChanged) || took >= limit+p.limits().response):
			return tool.Result{}, err
		}
	}
}

// describeMatches returns the elements that match in all frames, or only the one at the index of the target. The list is
// not nil.
func (s *search) describeMatches(ctx context.Context) ([]match, error) {
	if err := s.captureRelated(ctx); err != nil {
		return nil, err
	}
	all := []match{}
	for _, f := range s.page.frames() {
		err := f.withinSlice(ctx, func(ctx context.Context) error {
			found, err := s.matchesIn(ctx, f)
			all = append(all, found...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if index := s.index(); index >= 0 {
		all = all[min(index, len(all)):min(index+1, len(all))]
	}
	return all, s.page.place(ctx, all)
}

// matchesIn returns the elements of a frame that match, without their places.
func (s *search) matchesIn(ctx context.Context, f *frame) ([]match, error) {
	nodes, _, err := s.nodes(ctx, f)
	if err != nil {
		return nil, err
	}
	spec := s.target.Spec
	if len(nodes) > 0 {
		spec = nil
	}
	args := []any{spec}
	for _, n := range nodes {
		element, err := s.page.resolveNode(ctx, f, n.BackendNodeID)
		if err != nil {
			return nil, err
		}
		defer element.release()
		args = append(args, element)
	}
	var found []match
	err = f.eval(ctx, "matches", &found, args...)
	for i := range found {
		found[i].frame = f
	}
	return found, selectorError(err, spec["css"])
}

// place sets where elements are that have a box.
func (p *page) place(ctx context.Context, list []match) error {
	var planes map[*frame]plane
	for i := range list {
		m := &list[i]
		if m.Box == nil {
			continue
		}
		if planes == nil {
			var err error
			if planes, err = p.planes(ctx, list); err != nil {
				return err
			}
		}
		if onto, shown := planes[m.frame]; shown {
			bounds := onto.bounds(*m.Box)
			at := bounds.Centre()
			m.Bounds, m.CenterX, m.CenterY = &bounds, &at.X, &at.Y
		}
		m.Box = nil
	}
	return nil
}

// planes returns how the viewports of the frames of elements lie in that of the page. A frame that is not shown has none.
func (p *page) planes(ctx context.Context, of []match) (map[*frame]plane, error) {
	if slices.ContainsFunc(of, func(m match) bool { return m.frame.parent != nil }) {
		c, err := p.captureAll(ctx)
		if err != nil {
			return nil, err
		}
		_, err = p.measure(ctx, c)
		return c.planes, err
	}
	var view viewport
	err := p.main().eval(ctx, "viewport", &view)
	return map[*frame]plane{p.main(): view.plane()}, err
}
