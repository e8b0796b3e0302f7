package screen_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// page is a page whose elements are written as "key role name".
func page(elements ...string) *screen.Tree {
	root := &screen.Node{Role: "main"}
	for _, text := range elements {
		parts := strings.SplitN(text, " ", 3)
		n := &screen.Node{Key: screen.Key(parts[0]), Role: parts[1]}
		if len(parts) == 3 {
			n.Label = &parts[2]
		}
		root.Children = append(root.Children, n)
	}
	return screen.NewTree(root, 100, 100, screen.Web)
}

func TestReferencesFollowTheirElement(t *testing.T) {
	t.Parallel()
	before := []string{"1 button Archive A", "2 button Delete", "3 link Home", "4 textbox Name", "5 paragraph Hello", "6 button"}
	for name, tt := range map[string]struct {
		now  []string
		ref  string
		want string // key of the element, and "again"; or the message of the error
	}{
		"nothing changed":            {before, "e1", "1"},
		"inserted before":            {append([]string{"9 button Delete everything"}, before...), "e1", "1"},
		"inserted the same before":   {append([]string{"9 button Archive A"}, before...), "e1", "1"},
		"reordered":                  {[]string{"6 button", "4 textbox Name", "1 button Archive A", "2 button Delete"}, "e2", "2"},
		"renamed":                    {[]string{"2 button Undo", "9 button Delete"}, "e2", "2"},
		"rendered again":             {[]string{"11 button Archive A", "12 button Delete", "13 link Home", "14 textbox Name", "5 paragraph Hello"}, "e1", "11 again"},
		"rendered again: text input": {[]string{"11 button Archive A", "14 textbox Name", "5 paragraph Hello"}, "e4", "14 again"},
		"another document": {
			[]string{"d2/1 link Home", "d2/2 heading Welcome"},
			"e3",
			`e3 was link "Home", which is no longer on the screen; near: link "Home" [ref=e7]`,
		},
		"frame loaded again": {
			[]string{"1 button Archive A", "f2/7 button Delete"},
			"e2",
			`e2 was button "Delete", which is no longer on the screen; near: button "Delete" [ref=e7]`,
		},
		"removed": {
			[]string{"1 button Archive A", "3 link Home"}, "e2", `e2 was button "Delete", which is no longer on the screen`,
		},
		"removed, and near ones are there": {
			[]string{"2 button Delete", "21 button Archive C", "22 link Archive A"},
			"e1",
			`e1 was button "Archive A", which is no longer on the screen; near: link "Archive A" [ref=e8], button "Archive C" [ref=e7]`,
		},
		"several of the same role and name": {
			[]string{"21 button Delete", "22 button Delete"},
			"e2",
			`e2 was button "Delete", which is no longer on the screen; 2 others have that role and name: ` +
				`button "Delete" [ref=e7], button "Delete" [ref=e8]`,
		},
		"one of several, and one is left": {
			[]string{"11 button Archive A", "12 button Delete"},
			"e7",
			`e7 was button "Archive A", which is no longer on the screen; near: button "Archive A" [ref=e8]`,
		},
		"another element took the name": {
			[]string{"1 button Delete"},
			"e2",
			`e2 was button "Delete", which is no longer on the screen; near: button "Delete" [ref=e1]`,
		},
		"without a name": {[]string{"26 button"}, "e6", "e6 was button, which is no longer on the screen; near: button [ref=e7]"},
		"another role":   {[]string{"21 link Delete"}, "e2", `e2 was button "Delete", which is no longer on the screen; near: link "Delete" [ref=e7]`},
		"never shown":    {before, "e7", "e7 was never shown in this session"},
		"zero":           {before, "e0", "e0 was never shown in this session"},
		"no reference":   {before, "Delete", `"Delete" is not a reference; a reference looks like e12`},
		"too long":       {before, "e1234567890", `"e1234567890" is not a reference; a reference looks like e12`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refs := &screen.References{}
			shown := before
			if name == "one of several, and one is left" {
				shown = append(slices.Clone(before), "7 button Archive A")
			}
			refs.See(page(shown...))
			found, err := refs.Lookup(tt.ref, page(tt.now...), screen.ToRead)
			got := ""
			switch {
			case err != nil:
				got = err.Error()
				want := screen.StaleRef
				if name == "no reference" || name == "too long" {
					want = fault.InvalidArguments
				}
				if fault.KindOf(err) != want || len(fault.Hints(err)) != 1 {
					t.Errorf("kind %q, hints %q", fault.KindOf(err), fault.Hints(err))
				}
			case found.Again:
				got = string(found.Node.Key) + " again"
			default:
				got = string(found.Node.Key)
			}
			if got != tt.want {
				t.Errorf("%s:\n%s, want\n%s", tt.ref, got, tt.want)
			}
		})
	}
}

