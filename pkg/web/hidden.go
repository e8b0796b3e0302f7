package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/aria"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// condition is what an assertion waits for, when that is not one element being ready. It implements act.Screen.
type condition struct {
	search
	observe func(ctx context.Context) (act.Observation[observed], error)
}

// waitForAbsence is waitFor for an assertion that something is absent, which cannot hold before the page has loaded.
func (p *page) waitForAbsence(
	ctx context.Context, t syntax.Target, limit time.Duration,
	observe func(ctx context.Context) (act.Observation[observed], error),
) error {
	return p.waitFor(ctx, t, "hidden", limit, func(ctx context.Context) (act.Observation[observed], error) {
		seen, err := observe(ctx)
		if err != nil || !seen.Ready {
			return seen, err
		}
		if reason, err := p.unloadedReason(ctx); err != nil || reason != "" {
			return act.Observation[observed]{Missing: reason}, err
		}
		return seen, nil
	})
}

// unloadedReason says why nothing counts as absent: the page did not load, or is being parsed. It is empty otherwise,
// also for a document that a script opened in a loaded page and has not closed: many scripts never do.
func (p *page) unloadedReason(ctx context.Context) (string, error) {
	if failed := p.loadFailure(); failed != "" {
		return failed, nil
	}
	var parsing bool
	err := p.main().eval(ctx, "isParsing", &parsing)
	if p.isReplaced() { // also by what the page said before its response
		return "the page is being replaced", nil
	}
	if err != nil || !parsing || p.loaded() {
		return "", err
	}
	return "the page is still loading", nil
}

// isReplaced reports whether the page is about to show another document.
func (p *page) isReplaced() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.root.leaving != nil || p.root.refreshes
}

// loadFailure says that the page did not load; empty if it did.
func (p *page) loadFailure() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.root.failed {
		return ""
	}
	return fmt.Sprintf("the page %s did not load", shorten(p.root.url))
}

// Observe implements act.Screen.
func (c *condition) Observe(ctx context.Context, _ time.Duration) (act.Observation[observed], error) {
	o, err := c.observe(ctx)
	if silent, ok := errors.AsType[*silentFrameError](err); ok {
		return act.Observation[observed]{Missing: silent.Error()}, nil
	}
	return o, err
}

// waitFor waits until observe returns an observation that is ready. Messages name t.
func (p *page) waitFor(
	ctx context.Context, t syntax.Target, want string, limit time.Duration,
	observe func(ctx context.Context) (act.Observation[observed], error),
) error {
	c := &condition{search{page: p, target: t, check: check{want: want}}, observe}
	a := c.action(limit, nil)
	a.Screen = c
	_, err := a.Do(ctx)
	return err
}

// silentFrameError says that a frame does not respond, so that nothing is known of what it shows.
type silentFrameError struct{ url string }

func (e *silentFrameError) Error() string {
	return fmt.Sprintf("the frame %s does not respond, so what it shows is not known", shorten(e.url))
}

// eachFrame calls find for every frame until it returns false. Unlike withinSlice, it fails when an inner frame does
// not respond: what is there must not count as absent.
func (p *page) eachFrame(ctx context.Context, find func(context.Context, *frame) (more bool, err error)) error {
	for _, f := range p.frames() {
		slice, cancel := context.WithCancel(ctx)
		if f.parent != nil {
			slice, cancel = context.WithTimeout(ctx, f.slice())
		}
		more, err := find(slice, f)
		silent := f.noteResponse(ctx, slice, err)
		cancel()
		switch {
		case silent:
			return &silentFrameError{f.address()}
		case err != nil || !more:
			return err
		}
	}
	return nil
}

// address returns the URL of the frame.
func (f *frame) address() string {
	f.page.mu.Lock()
	defer f.page.mu.Unlock()
	return f.url
}

