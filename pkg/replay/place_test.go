package replay_test

import (
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/replay"
)

func TestLimit(t *testing.T) {
	t.Parallel()
	p := plan(t, map[string]string{
		"main.yaml": "trail:\n" + step("a") + "  - step: b\n    recording: { web: [ { tap: { text: 1 } }, { tap: { text: 2 } }, { tap: { text: 3 } } ] }\n" +
			"  - use: part.yaml\n  - step: by hand\n  - step: none\n    recording: { web: [] }\n",
		"part.yaml": "trail:\n" + step("c"),
	})
	type place = replay.Place
	for name, c := range map[string]struct {
		from, to string
		want     [2]place
	}{
		"everything":       {"", "", [2]place{}},
		"a step":           {"2", "2", [2]place{{1, 0}, {2, 0}}},
		"a call":           {"2.2", "2.2", [2]place{{1, 1}, {1, 2}}},
		"to the last call": {"2.1", "2.3", [2]place{{1, 0}, {2, 0}}},
		"the only call":    {"1.1", "1.1", [2]place{{0, 0}, {1, 0}}},
		"from within":      {"2.3", "", [2]place{{1, 2}, {}}},
		"to within":        {"", "2.1", [2]place{{}, {1, 1}}},
		"a used trail":     {"3", "3", [2]place{{2, 0}, {3, 0}}},
		"without calls":    {"4", "5", [2]place{{3, 0}, {5, 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limited := p
			if err := limited.Limit(c.from, c.to); err != nil {
				t.Fatal(err)
			}
			if got := [2]place{limited.From, limited.To}; got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
	for number, want := range map[string]string{
		"0": "has no step 0; it has 5 steps", "6": "has no step 6", "x": "has no step x", "-1": "has no step -1", "2.": "has no call 2.",
		"2.4": "step 2 has no call 2.4; it has 3 calls", "2.0": "no call 2.0", "2.1.1": "no call 2.1.1", "4.1": "step 4 has no call 4.1; it has 0 calls",
		"3.1": "step 3 uses the trail part.yaml and is replayed whole",
	} {
		for _, limits := range [][2]string{{number, ""}, {"", number}} {
			limited := p
			if err := limited.Limit(limits[0], limits[1]); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: error %v, want %q", limits, err, want)
			}
		}
	}
	for _, limits := range [][2]string{{"2", "1"}, {"2.3", "2.2"}, {"3", "2.3"}} {
		limited := p
		if err := limited.Limit(limits[0], limits[1]); err == nil || !strings.Contains(err.Error(), limits[0]+" comes after "+limits[1]) {
			t.Errorf("%v: error %v", limits, err)
		}
	}
}
