package web

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// countCommand describes web_verifyCount.
func countCommand() command {
	const number = `{"type": "integer", "minimum": 0}`
	return newCommand("web_verifyCount",
		"Fails unless as many elements match as count says, or at least min and at most max.",
		`"count": `+number+`, "min": `+number+`, "max": `+number+", "+elementReference()+", "+timeoutProperty+"}",
		webVerifyCount).checkedBy(checkCount)
}

// checkCount checks the arguments of web_verifyCount.
func checkCount(args arguments) error {
	_, err := countRangeOf(args)
	_, targetErr := countedTarget(args)
	return errors.Join(err, targetErr)
}

// countRange is how many elements may match.
type countRange struct{ min, max int } // max is -1 for any

func countRangeOf(args arguments) (countRange, error) {
	r := countRange{int(args.number("min", 0)), int(args.number("max", -1))}
	invalid := func(message string) (countRange, error) {
		return r, fault.New(fault.InvalidArguments, "give count, or min, max or both", "%s", message)
	}
	switch bounds := args.has("min") || args.has("max"); {
	case args.has("count") && bounds:
		return invalid("count cannot be given together with min or max")
	case args.has("count"):
		r.min = int(args.number("count", 0))
		r.max = r.min
	case !bounds:
		return invalid("no argument says how many elements are expected")
	case r.max >= 0 && r.max < r.min:
		return invalid(fmt.Sprintf("min is %d and max is %d, so no number of elements is right", r.min, r.max))
	case r.max < 0 && r.min == 0:
		return invalid("min is 0, so every number of elements is right")
	}
	return r, nil
}

func (r countRange) holds(n int) bool { return n >= r.min && (r.max < 0 || n <= r.max) }

func (r countRange) String() string {
	switch {
	case r.min == r.max:
		return fmt.Sprint(r.min)
	case r.max < 0:
		return fmt.Sprintf("at least %d", r.min)
	case r.min == 0:
		return fmt.Sprintf("at most %d", r.max)
	}
	return fmt.Sprintf("%d to %d", r.min, r.max)
}

func webVerifyCount(ctx context.Context, p *page, args map[string]any) (tool.Result, error) {
	expected, err := countRangeOf(args)
	if err != nil {
		return tool.Result{}, err
	}
	t, err := countedTarget(args)
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
		o := act.Observation[observed]{Count: total, Ready: expected.holds(total)}
		switch {
		case o.Ready && total == 0:
			o.Missing, err = p.unloadedReason(ctx)
			o.Ready = o.Missing == ""
		case !o.Ready:
			o.Missing = fmt.Sprintf("%s matches %s, not %s", t.selector, plural(total, "element", "elements"), expected)
			if total > 0 {
				o.Missing += ": " + strings.Join(first, ", ")
			}
		}
		return o, err
	})
	if err != nil {
		return tool.Result{}, err
	}
	return success("%s matches %s%s", t.selector, plural(total, "element", "elements"), s.notes(observed{})), nil
}

// countedTarget returns the target whose elements are counted, which cannot be one element by its position.
func countedTarget(args arguments) (target, error) {
	t, err := verifiedElementOf(args)
	switch {
	case err != nil:
		return t, err
	case t.ref != "":
		return t, fault.New(fault.InvalidArguments, "name the elements with nodeSelector, or by their role",
			"%s is one element, which is not counted", t.ref)
	case t.selector.Indexed:
		return t, fault.New(fault.InvalidArguments, "leave out "+t.selector.IndexName,
			"%s chooses one element, which is not counted", t.selector.IndexName)
	}
	return t, nil
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
