package web

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/geometry"
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

const (
	// maxMatches is how many elements findMatches returns.
	maxMatches = 1000
	// maxMatchText bounds each text of an element that it returns, in bytes.
	maxMatchText = 1000
)

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

	Box   *geometry.Box `json:"box,omitempty"` // in the viewport of its frame, as page.js returns it; nil in results
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
		found, count, err := s.describeMatches(ctx)
		switch took := time.Since(start); {
		case err == nil && (len(found) > 0 || took >= limit):
			result := tool.Result{
				OK: true, Text: string(notes.Marshal(found)), Structured: notes.Marshal(map[string]any{"matches": found}), Notes: t.Ignored,
			}
			if count > maxMatches && s.index() < 0 {
				result.Notes = append(slices.Clone(t.Ignored), fmt.Sprintf("only the first %d of %d elements are returned", maxMatches, count))
			}
			return result, nil
		case err != nil && (!errors.Is(err, act.ErrChanged) || took >= limit+p.limits().response):
			return tool.Result{}, err
		}
	}
}

// describeMatches returns the first elements that match in all frames, or only the one at the index of the target, and
// how many match. The list is not nil.
func (s *search) describeMatches(ctx context.Context) (all []match, count int, err error) {
	if err := s.captureRelated(ctx); err != nil {
		return nil, 0, err
	}
	from, to := 0, maxMatches
	if index := s.index(); index >= 0 {
		from, to = index, index+1
	}
	all = []match{}
	for _, f := range s.page.frames() {
		err := f.withinSlice(ctx, func(ctx context.Context) error {
			found, more, err := s.matchesIn(ctx, f, max(0, from-count), max(0, to-count))
			all, count = append(all, found...), count+more
			return err
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return all, count, s.page.place(ctx, all)
}

// matchesIn returns the elements of a frame that match, without their places, from one index to another, and how many
// match.
func (s *search) matchesIn(ctx context.Context, f *frame, from, to int) (list []match, count int, err error) {
	nodes, _, err := s.nodes(ctx, f)
	if err != nil {
		return nil, 0, err
	}
	args := []any{from, to, maxMatchText + text.SecretMargin, s.target.Spec}
	if count = len(nodes); count > 0 {
		nodes = nodes[min(from, count):min(to, count)]
		args = []any{0, len(nodes), maxMatchText + text.SecretMargin, nil}
	}
	for _, n := range nodes {
		element, err := s.page.resolveNode(ctx, f, n.BackendNodeID)
		if err != nil {
			return nil, 0, err
		}
		defer element.release()
		args = append(args, element)
	}
	var found struct {
		Count int
		List  []match
	}
	err = f.eval(ctx, "matches", &found, args...)
	for i := range found.List {
		m := &found.List[i]
		m.frame = f
		for _, shown := range []*string{&m.Text, &m.Label, &m.ID, &m.Class} {
			*shown = text.RedactedHead(*shown, maxMatchText, s.page.device.redact)
		}
	}
	return found.List, max(count, found.Count), selectorError(err, s.target.Spec["css"])
}

// place sets where elements are that have a box.
func (p *page) place(ctx context.Context, list []match) error {
	var planes map[*frame]geometry.Plane
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
			bounds := onto.Bounds(*m.Box)
			at := bounds.Centre()
			m.Bounds, m.CenterX, m.CenterY = &bounds, &at.X, &at.Y
		}
		m.Box = nil
	}
	return nil
}

// planes returns how the viewports of the frames of elements lie in that of the page. A frame that is not shown has none.
func (p *page) planes(ctx context.Context, of []match) (map[*frame]geometry.Plane, error) {
	if slices.ContainsFunc(of, func(m match) bool { return m.frame.parent != nil }) {
		c, err := p.captureAll(ctx)
		if err != nil {
			return nil, err
		}
		_, err = p.measure(ctx, c)
		return c.planes, err
	}
	var view geometry.Viewport
	err := p.main().eval(ctx, "viewport", &view)
	return map[*frame]geometry.Plane{p.main(): view.Plane()}, err
}
