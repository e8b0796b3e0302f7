package source_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/mobile/source"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/screen/screentest"
	"github.com/trailblaze/trailblaze/testdata/phones/wire"
)

const repository = "../../.."

var printAbsent sync.Once

// collections returns the invented screens by name, and those captured from real devices where they are there.
func collections(t *testing.T) map[string][]*screentest.Screen {
	t.Helper()
	out := map[string][]*screentest.Screen{"invented": load(t, filepath.Join(repository, "testdata", "screens"))}
	folder := os.Getenv("TRAILBLAZE_SCREENS")
	if folder == "" {
		folder = filepath.Join(repository, "..", "shared", "screens")
		if _, err := os.Stat(folder); err != nil {
			const absent = "no screens captured from real devices: TRAILBLAZE_SCREENS is not set, and ../shared/screens is absent"
			t.Log(absent)
			printAbsent.Do(func() { fmt.Println(absent + "; only invented screens are read") })
			return out
		}
	}
	out["captured"] = load(t, folder)
	return out
}

func load(t *testing.T, folder string) []*screentest.Screen {
	t.Helper()
	screens, _, err := screentest.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	return screens
}

// all are the settings with which the UiAutomator2 server writes the most.
func all() wire.Settings {
	return wire.Settings{
		EnableMultiWindows: true, AllowInvisibleElements: true, SimpleBoundsCalculation: true,
		IncludeA11yActionsInPageSource: true, IncludeExtrasInPageSource: true, SnapshotMaxDepth: 200,
	}
}

// format is a wire format, and how many rules of the screens it cannot answer.
type format struct {
	name     string
	platform string
	write    func(wire.Screen) []byte
	read     func([]byte, source.Options) (source.Result, error)
	// Rules of the invented screens with a key that the format does not have, and those that need the filtered tree in
	// a format that does not report what is important. Every rule of the captured screens holds in every format.
	refused, differ int
	visibleOnly     bool
	lost            func(*screen.Node) // removes the properties that it does not have
}

func formats() []format {
	return []format{
		{
			name: "UiAutomator2", platform: "android", read: source.UIAutomator2, refused: 2, lost: lostByUIAutomator2,
			write: func(s wire.Screen) []byte { return wire.UIAutomator2(s, all()) },
		},
		{name: "uiautomator dump", platform: "android", write: wire.Dump, read: source.Dump, refused: 10, differ: 1, lost: lostByDump, visibleOnly: true},
		{
			name: "WebDriverAgent JSON", platform: "ios", read: source.WDAJSON, refused: 1, lost: lostByRecordings,
			write: func(s wire.Screen) []byte { return wire.WDAJSON(s) },
		},
		{
			name: "WebDriverAgent XML", platform: "ios", read: source.WDAXML, refused: 1, lost: lostByWDAXML,
			write: func(s wire.Screen) []byte { return wire.WDAXML(s, "AppiumAUT") },
		},
	}
}

// written returns a recorded screen as a device shows it.
func written(s *screentest.Screen) wire.Screen {
	return wire.Screen{
		Width: s.Width, Height: s.Height,
		Windows: []wire.Window{{Package: s.Root.Detail.PackageName, Root: s.Tree.Root()}},
	}
}

// broken returns why a rule does not hold in a tree; empty when it does.
func broken(in *screen.Tree, platform string, rule screentest.Rule, forbidden bool) string {
	found := len(in.Resolve(rule.Selector).Nodes)
	if platform == "ios" {
		found = len(in.ResolveNative(rule.Selector))
	}
	if forbidden && found >= rule.MaxCount {
		return fmt.Sprintf("%s: %s: found %d, want fewer than %d", rule.Description, rule.Selector, found, rule.MaxCount)
	}
	if !forbidden && found < rule.MinCount {
		return fmt.Sprintf("%s: %s: found %d, want at least %d", rule.Description, rule.Selector, found, rule.MinCount)
	}
	return ""
}

