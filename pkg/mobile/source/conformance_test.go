package source_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

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
	// Rules of the invented screens with a key that the format does not have, and those that need the filtered tree in a
	// format that does not report what is important. Every rule of the captured screens holds in every format.
	refused, differ int
}

func formats() []format {
	return []format{
		{
			name: "UiAutomator2", platform: "android", read: source.UIAutomator2, refused: 2,
			write: func(s wire.Screen) []byte { return wire.UIAutomator2(s, all()) },
		},
		{name: "uiautomator dump", platform: "android", write: wire.Dump, read: source.Dump, refused: 10, differ: 1},
		{name: "WebDriverAgent JSON", platform: "ios", write: wire.WDAJSON, read: source.WDAJSON},
		{
			name: "WebDriverAgent XML", platform: "ios", read: source.WDAXML, refused: 1,
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
