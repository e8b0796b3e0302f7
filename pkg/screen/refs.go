package screen

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// StaleRef is the kind of the error for a reference whose element is gone.
const StaleRef fault.Kind = "stale_ref"

// defaultRemembered is the number of elements that References keeps: those of 20 pages with 10,000 elements, or 50 MB.
const defaultRemembered = 200_000

// References assigns numbers to the elements of a running session, which people and models refer to as e1, e2, … An
// element keeps its number as long as it has its key, even if the screen changes. A number is never assigned to another
// element.
// Several goroutines may use References at once.
type References struct {
	// MaxRemembered is the number of elements that are kept. Those that were not seen for the longest time are removed.
	// 0 means 200,000.
	MaxRemembered int

	mu     sync.Mutex
	number int // the last one that was assigned
	round  int // number of trees that were seen
	keys   map[Key]*element
	given  map[int]*element
}

// element is the stored data of an element of a screen.
type element struct {
	key         Key
	number      int // 0 while it has none
	role, name  string
	first, last int  // the rounds in which it was seen
	unique      bool // no other element had its role and its name when it was last seen
	at          location
	shown       look // when it was last shown
}

// look is by what people know an element.
type look struct {
	name, row string
	page      Page
	above     string
	record    string // the text by which its record is known
	unique    bool   // no other element had its role and its name
}

// See assigns numbers to the elements of a tree that have none yet, in the order of the tree. It must be called for
// every tree that is shown.
func (r *References) See(t *Tree) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.see(t)
	for _, n := range t.nodes {
		if e := r.keys[n.Key]; e != nil {
			e.shown = e.look(n)
		}
	}
}

// Number assigns numbers as See does, to the elements of a tree that is shown to somebody else than the one who acts.
func (r *References) Number(t *Tree) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.see(t)
}

func (e *element) look(n *Node) look {
	return look{n.Name(), e.at.first, e.at.page, e.at.textAbove(), n.known(), e.unique}
}

// known returns the text by which the record of n is known, "" without one.
func (n *Node) known() string {
	if n.Record == nil {
		return ""
	}
	return n.Record.Known
}

func (r *References) see(t *Tree) {
	if r.keys == nil {
		r.keys, r.given = map[Key]*element{}, map[int]*element{}
	}
	r.round++
	type described struct{ role, name string }
	words, count := make([]described, len(t.nodes)), map[described]int{}
	for i, n := range t.nodes {
		words[i] = described{n.RoleName(), n.caption()}
		count[words[i]]++
	}
	locations := t.locations()
	for i, n := range t.nodes {
		if n.Key == "" {
			continue
		}
		e := r.keys[n.Key]
		if e == nil {
			e = &element{key: n.Key, first: r.round}
			r.keys[n.Key] = e
		}
		e.last, e.role, e.name, e.unique = r.round, words[i].role, words[i].name, count[words[i]] == 1
		e.at = locations[i]
		if e.number == 0 && n.Referable() {
			r.number++
			e.number = r.number
			r.given[e.number] = e
			e.shown = e.look(n)
		}
	}
	r.forget()
}

// forget removes the elements that were not seen for the longest time, until at most half of the limit is kept.
func (r *References) forget() {
	limit := cmp.Or(r.MaxRemembered, defaultRemembered)
	if len(r.keys) <= limit {
		return
	}
	old := make([]*element, 0, len(r.keys))
	for _, e := range r.keys {
		if e.last < r.round {
			old = append(old, e)
		}
	}
	slices.SortFunc(old, func(a, b *element) int { return cmp.Compare(a.last, b.last) })
	for i, e := range old {
		if len(r.keys) <= limit/2 && e.last != old[max(0, i-1)].last {
			break // elements that were seen last at the same time go together
		}
		delete(r.keys, e.key)
		delete(r.given, e.number)
	}
}

// Ref returns the reference of a node that was seen; "" for one that cannot be referred to.
func (r *References) Ref(n *Node) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ref(n)
}

func (r *References) ref(n *Node) string {
	if e := r.keys[n.Key]; e != nil && e.number > 0 && n.Referable() {
		return "e" + strconv.Itoa(e.number)
	}
	return ""
}

// LookupResult is the element of a reference.
type LookupResult struct {
	Node *Node
	// Again is true when the element that was shown is gone and Node is the only one with its role and name, in its place.
	Again bool
	// Was describes the element as it was when it was last seen, as in: button "Save".
	Was string
}

var reference = lazyregexp.New(`^e([0-9]{1,9})$`)

// IsReference reports whether text has the form of a reference, such as e12.
func IsReference(text string) bool { return reference().MatchString(text) }

// Use is what an element is looked up for.
type Use int

// The values of Use. What an element that is acted on does may be another thing when its name, its row or its page is
// another one than was shown; a check reads what it is now.
const (
	ToRead Use = iota
	ToAct
)

