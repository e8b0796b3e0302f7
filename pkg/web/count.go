package web

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// countCommand describes web_verifyCount.
func countCommand() command {
	const number = `{"type": "integer", "minimum": 0}`
	return newCommand("web_verifyCount",
		"Fails unless as many elements match as count says, or at least min and at most max.",
		`"count": `+number+`, "min": `+number+`, "max": `+number+", "+syntax.ElementReference()+", "+syntax.TimeoutProperty+"}",
		webVerifyCount).checkedBy(checkCount)
}

// checkCount checks the arguments of web_verifyCount.
func checkCount(args syntax.Arguments) error {
	_, err := syntax.ParseCountRange(args)
	_, targetErr := syntax.CountedElementOf(args)
	return errors.Join(err, targetErr)
}

func webVerifyCount(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	expected, err := syntax.ParseCountRange(args)
	if err != nil {
		return tool.Result{}, err
	}
	t, err := syntax.CountedElementOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	s := p.search(t, check{name: "exists", unique: true})
	var total int
	err = p.waitFor(ctx, t, "", p.assertionLimit(ctx, args), func(ctx context.Context) (act.Observation[observed], error) {
		var first []string
		var err error
		if total, first, err = s.matches(ctx); err != nil {
			return act.Observation[observed]{}, err
		}
		o := act.Observation[observed]{Count: total, Ready: expected.Holds(total)}
		switch {
		case o.Ready && total == 0:
			o.Missing, err = p.unloadedReason(ctx)
			o.Ready = o.Missing == ""
		case !o.Ready:
			o.Missing = fmt.Sprintf("%s matches %s, not %s", t.Selector, text.Count(total, "element"), expected)
			if total > 0 {
				o.Missing += ": " + strings.Join(first, ", ")
			}
		}
		return o, err
	})
	if err != nil {
		return tool.Result{}, err
	}
	return success("%s matches %s%s", t.Selector, text.Count(total, "element"), s.notes(observed{})), nil
}

// matches returns how many elements match in all frames, and the first of them in words.
func (s *search) matches(ctx context.Context) (total int, first []string, err error) {
	if err := s.captureRelated(ctx); err != nil {
		return 0, nil, err
	}
	err = s.page.eachFrame(ctx, func(ctx context.Context, f *frame) (bool, error) {
		o, err := s.findIn(ctx, f, -1, 0, false)
		total += o.Count
		if len(o.Matches) == 0 && o.Count > 0 {
			o.Matches = []string{o.Found}
		}
		first = append(first, o.Matches...)
		return true, err
	})
	return total, first[:min(len(first), act.MaxMatches)], err
}
