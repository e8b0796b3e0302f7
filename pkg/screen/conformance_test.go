package screen_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/screen/screentest"
)

const (
	root     = "../.."
	invented = root + "/testdata/screens"
)

// collection is a set of recorded screens, and how much it holds.
type collection struct {
	name    string
	screens []*screentest.Screen
	edges   []screentest.Edge
	// accidents bounds, by platform, how often the rules of a screen hold on another one.
	accidents map[string]int
	// scrolled is the number of recorded taps on elements that a swipe brings into view first.
	scrolled int
}

var printAbsent sync.Once

// collections returns the invented screens, and those captured from real devices where they are there.
func collections(t *testing.T) []collection {
	t.Helper()
	out := []collection{load(t, "invented", invented)}
	folder := os.Getenv("TRAILBLAZE_SCREENS")
	if folder == "" {
		folder = filepath.Join(root, "..", "shared", "screens")
		if _, err := os.Stat(folder); err != nil {
			const absent = "no screens captured from real devices: TRAILBLAZE_SCREENS is not set, and ../shared/screens is absent"
			t.Log(absent)
			printAbsent.Do(func() { fmt.Println(absent + "; only invented screens are tested") })
			return out
		}
	}
	captured := load(t, "captured", folder)
	captured.accidents = map[string]int{"android": 2} // what is required of help is in its search, too
	captured.scrolled = 1
	return append(out, captured)
}

func load(t *testing.T, name, folder string) collection {
	t.Helper()
	screens, edges, err := screentest.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	return collection{name: name, screens: screens, edges: edges}
}

// unsatisfied returns the first rule of a screen that does not hold in a tree, "" when all do.
func unsatisfied(s *screentest.Screen, in *screen.Tree) string {
	count := func(rule screentest.Rule) int {
		if s.Platform == "ios" {
			return len(in.ResolveNative(rule.Selector))
		}
		return len(in.Resolve(rule.Selector).Nodes)
	}
	for _, rule := range s.Required {
		if got := count(rule); got < rule.MinCount {
			return fmt.Sprintf("%s: %s: found %d, want at least %d", rule.Description, rule.Selector, got, rule.MinCount)
		}
	}
	for _, rule := range s.Forbidden {
		if got := count(rule); got >= rule.MaxCount {
			return fmt.Sprintf("%s: %s: found %d, want fewer than %d", rule.Description, rule.Selector, got, rule.MaxCount)
		}
	}
	return ""
}

func TestEveryScreenSatisfiesItsOwnRules(t *testing.T) {
	t.Parallel()
	for _, c := range collections(t) {
		rules := 0
		for _, s := range c.screens {
			rules += len(s.Required) + len(s.Forbidden)
			if wrong := unsatisfied(s, s.Tree); wrong != "" {
				t.Errorf("%s: %s", s.ID, wrong)
			}
		}
		t.Logf("%s: %d screens, %d rules", c.name, len(c.screens), rules)
	}
}

func TestFewScreensSatisfyTheRulesOfOthers(t *testing.T) {
	t.Parallel()
	for _, c := range collections(t) {
		pairs, accidents := map[string]int{}, map[string][]string{}
		for _, s := range c.screens {
			for _, other := range c.screens {
				if other.Platform != s.Platform || reflect.DeepEqual(other.Root, s.Root) {
					continue // some screens were captured twice
				}
				pairs[s.Platform]++
				if unsatisfied(s, other.Tree) == "" {
					accidents[s.Platform] = append(accidents[s.Platform], s.ID+" in "+other.ID)
				}
			}
		}
		for platform, n := range pairs {
			t.Logf("%s: %s: %d of %d wrong pairs match", c.name, platform, len(accidents[platform]), n)
			if len(accidents[platform]) > c.accidents[platform] {
				t.Errorf("%s: %s: %d wrong pairs match, want at most %d:\n%s",
					c.name, platform, len(accidents[platform]), c.accidents[platform], strings.Join(accidents[platform], "\n"))
			}
		}
	}
}

// TestRecordedTapsReachTheirElement resolves what was tapped and looks at who receives a touch there.
func TestRecordedTapsReachTheirElement(t *testing.T) {
	t.Parallel()
	for _, c := range collections(t) {
		byID := map[string]*screentest.Screen{}
		for _, s := range c.screens {
			byID[s.ID] = s
		}
		taps, absent, covered := 0, []string{}, []string{}
		for _, edge := range c.edges {
			s := byID[edge.From]
			for _, call := range edge.Tools {
				selected, ok := call["tapOnElementBySelector"]["nodeSelector"]
				if text := call["tapOnElementWithText"]["text"]; text != nil { // a part of the text
					pattern := fmt.Sprintf(`.*\Q%v\E.*`, text)
					selected, ok = map[string]any{"iosMaestro": map[string]any{"textRegex": pattern}}, true
				}
				if !ok {
					continue
				}
				taps++
				parsed, err := screen.ParseSelector(selected, screen.ParseOptions{})
				if err != nil {
					t.Fatal(err)
				}
				found := s.Tree.ResolveForAction(parsed).Nodes
				if len(found) == 0 {
					absent = append(absent, fmt.Sprintf("%s: %s matches nothing", edge.From, parsed))
					continue
				}
				part, ok := s.Tree.VisiblePart(found[0])
				if !ok || !s.Tree.Touch(found[0], part.Centre()).Reaches {
					covered = append(covered,
						fmt.Sprintf("%s: a touch on %s at %v reaches %v", edge.From, parsed, part.Centre(), s.Tree.At(part.Centre())))
				}
			}
		}
		t.Logf("%s: %d taps", c.name, taps)
		if len(absent) != c.scrolled {
			t.Errorf("%d taps match nothing, want %d:\n%s", len(absent), c.scrolled, strings.Join(absent, "\n"))
		}
		if len(covered) > 0 {
			t.Errorf("%d taps reach another element:\n%s", len(covered), strings.Join(covered, "\n"))
		}
	}
}
