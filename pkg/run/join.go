package run

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Part is the result file of a shard.
type Part struct {
	File    string
	Shard   Shard
	Plan    string // the digest of how the trails were divided
	Started time.Time
}

// Join checks that parts are all shards of one run. Of a shard with two files only the newer one counts; ignored has
// the indexes of the others. The problems, of kind Server, say what is missing.
func Join(parts []Part) (ignored []int, problems []error) {
	newest := map[Part]int{} // keys have no file and time
	for i, p := range parts {
		same := Part{Shard: p.Shard, Plan: p.Plan}
		j, twice := newest[same]
		if !twice {
			newest[same] = i
			continue
		}
		older := i
		if p.Started.After(parts[j].Started) {
			older, newest[same] = j, i
		}
		ignored = append(ignored, older)
		problems = append(problems, fault.New(fault.IO, "remove the files of an earlier run, or give each run a folder of its own",
			"shard %s has two files: %s is older than %s, and does not count", p.Shard, parts[older].File, parts[newest[same]].File))
	}
	slices.Sort(ignored)
	groups := byPlan(parts)
	incomplete := slices.DeleteFunc(slices.Clone(groups), func(g []Part) bool {
		return len(missing(g)) == 0 && !dividedAgain(g, groups)
	})
	switch len(incomplete) {
	case 0:
	case 1:
		problems = append(problems, fault.New(fault.IO, "no report has their trails; look at the jobs that should have run them",
			"%s", missingShards(incomplete[0])))
	default:
		problems = append(problems, mixed(incomplete))
	}
	return ignored, problems
}

// missingShards says which shards of a group are missing: 1 of 3 shards is missing: shard 2.
func missingShards(group []Part) string {
	absent := missing(group)
	verb, noun := "is", "shard"
	if len(absent) > 1 {
		verb, noun = "are", "shards"
	}
	return fmt.Sprintf("%d of %d shards %s missing: %s %s", len(absent), group[0].Shard.Of, verb, noun, numbers(absent))
}

// dividedAgain reports whether another group has the same trails, divided in another way.
func dividedAgain(group []Part, groups [][]Part) bool {
	list, _, _ := strings.Cut(group[0].Plan, planSeparator)
	return slices.ContainsFunc(groups, func(g []Part) bool {
		other, _, _ := strings.Cut(g[0].Plan, planSeparator)
		return other == list && g[0].Plan != group[0].Plan
	})
}

// mixed returns the problem of shards that do not belong to one run.
func mixed(groups [][]Part) error {
	var lines []string
	for _, group := range groups {
		var files []string
		for _, p := range group {
			files = append(files, p.File)
		}
		lines = append(lines, fmt.Sprintf("  %s of %d: %s", numbers(present(group)), group[0].Shard.Of, strings.Join(files, ", ")))
	}
	return fault.New(fault.IO, "give every shard the same trails, flags, number of shards and --durations file, and each run a folder of its own",
		"these shards do not belong to one run, or were balanced by different durations: trails may be missing, or counted twice\n%s", strings.Join(lines, "\n"))
}

// byPlan groups parts by plan, in order of the first part of each.
func byPlan(parts []Part) [][]Part {
	var groups [][]Part
	for _, p := range parts {
		i := slices.IndexFunc(groups, func(g []Part) bool { return g[0].Plan == p.Plan && g[0].Shard.Of == p.Shard.Of })
		if i < 0 {
			groups = append(groups, nil)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], p)
	}
	return groups
}

func present(group []Part) []int {
	var indexes []int
	for _, p := range group {
		indexes = append(indexes, p.Shard.Index)
	}
	slices.Sort(indexes)
	return slices.Compact(indexes)
}

func missing(group []Part) []int {
	var indexes []int
	found := present(group)
	for i := 1; i <= group[0].Shard.Of; i++ {
		if !slices.Contains(found, i) {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// numbers formats indexes as ranges: 1, 3-5.
func numbers(indexes []int) string {
	var parts []string
	for i := 0; i < len(indexes); {
		end := i
		for end+1 < len(indexes) && indexes[end+1] == indexes[end]+1 {
			end++
		}
		part := fmt.Sprint(indexes[i])
		if end > i {
			part = fmt.Sprintf("%d-%d", indexes[i], indexes[end])
		}
		parts = append(parts, part)
		i = end + 1
	}
	return strings.Join(parts, ", ")
}
