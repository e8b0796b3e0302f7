package web

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

func checkText(args syntax.Arguments) error {
	_, err := syntax.ParseTextQuery(args)
	_, _, within := syntax.WithinOf(args)
	return errors.Join(err, within)
}

func webVerifyTextVisible(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	q, err := syntax.ParseTextQuery(args)
	if err != nil {
		return tool.Result{}, err
	}
	limit := p.assertionLimit(ctx, args)
	t, within, err := syntax.WithinOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	if !within {
		o, err := p.findText(ctx, q, limit)
		if err != nil {
			return tool.Result{}, err
		}
		return success("%s is visible%s%s", q, partOf(q, o), textRemarks(o)), nil
	}
	o, err := p.verifyWithin(ctx, q, t, args, check{name: "shows", want: "showing " + q.String()})
	if err != nil {
		return tool.Result{}, err
	}
	return success("%s is visible in %s%s%s", q, o, partOf(q, o), textRemarks(o)), nil
}

// partOf says of what text the one that was found is a part; empty if it is the whole text of an element.
func partOf(q syntax.TextQuery, o observed) string {
	switch {
	case q.Pattern != "":
		return fmt.Sprintf(", in %q", shorten(o.Text))
	case o.TextPart:
		return fmt.Sprintf(", as a part of %q", shorten(o.Text))
	}
	return ""
}

// textRemarks say that a text was found only within a word, only without white space, or several times.
func textRemarks(o observed) remarks {
	var list remarks
	if o.Unspaced != "" {
		list = append(list, fmt.Sprintf("only without the line break or space that people see in %q", shorten(o.Unspaced)))
	}
	if o.InWord {
		list = append(list, fmt.Sprintf("only as a part of a word or number of %q", shorten(o.Text)))
	}
	if o.Shows > 1 {
		list = append(list, fmt.Sprintf("%d elements show it, one is %s", o.Shows, o.Shown))
	}
	return list
}

// locateWithin makes the reference of a live session in the argument within a selector of the recording.
func (p *page) locateWithin(args syntax.Arguments) {
	if l := p.device.located; l != nil {
		given, _ := args["within"].(map[string]any)
		p.device.located = &locatedElement{Located: *l.InArgument("within", given)}
	}
}

func webVerifyTextNotVisible(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	q, err := syntax.ParseTextQuery(args)
	if err != nil {
		return tool.Result{}, err
	}
	limit := p.assertionLimit(ctx, args)
	t, within, err := syntax.WithinOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	if within {
		o, err := p.verifyWithin(ctx, q, t, args, check{name: "hides", want: "without " + q.String()})
		if err != nil {
			return tool.Result{}, err
		}
		return success("%s is not visible in %s", q, o), nil
	}
	err = p.waitForAbsence(ctx, q.Target(), limit,
		func(ctx context.Context) (act.Observation[observed], error) {
			seen := act.Observation[observed]{Ready: true}
			err := p.eachFrame(ctx, func(ctx context.Context, f *frame) (bool, error) {
				o, err := f.findText(ctx, q, 0)
				if o.Ready {
					seen = act.Observation[observed]{Reason: o.Shown + " shows it"}
				}
				return !o.Ready, err
			})
			return seen, err
		})
	if err != nil {
		return tool.Result{}, err
	}
	return success("%s is not visible", q), nil
}

// verifyWithin waits until the check of a target, which is shows or hides, holds for a text, also in frames in the element.
func (p *page) verifyWithin(
	ctx context.Context, q syntax.TextQuery, t syntax.Target, args syntax.Arguments, verified check,
) (observed, error) {
	verified.unique, verified.options = true, q.Options
	c := &condition{search: *p.search(t, verified)}
	c.observe = func(ctx context.Context) (seen act.Observation[observed], err error) {
		if seen, err = c.search.Observe(ctx, 0); err == nil && seen.Element.Frames {
			err = p.eachFrame(ctx, func(ctx context.Context, f *frame) (bool, error) {
				inner, err := p.textInside(ctx, f, seen.Element.frame, q)
				if inner.Ready {
					inner.Found, seen.Element = seen.Found, inner
					seen.Ready, seen.Reason = verified.name == "shows", inner.Shown+" in a frame shows it"
				}
				return !inner.Ready, err
			})
		}
		if err == nil && seen.Ready && verified.name == "hides" {
			if reason, err := p.unloadedReason(ctx); err != nil || reason != "" {
				return act.Observation[observed]{Missing: reason}, err
			}
		}
		seen.Waited = false
		return seen, err
	}
	a := c.action(p.assertionLimit(ctx, args), nil)
	a.Screen = c
	seen, err := a.Do(ctx)
	if err == nil {
		p.locateWithin(args)
	}
	return seen.Element, err
}