func TestReferencesSayWhatAnElementWas(t *testing.T) {
	t.Parallel()
	refs := &screen.References{}
	refs.See(page("1 button Play"))
	found, err := refs.Lookup("e1", page("1 button Pause"), screen.ToRead)
	if err != nil || found.Was != `button "Play"` || found.Node.String() != `button "Pause"` {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err = refs.Lookup("e1", page("2 button Pause"), screen.ToRead); err != nil || !found.Again || found.Was != `button "Pause"` {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestNumbersAreNeverReused(t *testing.T) {
	t.Parallel()
	refs := &screen.References{}
	one := page("1 button A", "2 button B", "3 generic", " button no-key", "4 generic C")
	refs.See(one)
	var got []string
	for _, n := range one.Nodes() {
		got = append(got, refs.Ref(n))
	}
	if diff := cmp.Diff([]string{"", "e1", "e2", "", "", "e3"}, got); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	refs.See(page())
	two := page("5 button A", "2 button B", "3 generic now named")
	refs.See(two)
	got = nil
	for _, n := range two.Nodes() {
		got = append(got, refs.Ref(n))
	}
	if diff := cmp.Diff([]string{"", "e4", "e2", "e5"}, got); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	if refs.Ref(&screen.Node{Key: "unseen", Role: "button"}) != "" || refs.Ref(&screen.Node{Role: "button"}) != "" {
		t.Error("a node that was not seen has a reference")
	}
	if !screen.IsReference("e1") || screen.IsReference("e") || screen.IsReference("E1") || screen.IsReference("e1 ") {
		t.Error("references are told apart wrongly")
	}
}

// TestElementsThatWereOnTheScreenTogetherAreNotConfused removes one of two elements with the same role and name.
func TestElementsThatWereOnTheScreenTogetherAreNotConfused(t *testing.T) {
	t.Parallel()
	for name, now := range map[string][]*screen.Tree{
		"in the first snapshot":  {page("2 button Delete")},
		"in a later one":         {page("1 button Delete", "3 button Delete"), page("3 button Delete")},
		"while it had no name":   {page("1 button Delete", "4 generic"), page("4 button Delete")},
		"while it was looked up": {page("1 button Delete", "3 button Delete"), page("3 button Delete")},
	} {
		refs := &screen.References{}
		refs.See(page("1 button Delete", "2 button Delete"))
		for _, tree := range now[:len(now)-1] {
			if _, err := refs.Lookup("e1", tree, screen.ToRead); err != nil {
				t.Error(err)
			}
		}
		if found, err := refs.Lookup("e1", now[len(now)-1], screen.ToRead); err == nil {
			t.Errorf("%s: another element is taken: %s", name, found.Node.Key)
		}
	}
}

func TestOldElementsAreForgotten(t *testing.T) {
	t.Parallel()
	refs := &screen.References{MaxRemembered: 4}
	refs.See(page("1 button A", "2 button B"))
	refs.See(page("2 button B", "3 button C", "4 button D"))
	refs.See(page("4 button D", "5 button E"))
	for ref, want := range map[string]string{
		"e1": "e1 was shown too long ago to be remembered", "e2": "e2 was shown too long ago to be remembered", "e6": "e6 was never shown in this session",
	} {
		if _, err := refs.Lookup(ref, page(), screen.ToRead); err == nil || err.Error() != want || fault.KindOf(err) != screen.StaleRef {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if found, err := refs.Lookup("e4", page("4 button D"), screen.ToRead); err != nil || found.Again {
		t.Errorf("e4: %v", err)
	}
	back := page("1 button A")
	refs.See(back)
	if got := refs.Ref(back.ByKey("1")); got != "e6" {
		t.Errorf("a forgotten element has the number %s, want a new one", got)
	}
	all := page("11 button A", "12 button A", "13 button A", "14 button A", "15 button A")
	refs.See(all)
	for _, n := range all.Nodes()[1:] {
		if refs.Ref(n) == "" {
			t.Errorf("%s is on the screen and forgotten", n.Key)
		}
	}
}

func TestReferencesAreUsedByGoroutines(t *testing.T) {
	t.Parallel()
	refs := &screen.References{}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			tree := page(fmt.Sprintf("%d button A", i), fmt.Sprintf("x%d link B", i))
			refs.See(tree)
			for _, n := range tree.Nodes()[1:] {
				if found, err := refs.Lookup(refs.Ref(n), tree, screen.ToRead); err != nil || found.Node != n {
					t.Errorf("%s: %v", n.Key, err)
				}
			}
		})
	}
	group.Wait()
}

// TestReferencesNeverMeanAnotherElement changes a page at random and looks up every number that was ever given.
func TestReferencesNeverMeanAnotherElement(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		run := &randomPage{random: rand.New(rand.NewPCG(seed, 1)), owner: map[string]screen.Key{}, together: map[[2]screen.Key]bool{}}
		for range 40 {
			run.change()
			if err := run.check(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
}

// randomPage is a page that changes, with what is known of every element that was on it.
type randomPage struct {
	random   *rand.Rand
	refs     screen.References
	elements []string // as page takes them
	keys     int
	owner    map[string]screen.Key // the element for which a number was given
	together map[[2]screen.Key]bool
}

func (p *randomPage) fresh() string {
	p.keys++
	role := []string{"button", "link", "generic"}[p.random.IntN(3)]
	name := []string{"Delete", "Edit", "Save", ""}[p.random.IntN(4)]
	return strings.TrimSpace(fmt.Sprintf("k%d %s %s", p.keys, role, name))
}

// change inserts, removes, moves, renames, renders again, or goes to another document.
func (p *randomPage) change() {
	at := 0
	if len(p.elements) > 0 {
		at = p.random.IntN(len(p.elements))
	}
	switch action := p.random.IntN(8); {
	case action < 3 || len(p.elements) == 0:
		p.elements = append(p.elements[:at:at], append([]string{p.fresh()}, p.elements[at:]...)...)
	case action == 3:
		p.elements = append(p.elements[:at:at], p.elements[at+1:]...)
	case action == 4:
		p.random.Shuffle(len(p.elements), func(i, j int) { p.elements[i], p.elements[j] = p.elements[j], p.elements[i] })
	case action == 5: // renamed
		key, _, _ := strings.Cut(p.elements[at], " ")
		_, look, _ := strings.Cut(p.fresh(), " ")
		p.elements[at] = key + " " + look
	case action == 6: // rendered again: the same looks under new keys
		for i, text := range p.elements {
			_, look, _ := strings.Cut(text, " ")
			p.keys++
			p.elements[i] = fmt.Sprintf("k%d %s", p.keys, look)
		}
	default:
		p.elements = nil
		for range p.random.IntN(5) {
			p.elements = append(p.elements, p.fresh())
		}
	}
}

func (p *randomPage) check() error {
	tree := page(p.elements...)
	p.remember(tree)
	if p.random.IntN(3) > 0 { // else only lookups see it
		p.refs.See(tree)
		for _, n := range tree.Nodes() {
			ref := p.refs.Ref(n)
			if owner, ok := p.owner[ref]; ref != "" && ok && owner != n.Key {
				return fmt.Errorf("%s was given to %s and to %s", ref, owner, n.Key)
			}
			if ref != "" {
				p.owner[ref] = n.Key
			}
		}
	}
	for ref, owner := range p.owner {
		found, err := p.refs.Lookup(ref, tree, screen.ToRead)
		there := tree.ByKey(owner)
		switch {
		case err != nil:
			if there != nil || fault.KindOf(err) != screen.StaleRef {
				return fmt.Errorf("%s: %w", ref, err)
			}
		case !found.Again:
			if found.Node != there || there == nil {
				return fmt.Errorf("%s of %s means %s", ref, owner, found.Node.Key)
			}
		default:
			if err := p.again(tree, owner, found); err != nil {
				return fmt.Errorf("%s: %w", ref, err)
			}
		}
	}
	return nil
}

// again judges an element that was found by role and name.
func (p *randomPage) again(tree *screen.Tree, owner screen.Key, found screen.LookupResult) error {
	same := 0
	for _, n := range tree.Nodes() {
		if n.String() == found.Was {
			same++
		}
	}
	switch {
	case tree.ByKey(owner) != nil:
		return fmt.Errorf("%s is there, but %s is taken", owner, found.Node.Key)
	case same != 1 || found.Node.String() != found.Was || found.Node.Name() == "":
		return fmt.Errorf("%d elements are %s; %s is taken", same, found.Was, found.Node)
	case p.together[[2]screen.Key{owner, found.Node.Key}]:
		return fmt.Errorf("%s was on the screen together with %s, which is taken", owner, found.Node.Key)
	}
	return nil
}

// remember notes which elements are on the screen together.
func (p *randomPage) remember(tree *screen.Tree) {
	for _, a := range tree.Nodes() {
		for _, b := range tree.Nodes() {
			p.together[[2]screen.Key{a.Key, b.Key}] = true
		}
	}
}

// TestElementsThatMayDoAnotherThingAreStale looks up elements to act on them. What they do depends on their name and on
// the row in which they are.
func TestElementsThatMayDoAnotherThingAreStale(t *testing.T) {
	t.Parallel()
	rows := func(key string, names ...string) *screen.Tree {
		list := &screen.Node{Key: screen.Key(key + "/list"), Role: "list"}
		for i, name := range names {
			item := screen.Key(fmt.Sprintf("%s/%d", key, i))
			list.Children = append(list.Children, &screen.Node{Key: item, Role: "listitem", Text: &name, Children: []*screen.Node{
				{Key: item + "button", Role: "button", Label: new("Delete")},
			}})
		}
		return screen.NewTree(list, 0, 0, screen.Web)
	}
	one := func(key, name string) *screen.Tree { return page(key + " button " + name) }
	group := func(key, name string) *screen.Tree {
		button := &screen.Node{Key: screen.Key("d/" + key), Role: "button", Label: new("Edit")}
		root := &screen.Node{Key: "d/0", Role: "generic", Children: []*screen.Node{
			{Key: "d/g", Role: "group", Label: &name, Children: []*screen.Node{button}},
		}}
		return screen.NewTree(root, 0, 0, screen.Web)
	}
	for name, tt := range map[string]struct {
		before, now *screen.Tree
		ref         string
		want        string // the start of the error; "" when the element is found
	}{
		"the same":                  {rows("d", "Order 1"), rows("d", "Order 1"), "e2", ""},
		"rendered again":            {rows("d", "Order 1"), rowsWithKey(rows("d", "Order 1")), "e2", ""},
		"the only one, another row": {rows("d", "Order 1"), rowsWithKey(rows("d", "Order 2")), "e2", `e2 was button "Delete", which is no longer`},
		"the node is in another row": {
			rows("d", "Order 1", "Order 2"), rows("d", "Order 2"), "e2",
			`e2, button "Delete", was in the row of "Order 1" and is now in that of "Order 2"`,
		},
		"the node has another name": {one("d/1", "Order 1"), one("d/1", "Delete account"), "e1", `e1 was button "Order 1" and is now button "Delete account"`},
		"another document":          {one("d/1", "Continue"), one("d2/1", "Continue"), "e1", `e1 was button "Continue", which is no longer`},
		"the same group":            {group("1", "Billing address"), group("2", "Billing address"), "e1", ""},
		"another group":             {group("1", "Billing address"), group("2", "Delivery address"), "e1", `e1 was button "Edit", which is no longer`},
	} {
		refs := &screen.References{}
		refs.See(tt.before)
		_, err := refs.Lookup(tt.ref, tt.now, screen.ToAct)
		if got := fmt.Sprint(err); tt.want == "" && err != nil || !strings.HasPrefix(got, tt.want) && tt.want != "" {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if err != nil && fault.KindOf(err) != screen.StaleRef {
			t.Errorf("%s: the kind is %s", name, fault.KindOf(err))
		}
	}
}

// rowsWithKey returns a tree whose elements were rendered again.
func rowsWithKey(t *screen.Tree) *screen.Tree {
	for _, n := range t.Nodes() {
		n.Key += "again"
	}
	return screen.NewTree(t.Root(), 0, 0, screen.Web)
}

// TestChangeThatWasNotShownIsStale looks up another element between the change and the action.
func TestChangeThatWasNotShownIsStale(t *testing.T) {
	t.Parallel()
	refs := &screen.References{}
	refs.See(page("1 button Order 1", "2 button Other"))
	now := page("1 button Delete account", "2 button Other")
	if _, err := refs.Lookup("e2", now, screen.ToAct); err != nil {
		t.Error(err)
	}
	if _, err := refs.Lookup("e1", now, screen.ToAct); fault.KindOf(err) != screen.StaleRef {
		t.Errorf("a name that was never shown: %v", err)
	}
	if _, err := refs.Lookup("e1", now, screen.ToAct); err != nil {
		t.Errorf("the error said the new name: %v", err)
	}
}

// TestElementOfAnotherPageIsNotTheSame renders an element again where only what is around it tells the pages apart.
func TestElementOfAnotherPageIsNotTheSame(t *testing.T) {
	t.Parallel()
	// tree is a page at an address, which may have a title behind a space.
	tree := func(key, address string, around ...*screen.Node) *screen.Tree {
		button := &screen.Node{Key: screen.Key("d/" + key), Role: "button", Label: new("Continue")}
		root := &screen.Node{Key: "d/0", Role: "generic", Children: append(around, button)}
		if last := len(around) - 1; last >= 0 && strings.Contains("dialog form navigation", around[last].Role) {
			around[last].Children = append(around[last].Children, button)
			root.Children = around
		}
		built := screen.NewTree(root, 0, 0, screen.Web)
		address, title, _ := strings.Cut(address, " ")
		built.Pages = map[string]screen.Page{"d": {Address: address, Title: title}}
		return built
	}
	node := func(role, text string) *screen.Node { return &screen.Node{Role: role, Text: &text} }
	in := func(role string, inside ...*screen.Node) *screen.Node {
		return &screen.Node{Role: role, Children: inside}
	}
	for name, tt := range map[string]struct {
		before, now *screen.Tree
		again       bool
	}{
		"the same page":    {tree("1", "/a", node("heading", "Terms")), tree("2", "/a", node("heading", "Terms")), true},
		"another address":  {tree("1", "/a", node("heading", "Terms")), tree("2", "/b", node("heading", "Terms")), false},
		"another heading":  {tree("1", "/a", node("heading", "Terms")), tree("2", "/a", node("heading", "Delete?")), false},
		"no heading":       {tree("1", "/a", node("heading", "Terms")), tree("2", "/a"), false},
		"another title":    {tree("1", "/a A", node("heading", "Terms")), tree("2", "/a B", node("heading", "Terms")), true},
		"without headings": {tree("1", "/a A", node("text", "Terms")), tree("2", "/a A", node("text", "Terms")), true},
		"another text":     {tree("1", "/a A", node("text", "Terms")), tree("2", "/a A", node("text", "Delete?")), false},
		"a text below": {
			tree("1", "/a", in("article", node("text", "One")), node("text", "Terms")),
			tree("2", "/a", in("article", node("text", "Two")), node("text", "Terms")), true,
		},
		"only the title": {tree("1", "/a A", node("text", "Terms")), tree("2", "/a B", node("text", "Terms")), false},
		"a passing text": {
			tree("1", "/a", node("text", "Terms"), node("status", "12:00")), tree("2", "/a", node("text", "Terms"), node("status", "12:01")), true,
		},
		"a text below a heading": {
			tree("1", "/a", node("heading", "Terms"), node("text", "12:00")), tree("2", "/a", node("heading", "Terms"), node("text", "12:01")), true,
		},
		"the same dialog":  {tree("1", "/a", in("dialog", node("text", "Keep?"))), tree("2", "/a", in("dialog", node("text", "Keep?"))), true},
		"another dialog":   {tree("1", "/a", in("dialog", node("text", "Keep?"))), tree("2", "/a", in("dialog", node("text", "Delete?"))), false},
		"into a form":      {tree("1", "/a", node("text", "Terms")), tree("2", "/a", in("form")), false},
		"heading of a row": {tree("1", "/a", in("article", node("heading", "One"))), tree("2", "/a", in("article", node("heading", "Two"))), true},
		"beside the content": {
			tree("1", "/a", node("heading", "One"), in("navigation")), tree("2", "/a", node("heading", "Two"), in("navigation")), true,
		},
	} {
		refs := &screen.References{}
		refs.See(tt.before)
		var ref string
		for _, n := range tt.before.Nodes() {
			if n.RoleName() == "button" {
				ref = refs.Ref(n)
			}
		}
		found, err := refs.Lookup(ref, tt.now, screen.ToAct)
		if tt.again != (err == nil && found.Again) || err != nil && fault.KindOf(err) != screen.StaleRef {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
	refs := &screen.References{}
	refs.See(tree("1", "/a", node("heading", "Terms")))
	_, err := refs.Lookup("e1", tree("1", "/b", node("heading", "Delete?")), screen.ToAct)
	const want = `e1, button "Continue", was below "Terms" of /a and is now below "Delete?" of /b`
	if err == nil || err.Error() != want {
		t.Errorf("the node on another page: %v", err)
	}
	_, err = refs.Lookup("e1", tree("1", "/b Delete", node("text", "Delete all?")), screen.ToAct)
	const want2 = `e1, button "Continue", was below "Delete?" of the page "" and is now below "Delete all?" of the page "Delete"`
	if err == nil || err.Error() != want2 {
		t.Errorf("the node on a page with another title: %v", err)
	}
	if _, err = refs.Lookup("e1", tree("1", "/b Delete", node("text", "Delete 3?")), screen.ToAct); err != nil {
		t.Errorf("the node below another text of the same page: %v", err)
	}
}

func TestNumberDoesNotCountAsShown(t *testing.T) {
	t.Parallel()
	tree := func(name string, more ...*screen.Node) *screen.Tree {
		root := &screen.Node{Role: "generic", Children: append([]*screen.Node{{Role: "button", Label: &name, Key: "d/1"}}, more...)}
		return screen.NewTree(root, 0, 0, screen.Web)
	}
	label := "New"
	added := &screen.Node{Role: "button", Label: &label, Key: "d/2"}
	r := &screen.References{}
	r.See(tree("Save"))
	r.Number(tree("Delete", added))
	if ref := r.Ref(added); ref != "e2" {
		t.Errorf("the new element has the reference %q", ref)
	}
	if _, err := r.Lookup("e1", tree("Delete", added), screen.ToAct); err == nil || !strings.Contains(err.Error(), `was button "Save" and is now button "Delete"`) {
		t.Errorf("acting on an element that another one was shown: %v", err)
	}
}
