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

// String is what ParseShard reads; empty for the zero value.
func (s Shard) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// cut spreads trails over n shards and returns whose each one is, from 1. The longest come first, each to the shard that has least to do; one
// of unknown length is taken for one of middle length. Without any length, shards differ by one trail at most. The order of the keys does not matter.
func cut(keys []string, n int, known Durations) map[string]int {
	weights := weigh(keys, known)
	ordered := slices.SortedFunc(maps.Keys(weights), func(a, b string) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b))
	})
	type load struct {
		ms     int64
		trails int
	}
	loads, whose := make([]load, n), make(map[string]int, len(keys))
	for _, key := range ordered {
		least := 0
		for i, l := range loads {
			if cmp.Or(cmp.Compare(l.ms, loads[least].ms), cmp.Compare(l.trails, loads[least].trails)) < 0 {
				least = i
			}
		}
		loads[least].ms += weights[key]
		loads[least].trails++
		whose[key] = least + 1
	}
	return whose
}

// weigh says how long each trail is expected to take, at least a millisecond: nothing is for free.
func weigh(keys []string, known Durations) map[string]int64 {
	here := Durations{}
	for _, key := range keys {
		if ms, ok := known[key]; ok {
			here[key] = max(ms, 1)
		}
	}
	middle := here.median()
	weights := make(map[string]int64, len(keys))
	for _, key := range keys {
		weights[key] = cmp.Or(here[key], middle, 1)
	}
	return weights
}

// shard keeps the cases that belong to the run's shard, and says what they were cut from: shards with the same plan, one of each number,
// are all of them. The unit is the trail file, with all its rows and devices.
func (r *runner) shard(cases []testCase) (mine []testCase, plan string) {
	if r.Shard.Of == 0 {
		return cases, ""
	}
	keys := make([]string, len(cases))
	for i, c := range cases {
		keys[i] = TrailKey(r.Project.Root, r.resolve(c.path))
	}
	whose := cut(keys, r.Shard.Of, r.Durations)
	for i, c := range cases {
		if whose[keys[i]] == r.Shard.Index {
			mine = append(mine, c)
		}
	}
	return mine, r.plan(keys, whose)
}

// nothingToDo says why a run has no case, of so many there are in all.
func nothingToDo(all int, s Shard) string {
	if all > 0 {
		return fmt.Sprintf("nothing to do: there are fewer trails than shards, and shard %s has none", s)
	}
	return "nothing to do: none of these trails failed in the last run"
}

// plan is two digests: of what there is to do in all, and of whose trail is whose. The same trails on another device are another plan.
func (r *runner) plan(keys []string, whose map[string]int) string {
	all, cut := sha256.New(), sha256.New()
	request := r.Request
	words := []string{request.FlagTarget, request.EnvTarget, request.FlagPlatform, request.FlagDriver, request.EnvDriver}
	fmt.Fprintf(all, "%q %q %d\n", words, r.Classifiers, len(r.ArgRows))
	for _, l := range r.lanes {
		fmt.Fprintf(all, "%q\n", l.name)
	}
	fmt.Fprintln(cut, r.Shard.Of)
	for _, key := range slices.Compact(slices.Sorted(slices.Values(keys))) {
		fmt.Fprintf(all, "%q\n", key)
		fmt.Fprintln(cut, whose[key])
	}
	return hex.EncodeToString(all.Sum(nil)[:8]) + planParts + hex.EncodeToString(cut.Sum(nil)[:8])
}

// planParts stands between the digests of a plan.
const planParts = "-"