// textInside looks for a text in a frame if that is in the element of the frame around it that page.js has checked.
func (p *page) textInside(ctx context.Context, f, around *frame, q syntax.TextQuery) (o observed, err error) {
	top := f
	for top.parent != around && top.parent != nil {
		top = top.parent
	}
	if top.parent == nil {
		return o, nil
	}
	owner, err := p.frameElement(ctx, top)
	if err != nil {
		return o, err
	}
	defer owner.release()
	var inside bool
	if err := around.eval(ctx, "isFrameWithin", &inside, owner); err != nil || !inside {
		return o, err
	}
	return f.findText(ctx, q, 0)
}

// getTextCommand describes web_getText.
func getTextCommand() command {
	return newCommand("web_getText", "Returns the text that the first element that matches shows, as soon as it shows one.",
		`"pattern": {"type": "string", "minLength": 1, "description": "Return only what this regular expression matches, or its first group"}, `+
			syntax.ElementProperties(), webGetText).checkedBy(checkGetText)
}

func checkGetText(args syntax.Arguments) error {
	_, err := readOptions(args)
	return errors.Join(err, checkVerified(args))
}

// readOptions returns the options of page.js for the part of a text that is read.
func readOptions(args syntax.Arguments) (map[string]any, error) {
	if !args.Has("pattern") {
		return nil, nil
	}
	return syntax.PatternOptions(args.Text("pattern"))
}

func webGetText(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	t, err := syntax.VerifiedElementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	options, err := readOptions(args)
	if err != nil {
		return tool.Result{}, err
	}
	o, err := p.search(t, check{name: "readShown", want: "as expected", unique: p.strict(args), options: options}).
		do(ctx, p.actionLimit(ctx, args), nil)
	if err != nil {
		return tool.Result{}, err
	}
	result, err := queryResult(o.Text)
	result.Notes = o.notes
	return result, err
}

// findText waits until a frame shows a text.
func (p *page) findText(ctx context.Context, q syntax.TextQuery, ready time.Duration) (observed, error) {
	s := &textSearch{search{page: p, target: q.Target(), check: check{want: "visible"}}, q}
	a := s.action(ready, nil)
	a.Screen = s
	o, err := a.Do(ctx)
	return o.Element, err
}

// textSearch finds a text that is visible in any frame.
type textSearch struct {
	search
	query syntax.TextQuery
}

// findText looks for a text in one frame, for at most wait.
func (f *frame) findText(ctx context.Context, q syntax.TextQuery, wait time.Duration) (o observed, err error) {
	err = f.eval(ctx, "findText", &o, q.Options, wait.Milliseconds())
	return o, err
}

// Observe implements act.Screen.
func (s *textSearch) Observe(ctx context.Context, wait time.Duration) (act.Observation[observed], error) {
	frames := s.page.frames()
	slice := time.Duration(0) // page.js waits only when there is no other frame to search
	if len(frames) == 1 {
		slice = min(singleFrameSlice, wait)
	}
	var best observed
	for _, f := range frames {
		var o observed
		err := f.withinSlice(ctx, func(ctx context.Context) (err error) {
			o, err = f.findText(ctx, s.query, slice)
			return err
		})
		if err != nil && !errors.Is(err, errGone) {
			return act.Observation[observed]{}, err
		}
		if o.Ready || o.Count > best.Count || best.Count == 0 && o.Missing != "" {
			best = o
		}
		if best.Ready {
			break
		}
	}
	return act.Observation[observed]{
		Element: best,
		Count:   best.Count,
		Found:   best.Found,
		Held:    best.Held,
		Reason:  best.Reason,
		Ready:   best.Ready,
		Missing: best.Missing,
		Tries:   best.Tries,
		Waited:  slice > 0 && best.Tries > 0,
	}, nil
}
