package run

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/session"
)

func TestParseShard(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Shard{"1/1": {1, 1}, "2/3": {2, 3}, "10/10": {10, 10}} {
		got, err := ParseShard(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1", "x", "0/3", "4/3", "-1/3", "1/0", "1/-3", "1/2/3", "1 / 3", "1/3 ", "a/b", "1.5/3", "1/99999999999999999999", "1/1000000"} {
		if got, err := ParseShard(text); fault.KindOf(err) != fault.Misuse || got != (Shard{}) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// TestEveryTrailIsInExactlyOneShard cuts random lists with random durations.
func TestEveryTrailIsInExactlyOneShard(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		var keys []string
		known := Durations{"gone.trail.yaml": 1 << 40}
		var longest int64
		for i := range random.IntN(200) {
			key := fmt.Sprintf("trails/%d.trail.yaml", i)
			for range 1 + random.IntN(3) { // rows and devices
				keys = append(keys, key)
			}
			if random.IntN(4) > 0 {
				known[key] = random.Int64N(60_000)
				longest = max(longest, known[key], 1)
			}
		}
		n := 1 + random.IntN(12)
		owners := assign(keys, n, known)
		loads, weights := make([]int64, n), weigh(keys, known)
		var total int64
		for key, i := range owners {
			loads[i-1] += weights[key] // panics when there is no such shard
			total += weights[key]
		}
		for _, key := range keys {
			if owners[key] == 0 {
				t.Fatalf("seed %d: %s is in no shard", seed, key)
			}
		}
		if most := slices.Max(loads); most > total/int64(n)+max(longest, 1) {
			t.Errorf("seed %d: a shard has %d ms, on average it is %d, the longest trail takes %d", seed, most, total/int64(n), longest)
		}
		random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		if diff := cmp.Diff(owners, assign(keys, n, known)); diff != "" {
			t.Fatalf("seed %d: in another order (-was +is):\n%s", seed, diff)
		}
	}
}

func TestWithoutDurationsShardsGetEqualNumbers(t *testing.T) {
	t.Parallel()
	got := assign([]string{"e", "b", "a", "d", "c"}, 3, nil)
	if diff := cmp.Diff(map[string]int{"a": 1, "b": 2, "c": 3, "d": 1, "e": 2}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUnknownDurationsCountAsTheMedian(t *testing.T) {
	t.Parallel()
	known := Durations{"long": 60_000, "b": 10_000, "c": 11_000, "d": 12_000}
	got := assign([]string{"long", "b", "c", "d", "unknown"}, 2, known)
	if diff := cmp.Diff(map[string]int{"long": 1, "b": 2, "c": 2, "d": 2, "unknown": 2}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := weigh([]string{"b", "c", "d", "unknown"}, known)["unknown"]; got != 11_000 {
		t.Errorf("the unknown one is taken for %d ms", got)
	}
}

func named(names ...string) []session.Device {
	devices := make([]session.Device, len(names))
	for i, name := range names {
		devices[i].Name = name
	}
	return devices
}

// root returns the absolute path of a project's folder, which need not exist.
func root(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("/project")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// absolute returns the paths of files in the project's folder.
func absolute(t *testing.T, files []string) []string {
	t.Helper()
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = filepath.Join(root(t), f)
	}
	return paths
}

// plans are those of all shards of a run over files, and how many cases each has.
func plans(t *testing.T, n int, known Durations, change func(*runner), files ...string) (found []string, cases int) {
	t.Helper()
	for i := range n {
		r := &runner{Options: Options{Setup: session.Setup{Project: &config.Project{Root: root(t)}, Cwd: root(t)}, Shard: Shard{i + 1, n}, Durations: known}}
		r.devices = newDevices(named("web:a"))
		change(r)
		var all []testCase
		for _, f := range files {
			for n := range max(1, len(r.ArgRows)) {
				for _, l := range r.devices {
					all = append(all, testCase{path: f, row: row{n: n + 1}, device: l})
				}
			}
		}
		mine, plan := r.shard(all)
		found = append(found, plan)
		cases += len(mine)
		units := map[string]bool{}
		for _, c := range mine {
			units[c.path] = true
		}
		if len(mine) != len(units)*max(1, len(r.ArgRows))*len(r.devices) {
			t.Errorf("shard %d has a part of a trail: %v", i+1, mine)
		}
	}
	return slices.Compact(found), cases
}

func TestPlanIsTheSameForAllShardsOfARun(t *testing.T) {
	t.Parallel()
	files := []string{"a", "b", "c", "d", "e"}
	same := func(*runner) {}
	base, cases := plans(t, 3, nil, same, files...)
	if len(base) != 1 || base[0] == "" || cases != 5 {
		t.Fatalf("plans %q of %d cases", base, cases)
	}
	for name, tt := range map[string]struct {
		n       int
		known   Durations
		change  func(*runner)
		files   []string
		cases   int
		same    bool
		another bool // list
	}{
		"the list in another order":          {3, nil, same, []string{"e", "d", "c", "b", "a"}, 5, true, false},
		"absolute paths":                     {3, nil, same, absolute(t, files), 5, true, false},
		"durations that change nothing":      {3, Durations{"a": 5, "b": 5, "c": 5, "d": 5, "e": 5}, same, files, 5, true, false},
		"durations":                          {3, Durations{"e": 60_000}, same, files, 5, true, false}, // an unknown one is as long
		"durations that change who has what": {3, Durations{"e": 60_000, "a": 1, "b": 2, "c": 3}, same, files, 5, false, false},
		"another number of shards":           {4, nil, same, files, 5, false, false},
		"another list":                       {3, nil, same, files[1:], 4, false, true},
		"another device":                     {3, nil, func(r *runner) { r.devices = newDevices(named("web:b")) }, files, 5, false, true},
		"two devices":                        {3, nil, func(r *runner) { r.devices = newDevices(named("web:a", "web:b")) }, files, 10, false, true},
		"another driver":                     {3, nil, func(r *runner) { r.devices[0].Request.FlagDriver = "ios-host" }, files, 5, false, true},
		"rows":                               {3, nil, func(r *runner) { r.ArgRows = make([]map[string]any, 4) }, files, 20, false, true},
	} {
		got, cases := plans(t, tt.n, tt.known, tt.change, tt.files...)
		list, _, _ := strings.Cut(base[0], "-")
		if len(got) != 1 || (got[0] == base[0]) != tt.same || cases != tt.cases || strings.HasPrefix(got[0], list) == tt.another {
			t.Errorf("%s: plans %q of %d cases; without it %q", name, got, cases, base)
		}
	}
}

func TestRunWithoutShardHasNoPlan(t *testing.T) {
	t.Parallel()
	r := &runner{}
	if mine, plan := r.shard([]testCase{{path: "a"}, {path: "b"}}); len(mine) != 2 || plan != "" {
		t.Errorf("%v, %q", mine, plan)
	}
}

func TestTrailKeyIsThePathBelowTheRoot(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("project")
	if err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(filepath.Dir(root), "other", "a.trail.yaml")
	for path, want := range map[string]string{
		filepath.Join(root, "trails", "a.trail.yaml"): "trails/a.trail.yaml", outside: filepath.ToSlash(outside), root + "x": filepath.ToSlash(root + "x"),
	} {
		if got := TrailKey(root, path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestDurationsAreMerged(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	outside := filepath.Join(t.TempDir(), "out.trail.yaml")
	file := filepath.Join(root, "logs", DurationsFile)
	for _, name := range []string{filepath.Join(root, "a"), filepath.Join(root, "b"), outside} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ReadDurations(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	write := func(root string, d Durations) string {
		t.Helper()
		if err := WriteDurations(file, root, d); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	out := filepath.ToSlash(outside)
	write(root, Durations{"a": 5, "b": 6, out: 7, "gone": 8})
	write(root, Durations{"a": 50})
	got, err := ReadDurations(file)
	if diff := cmp.Diff(Durations{"a": 50, "b": 6, out: 7}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if err := os.Remove(filepath.Join(root, "b")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(outside); err != nil {
		t.Fatal(err)
	}
	if got, want := write(root, nil), "{\n  \"version\": 1,\n  \"trails\": {\n    \"a\": 50\n  }\n}\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := write("", Durations{"elsewhere": 1}); !strings.Contains(got, "elsewhere") {
		t.Errorf("without a root nothing is gone, and yet: %s", got)
	}
	for _, broken := range []string{"", "{", "[]", `{"version": 2, "trails": {}}`, `{"trails": {"a": "x"}}`} {
		if err := os.WriteFile(file, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if d, err := ReadDurations(file); err == nil || d != nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v, %v", broken, d, err)
		}
		if got := write(root, Durations{"a": 9}); !strings.Contains(got, `"a": 9`) {
			t.Errorf("%q is not replaced: %s", broken, got)
		}
	}
	left, err := filepath.Glob(filepath.Join(root, "logs", "*"))
	hidden, hiddenErr := filepath.Glob(filepath.Join(root, "logs", ".*"))
	if err := errors.Join(err, hiddenErr); err != nil || len(left)+len(hidden) != 1 {
		t.Errorf("files %q and %q, %v", left, hidden, err)
	}
}

func TestMeasuredAddsRowsAndDevicesAndSkipsErrors(t *testing.T) {
	t.Parallel()
	var m Measured
	if got := m.Durations(); len(got) != 0 {
		t.Errorf("nothing is measured, and yet: %v", got)
	}
	m.Add("rows", event.Passed, 2*time.Second)
	m.Add("rows", event.Failed, time.Second)
	m.Add("skipped", event.Skipped, 0)
	m.Add("broken", event.Error, time.Minute)
	m.Add("broken", event.Passed, time.Second)
	if diff := cmp.Diff(Durations{"rows": 3000, "skipped": 0}, m.Durations()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
