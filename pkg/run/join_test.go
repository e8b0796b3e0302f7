package run

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

func TestJoinReportsMissingShards(t *testing.T) {
	t.Parallel()
	part := func(file, plan string, index, of int, minute int) Part {
		return Part{File: file, Plan: plan, Shard: Shard{index, of}, Started: time.Unix(0, 0).Add(time.Duration(minute) * time.Minute)}
	}
	all := []Part{part("a", "p", 1, 3, 0), part("b", "p", 2, 3, 0), part("c", "p", 3, 3, 0)}
	for name, tt := range map[string]struct {
		parts   []Part
		ignored []int
		want    []string // one for each problem
	}{
		"nothing":             {},
		"all":                 {parts: all},
		"in another order":    {parts: []Part{all[2], all[0], all[1]}},
		"one of one":          {parts: []Part{part("a", "p", 1, 1, 0)}},
		"one is missing":      {parts: []Part{all[0], all[2]}, want: []string{"1 of 3 shards is missing: shard 2"}},
		"only one is there":   {parts: []Part{all[1]}, want: []string{"2 of 3 shards are missing: shards 1, 3"}},
		"many are missing":    {parts: []Part{part("a", "p", 4, 9, 0), part("b", "p", 5, 9, 0)}, want: []string{"7 of 9 shards are missing: shards 1-3, 6-9"}},
		"one is there twice":  {parts: append([]Part{part("old", "p", 1, 3, -5)}, all...), ignored: []int{0}, want: []string{"shard 1/3 has two files: old is older than a"}},
		"the newer one later": {parts: append(all[:3:3], part("new", "p", 2, 3, 5)), ignored: []int{1}, want: []string{"b is older than new"}},
		"thrice": {
			parts: append(all[:3:3], part("new", "p", 2, 3, 5), part("newest", "p", 2, 3, 6)), ignored: []int{1, 3},
			want: []string{"b is older than new", "new is older than newest"},
		},
		"twice, and one is missing": {parts: []Part{all[0], part("old", "p", 1, 3, -1), all[2]}, ignored: []int{1}, want: []string{"has two files", "1 of 3 shards is missing: shard 2"}},
		"other durations": {
			parts: []Part{all[0], part("x", "q", 2, 3, 0), all[2]},
			want:  []string{"different durations: trails may be missing, or counted twice\n  1, 3 of 3: a, c\n  2 of 3: x"},
		},
		"another number":          {parts: []Part{all[0], part("x", "q", 2, 2, 0)}, want: []string{"1 of 3: a\n  2 of 2: x"}},
		"two runs, both complete": {parts: append(all[:3:3], part("x", "q", 1, 2, 0), part("y", "q", 2, 2, 0))},
		"the same in two ways": {
			parts: []Part{part("a", "p-x", 1, 1, 0), part("b", "p-y", 1, 2, 0), part("c", "p-y", 2, 2, 0)}, want: []string{"counted twice\n  1 of 1: a\n  1-2 of 2: b, c"},
		},
		"two runs, one complete": {parts: append(all[:3:3], part("x", "q", 1, 2, 0)), want: []string{"1 of 2 shards is missing: shard 2"}},
	} {
		ignored, problems := Join(tt.parts)
		if diff := cmp.Diff(tt.ignored, ignored); diff != "" {
			t.Errorf("%s: ignored (-want +got):\n%s", name, diff)
		}
		if len(problems) != len(tt.want) {
			t.Errorf("%s: problems %v, want %q", name, problems, tt.want)
			continue
		}
		for i, p := range problems {
			if !strings.Contains(p.Error(), tt.want[i]) || fault.ExitCode(p) != fault.ExitInfra || len(fault.Hints(p)) != 1 {
				t.Errorf("%s: %q with hints %q, want %q", name, p, fault.Hints(p), tt.want[i])
			}
		}
	}
}
