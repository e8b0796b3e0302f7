package run

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Shard is a part of the trails of a run: Index, from 1, of Of. The zero value is all of them.
type Shard struct{ Index, Of int }

// maxShards is far more than there are machines; a number beyond it is a mistake.
const maxShards = 10_000

// ParseShard reads i/n. The error is of kind Misuse.
func ParseShard(s string) (Shard, error) {
	index, of, _ := strings.Cut(s, "/")
	i, errIndex := strconv.Atoi(index)
	n, errOf := strconv.Atoi(of)
	const hint = "write --shard 2/3 for the second of three"
	switch {
	case errIndex != nil || errOf != nil:
		return Shard{}, fault.New(fault.Misuse, hint, "--shard %q is not two numbers", s)
	case n < 1 || n > maxShards:
		return Shard{}, fault.New(fault.Misuse, hint, "--shard %s: there cannot be %d shards", s, n)
	case i < 1 || i > n:
		return Shard{}, fault.New(fault.Misuse, hint, "--shard %s: shards count from 1 to %d", s, n)
	}
	return Shard{i, n}, nil
}

// String returns what ParseShard reads; empty for the zero value.
func (s Shard) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// assign spreads trails over n shards and returns the shard of each, from 1. The longest come first, each to the shard
// with the least load; a trail of unknown duration counts as one of the median. Without any duration, shards differ by
// one trail at most. The order of the keys does not matter.
func assign(keys []string, n int, known Durations) map[string]int {
	weights := weigh(keys, known)
	ordered := slices.SortedFunc(maps.Keys(weights), func(a, b string) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b))
	})
	type load struct {
		ms     int64
		trails int
	}
	loads, owners := make([]load, n), make(map[string]int, len(keys))
	for _, key := range ordered {
		least := 0
		for i, l := range loads {
			if cmp.Or(cmp.Compare(l.ms, loads[least].ms), cmp.Compare(l.trails, loads[least].trails)) < 0 {
				least = i
			}
		}
		loads[least].ms += weights[key]
		loads[least].trails++
		owners[key] = least + 1
	}
	return owners
}

// weigh returns the expected duration of each trail in milliseconds, at least 1.
func weigh(keys []string, known Durations) map[string]int64 {
	relevant := Durations{}
	for _, key := range keys {
		if ms, ok := known[key]; ok {
			relevant[key] = max(ms, 1)
		}
	}
	median := relevant.median()
	weights := make(map[string]int64, len(keys))
	for _, key := range keys {
		weights[key] = cmp.Or(relevant[key], median, 1)
	}
	return weights
}

// shard returns the cases of the run's shard, and a digest of how the trails were divided: shards with the same digest,
// one of each number, are all of them. The unit is the trail file, with all its rows and devices.
func (r *runner) shard(cases []testCase) (mine []testCase, plan string) {
	if r.Shard.Of == 0 {
		return cases, ""
	}
	keys := make([]string, len(cases))
	for i, c := range cases {
		keys[i] = TrailKey(r.Project.Root, r.resolve(c.path))
	}
	owners := assign(keys, r.Shard.Of, r.Durations)
	for i, c := range cases {
		if owners[keys[i]] == r.Shard.Index {
			mine = append(mine, c)
		}
	}
	return mine, r.shardPlan(keys, owners)
}

// nothingToDo says why a run has no case; all is the number of cases of all shards.
func nothingToDo(all int, s Shard) string {
	if all > 0 {
		return fmt.Sprintf("nothing to do: there are fewer trails than shards, and shard %s has none", s)
	}
	return "nothing to do: none of these trails failed in the last run"
}

// shardPlan returns two digests: of what there is to do in all, and of which shard has which trail. The same trails on
// another device are another plan.
func (r *runner) shardPlan(keys []string, owners map[string]int) string {
	all, assigned := sha256.New(), sha256.New()
	fmt.Fprintln(all, len(r.ArgRows))
	for _, d := range r.devices {
		q := d.Request
		fmt.Fprintf(all, "%q %q %q\n", d.Name, d.Classifiers,
			[]string{q.FlagTarget, q.EnvTarget, q.FlagPlatform, q.FlagDriver, q.EnvDriver})
	}
	fmt.Fprintln(assigned, r.Shard.Of)
	for _, key := range slices.Compact(slices.Sorted(slices.Values(keys))) {
		fmt.Fprintf(all, "%q\n", key)
		fmt.Fprintln(assigned, owners[key])
	}
	return hex.EncodeToString(all.Sum(nil)[:8]) + planSeparator + hex.EncodeToString(assigned.Sum(nil)[:8])
}

// planSeparator separates the digests of a plan.
const planSeparator = "-"
