package act

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Failure is the reason why an action was not performed.
type Failure struct {
	Selector Selector
	Want     string        // what the element should have been
	Place    string        // where elements were counted
	Count    int           // how many elements matched
	Matches  []string      // the first of them, when there were too many
	Found    string        // the element, empty when there was none
	Held     []string      // the conditions that held
	Reason   string        // why the next one did not
	Missing  string        // replaces "… was not found"
	Similar  []string      // what may have been meant, quoted
	Tries    int           // how many times the element was resolved
	Took     time.Duration // for all tries
	Limit    time.Duration // that the action or its call has for them; 0 for a single try
	Location string        // where the device was
}

// failure returns the error of an action that is not performed, with its explanation.
func (a *Action[E]) failure(ctx context.Context) error {
	f := &Failure{
		Selector: a.Selector,
		Want:     a.Want,
		Place:    a.place(),
		Tries:    a.tries,
		Took:     a.ready.Sub(a.start),
		Limit:    a.limit,
		Count:    a.last.Count,
		Matches:  a.last.Matches,
		Found:    a.last.Found,
		Held:     a.last.Held,
		Reason:   a.last.Reason,
		Missing:  a.last.Missing,
	}
	explain, cancel := context.WithTimeout(ctx, a.Limits.Response)
	defer cancel()
	if f.Found == "" && f.Count == 0 && f.Missing == "" {
		f.Similar = a.Screen.Similar(explain)
	}
	if discerner, ok := a.Screen.(Discerner); ok && hasEqual(f.Matches) {
		f.Matches = discerner.Discern(explain, f.Matches)
	}
	f.Location = a.Screen.Location(explain)
	hint := f.hint()
	if adviser, ok := a.Screen.(Adviser); ok && hint == "" {
		hint = adviser.Hint(f.Reason)
	}
	return &fault.Error{Kind: fault.ToolFailed, Message: f.Error(), Hint: hint, Details: f.details(), Cause: f}
}

// hasEqual reports whether two of the texts are equal.
func hasEqual(texts []string) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(texts)))) < len(texts)
}

// Error returns what was requested and what was wrong, then what was found, the time limit, and the location.
func (f *Failure) Error() string {
	var details []string
	if f.Found != "" && f.Reason != "" {
		found := "found " + f.Found
		if f.Count > 1 {
			found += fmt.Sprintf(", the first of %d", f.Count)
			if f.Selector.Indexed {
				found = fmt.Sprintf("found %s, one of %d", f.Found, f.Count)
			}
		}
		details = append(details, found)
	}
	if len(f.Held) > 0 {
		details = append(details, "it is "+strings.Join(f.Held, ", "))
	}
	if f.Limit > 0 {
		details = append(details, fmt.Sprintf("within %s", f.Limit))
	}
	if f.Location != "" {
		details = append(details, f.Location)
	}
	if len(details) == 0 {
		return f.summary()
	}
	return fmt.Sprintf("%s (%s)", f.summary(), strings.Join(details, "; "))
}

func (f *Failure) summary() string {
	switch {
	case len(f.Matches) > 0:
		return fmt.Sprintf("%s matches %d elements, but must match one: %s", f.Selector, f.Count,
			strings.Join(f.Matches, ", "))
	case f.Reason != "":
		return fmt.Sprintf("%s is not %s: %s", f.Selector, f.Want, f.Reason)
	case f.Missing != "":
		return f.Missing
	case f.Selector.Indexed && f.Count > 0:
		return fmt.Sprintf("%s %d is the %s %s (counting from 0); %s has %d",
			f.Selector.IndexName, f.Selector.Index, ordinal(f.Selector.Index+1), f.Selector.Text, f.Place, f.Count)
	case len(f.Similar) > 0:
		return fmt.Sprintf("%s was not found; %s has %s", f.Selector, f.Place, strings.Join(f.Similar, ", "))
	}
	return fmt.Sprintf("%s was not found", f.Selector)
}

func (f *Failure) hint() string {
	if len(f.Matches) > 0 {
		return "describe the element more precisely, or choose one of them by its index"
	}
	return ""
}

// details returns what programs may read of the failure.
func (f *Failure) details() map[string]any {
	details := map[string]any{"tries": f.Tries, "tookMs": f.Took.Milliseconds(), "matches": f.Count, "held": f.Held}
	switch {
	case len(f.Matches) > 0:
		details[ElementKey] = Ambiguous
	case f.Reason != "":
		details[ElementKey], details[FoundKey], details[ReasonKey] = NotReady, f.Found, f.Reason
	default:
		details[ElementKey] = Missing
	}
	return details
}

// Keys of the details of a failure: what was wrong with the element, and of one that was not ready what it is in words,
// and why it was not.
const (
	ElementKey = "element"
	FoundKey   = "found"
	ReasonKey  = "reason"
)

// Values of ElementKey.
const (
	Missing   = "missing"
	Ambiguous = "ambiguous"
	NotReady  = "not ready"
)

// ordinal returns an ordinal number from 1: a word up to tenth, then digits with an ending, such as 11th.
func ordinal(n int) string {
	words := []string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}
	if n <= len(words) {
		return words[n-1]
	}
	ending := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			ending = "st"
		case 2:
			ending = "nd"
		case 3:
			ending = "rd"
		}
	}
	return fmt.Sprint(n, ending)
}
