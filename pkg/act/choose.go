package act

import "slices"

// Condition is something that has to hold of an element before the action. Conditions are checked in order.
type Condition[E any] struct {
	Name string // in words, after "it is": visible
	// Check returns why the condition does not hold, empty when it does.
	Check func(e E) string
}

// Choose makes the observation of elements that match: it takes the one at the selector's index, else the first, and
// checks conditions. With unique there must be exactly one, unless an index chooses.
func Choose[E any](
	s Selector,
	unique bool,
	matches []E,
	describe func(E) string,
	conditions ...Condition[E],
) Observation[E] {
	o := Observation[E]{Count: len(matches)}
	if s.Index >= len(matches) {
		return o
	}
	if unique && !s.Indexed && len(matches) > 1 {
		o.Matches = FirstMatches(matches, describe)
		return o
	}
	o.Element = matches[s.Index]
	o.Found = describe(o.Element)
	for _, c := range conditions {
		if o.Reason = c.Check(o.Element); o.Reason != "" {
			return o
		}
		o.Held = append(o.Held, c.Name)
	}
	o.Ready = true
	return o
}

// MaxMatches is how many of too many elements are listed.
const MaxMatches = 5

// FirstMatches are the first few of too many elements in words.
func FirstMatches[E any](matches []E, describe func(E) string) []string {
	var first []string
	for e := range slices.Values(matches[:min(MaxMatches, len(matches))]) {
		first = append(first, describe(e))
	}
	return first
}