func webVerifyElementNotVisible(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t, err := syntax.AbsentElementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	if t, err = p.namedTarget(ctx, t); err != nil {
		return tool.Result{}, err
	}
	s := p.search(t, check{name: "visible", any: true})
	var found int
	err = p.waitForAbsence(ctx, t, p.assertionLimit(ctx, args),
		func(ctx context.Context) (o act.Observation[observed], err error) {
			o, found, err = s.visibleNow(ctx, p.strict(args))
			return o, err
		})
	if err != nil {
		return tool.Result{}, err
	}
	if found == 0 {
		notes := slices.Concat(s.notes(observed{}), p.shownAriaHidden(ctx, t), p.shownWithPart(ctx, t))
		return success("%s is not visible%s: no element matches", t.Selector, notes), nil
	}
	return success("%s is not visible%s", t.Selector, s.notes(observed{})), nil
}

// shownAriaHidden says that people see the name of a target, which nothing in the accessibility tree has, because an
// element with it is aria-hidden, as behind an open menu.
func (p *page) shownAriaHidden(ctx context.Context, t syntax.Target) remarks {
	if t.Role == "" || t.Name == nil || t.Name.Pattern != nil {
		return nil
	}
	var list remarks
	for _, f := range p.frames() {
		var found string
		err := f.withinSlice(ctx, func(ctx context.Context) error { return f.eval(ctx, "ariaHidden", &found, t.Name.Text) })
		if err == nil && found != "" {
			list = append(list, found+" is visible, but aria-hidden, so that no role matches it")
		}
	}
	return list
}

// shownWithPart says that an element with the role of a target is visible whose name is longer, as a row is called by
// all its cells.
func (p *page) shownWithPart(ctx context.Context, t syntax.Target) remarks {
	if t.Role == "" || t.Related != nil || t.Name == nil || t.Name.Pattern != nil {
		return nil
	}
	tree, err := p.treeOf(ctx, aria.Snapshot)
	if err != nil {
		return nil
	}
	part := strings.ToLower(syntax.FoldName(t.Name.Text))
	for _, line := range tree.Lines() {
		name := cmp.Or(line.Name, line.Text)
		if line.Role == t.Role && strings.Contains(strings.ToLower(syntax.FoldName(name)), part) {
			return remarks{fmt.Sprintf("%s %q is visible: %q is only a part of its name", line.Role, shorten(name), t.Name.Text)}
		}
	}
	return nil
}

// visibleNow is ready if no element that matches is visible; with strict at most one may match. total is how many do.
func (s *search) visibleNow(ctx context.Context, strict bool) (seen act.Observation[observed], total int, err error) {
	if err := s.captureRelated(ctx); err != nil {
		return seen, 0, err
	}
	index := s.index()
	seen.Ready = true
	err = s.page.eachFrame(ctx, func(ctx context.Context, f *frame) (bool, error) {
		o, err := s.findIn(ctx, f, index, 0, false)
		if err != nil {
			return false, err
		}
		total += o.Count
		if index >= 0 && o.Count <= index {
			index -= o.Count // among the elements of the frames that follow
			return true, nil
		}
		if o.Ready {
			seen = act.Observation[observed]{Reason: o.Found + " is visible", Count: total}
		}
		return !o.Ready && index < 0, nil
	})
	if strict && seen.Ready && total > 1 && index < 0 {
		seen = act.Observation[observed]{Reason: fmt.Sprintf("%d elements match, but only one may", total)}
	}
	return seen, total, err
}

// namedTarget returns the target by which a recording names an element, for an assertion that has to hold when the
// element is gone. In a live session a reference becomes a selector; in a trail it is an error.
func (p *page) namedTarget(ctx context.Context, t syntax.Target) (syntax.Target, error) {
	if t.Ref == "" {
		return t, nil
	}
	if !p.device.session.Live || ctx.Value(callFromTrail{}) != nil {
		return t, fault.New(fault.InvalidArguments, "name the element with nodeSelector, or by its role and name",
			"%s is a position, which another element may take", t.Ref)
	}
	_, err := p.search(t, check{name: "exists"}).do(ctx, 0, nil)
	if err != nil && p.device.located == nil { // else the element is gone since the selector was made
		return t, err
	}
	selector, err := screen.ParseSelector(p.device.located.selector, screen.ParseOptions{})
	if err != nil {
		return t, err
	}
	named, _, err := syntax.BySelector(selector)
	return named, err
}