func TestEveryRuleOfAScreenHoldsInEveryFormat(t *testing.T) {
	t.Parallel()
	for name, screens := range collections(t) {
		for _, f := range formats() {
			rules, refused, differ := 0, 0, 0
			for _, s := range screens {
				if s.Platform != f.platform {
					continue
				}
				got, err := f.read(f.write(written(s)), source.Options{Width: s.Width, Height: s.Height})
				if err != nil {
					t.Fatalf("%s: %s: %v", f.name, s.ID, err)
				}
				for i, rule := range append(s.Required, s.Forbidden...) {
					rules++
					if got.Tree.Check(rule.Selector) != nil && s.Tree.Check(rule.Selector) == nil {
						refused++
						t.Logf("%s: %s: %v", f.name, s.ID, got.Tree.Check(rule.Selector))
						continue
					}
					if wrong := broken(got.Tree, s.Platform, rule, i >= len(s.Required)); wrong != "" {
						differ++
						t.Logf("%s: %s: %s", f.name, s.ID, wrong)
					}
				}
			}
			t.Logf("%s: %s: %d rules, %d refused, %d differ", name, f.name, rules, refused, differ)
			if name == "captured" {
				f.refused, f.differ = 0, 0
			}
			if refused != f.refused || differ != f.differ {
				t.Errorf("%s: %s: %d rules are refused and %d differ, want %d and %d", name, f.name, refused, differ, f.refused, f.differ)
			}
		}
	}
}

// TestPropertiesSurviveEveryFormat compares the elements of each screen with what is read.
func TestPropertiesSurviveEveryFormat(t *testing.T) {
	t.Parallel()
	for name, screens := range collections(t) {
		for _, f := range formats() {
			for _, s := range screens {
				if s.Platform != f.platform {
					continue
				}
				got, err := f.read(f.write(written(s)), source.Options{Width: s.Width, Height: s.Height})
				if err != nil {
					t.Fatalf("%s: %s: %v", f.name, s.ID, err)
				}
				root := got.Tree.Root()
				if s.Platform == "ios" {
					root = root.Children[0] // the first is the app, which the recordings leave out
				}
				want, have := properties(s.Tree.Root(), s, f), properties(root, s, f)
				if len(want) != len(have) {
					t.Errorf("%s: %s: %d elements are read, want %d", f.name, s.ID, len(have), len(want))
					continue
				}
				for i := range want {
					if diff := cmp.Diff(want[i], have[i]); diff != "" {
						t.Errorf("%s: %s: %s: element %d (-recorded +read):\n%s", name, f.name, s.ID, i, diff)
						break
					}
				}
			}
		}
	}
}

// properties returns copies of a node and of what is below it, without what the format loses.
func properties(n *screen.Node, s *screentest.Screen, f format) []screen.Node {
	if n.Hidden && f.visibleOnly {
		return nil
	}
	out := *n
	out.Key, out.Role, out.Children = "", "", nil
	if out.Text != nil && (*out.Text == "" || out.Hint != nil && *out.Text == *out.Hint) {
		out.Text = nil
	}
	if out.Bounds != nil {
		part := out.Bounds.Intersect(screen.Rect{Right: s.Width, Bottom: s.Height})
		if out.Bounds = &part; part.Empty() {
			out.Bounds = nil // the servers write it in different ways
		}
	}
	f.lost(&out)
	all := []screen.Node{out}
	for _, child := range n.Children {
		all = append(all, properties(child, s, f)...)
	}
	return all
}

func lostByUIAutomator2(n *screen.Node) {
	n.StateDescription, n.Row, n.Column, n.MultiLine = nil, nil, nil, false
	if n.DrawingOrder == 1 {
		n.DrawingOrder = 0 // a window has its own
	}
}

func lostByDump(n *screen.Node) {
	lostByUIAutomator2(n)
	if n.Label != nil && *n.Label == "" {
		n.Label = nil
	}
	if n.Text == nil {
		n.Text = n.Hint // what an empty field shows
	}
	n.Hint, n.PaneTitle, n.InputType, n.DrawingOrder, n.Heading, n.Unimportant, n.Editable = nil, nil, 0, 0, false, false, false
}

// lostByRecordings removes what recordings of iOS do not have, and the focus, for which WebDriverAgent is asked apart.
func lostByRecordings(n *screen.Node) {
	n.Class, n.Value, n.UniqueID, n.Editable, n.Password, n.Heading = nil, nil, nil, false, false, false
	n.DrawingOrder, n.Focused = 0, false
}

func lostByWDAXML(n *screen.Node) {
	lostByRecordings(n)
	if n.ID == nil {
		n.ID = n.Label
	}
}