// Lookup returns the element of a reference in the current tree. If it is not there any more, it was the only one with
// its role and its name, and exactly one element has them now, in the same document at the same address, below the same
// heading and in the same row, dialog, landmark or labelled group, beside the text by which its record was known, which
// was never on the screen together with it, that one is returned with Again. Where a document has no heading above it,
// its title and the text above it count instead.
// Else the error has the kind StaleRef; its message describes what the element was and what is near. The tree counts as
// seen.
func (r *References) Lookup(ref string, t *Tree, use Use) (LookupResult, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	match := reference().FindStringSubmatch(strings.TrimSpace(ref))
	if match == nil {
		return LookupResult{}, fault.New(fault.InvalidArguments, "take a reference from a snapshot",
			"%s is not a reference; a reference looks like e12", quote(ref))
	}
	ref = match[0]
	number, _ := strconv.Atoi(match[1]) // at most nine digits
	e := r.given[number]
	if e == nil {
		r.see(t)
		return LookupResult{}, r.unknown(ref, number)
	}
	was := *e // see may change the stored element
	r.see(t)
	found := LookupResult{Was: describe(was.role, was.name)}
	if found.Node = t.ByKey(was.key); found.Node != nil {
		if use == ToAct {
			return found, r.changedError(ref, e, found.Node)
		}
		return found, nil
	}
	same := t.nodesNamed(was.role, was.name)
	if len(same) == 1 && was.unique && r.isNewer(same[0], was) && r.takesPlace(same[0], was) {
		found.Node, found.Again = same[0], true
		return found, nil
	}
	return LookupResult{}, r.stale(ref, was, same, t)
}

// isNewer reports whether n has been on the screen only since the element was gone.
func (r *References) isNewer(n *Node, than element) bool {
	e := r.keys[n.Key]
	return e != nil && e.first > than.last
}

// takesPlace reports whether n is where the element was.
func (r *References) takesPlace(n *Node, of element) bool {
	if n.Record != nil && of.shown.record != "" && !slices.Contains(n.Record.Near, of.shown.record) {
		return false
	}
	return n.Key.document() == of.key.document() && r.keys[n.Key].at.equals(of.at)
}

// isOfAnotherRecord reports whether the text by which people knew the element is gone from its record. It counts only
// for one that they can confuse with others: when it was shown, or now, another one had its role and its name.
func (was look) isOfAnotherRecord(now look, n *Node) bool {
	if was.record == "" || n.Record == nil || was.unique && now.unique {
		return false
	}
	return !slices.Contains(n.Record.All, was.record)
}

// changedError returns the error for an element that has another name, or is in another row or record or on another
// page, than when it was shown. The error counts as showing it.
func (r *References) changedError(ref string, e *element, n *Node) error {
	was, now := e.shown, e.look(n)
	e.shown = now
	const hint = "if it is still meant, make the call again"
	switch {
	case was.name != now.name:
		return fault.New(StaleRef, hint, "%s was %s and is now %s", ref, describe(e.role, was.name), describe(e.role, now.name))
	case was.row != now.row:
		return fault.New(StaleRef, hint, "%s, %s, was in the row of %s and is now in that of %s", ref, n, quote(was.row), quote(now.row))
	case was.isOfAnotherRecord(now, n) && now.record == "":
		return fault.New(StaleRef, hint, "%s, %s, was beside %s, which is not there any more", ref, n, quote(was.record))
	case was.isOfAnotherRecord(now, n):
		return fault.New(StaleRef, hint, "%s, %s, was beside %s and is now beside %s", ref, n, quote(was.record), quote(now.record))
	case was.page != now.page && was.above != now.above:
		return fault.New(StaleRef, hint, "%s, %s, was below %s of %s and is now below %s of %s",
			ref, n, quote(was.above), was.page.unlike(now.page), quote(now.above), now.page.unlike(was.page))
	}
	return nil
}

// unlike names a page by what another one has not.
func (p Page) unlike(other Page) string {
	if p.Address != other.Address {
		return p.Address
	}
	return "the page " + quote(p.Title)
}

// nodesNamed returns the elements of a role and a name; none for an empty name.
func (t *Tree) nodesNamed(role, name string) []*Node {
	if name == "" {
		return nil
	}
	var out []*Node
	for _, n := range t.nodes {
		if n.RoleName() == role && n.caption() == name {
			out = append(out, n)
		}
	}
	return out
}

const newSnapshot = "take a new snapshot and use a reference of it"

func (r *References) unknown(ref string, number int) error {
	if number > 0 && number <= r.number {
		return fault.New(StaleRef, newSnapshot, "%s was shown too long ago to be remembered", ref)
	}
	return fault.New(StaleRef, newSnapshot, "%s was never shown in this session", ref)
}

// stale describes a reference whose element is gone.
func (r *References) stale(ref string, was element, same []*Node, t *Tree) error {
	message := fmt.Sprintf("%s was %s, which is no longer on the screen", ref, describe(was.role, was.name))
	near := t.nearNamed(was.role, was.name)
	switch {
	case len(same) > 1:
		message += fmt.Sprintf("; %d others have that role and name: ", len(same)) + Describe(same, r.ref)
	case len(near) > 0:
		message += "; near: " + Describe(near, r.ref)
	}
	return fault.New(StaleRef, newSnapshot, "%s", message)
}
