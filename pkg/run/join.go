package run

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Part is what a shard left.
type Part struct {
	File  string
	Shard Shard
	Plan  string
	Began time.Time
}

// Join holds shards against each other. Of a shard that is there twice only the newer one counts; left are the others, as indexes of parts. The
// problems, of kind Server, say what is missing.
func Join(parts []Part) (left []int, problems []error) {
	newest := map[Part]int{} // without file and time
	for i, p := range parts {
		same := Part{Shard: p.Shard, Plan: p.Plan}
		j, twice := newest[same]
		if !twice {
			newest[same] = i
			continue
		}
		older := i
		if p.Began.After(parts[j].Began) {
			older, newest[same] = j, i
		}
		left = append(left, older)
		problems = append(problems, fault.New(fault.Server, "remove what an earlier run left, or give each run a folder of its own",
			"shard %s is there twice: %s is older than %s, and does not count", p.Shard, parts[older].File, parts[newest[same]].File))
	}
	slices.Sort(left)
	groups := byPlan(parts)
	odd := slices.DeleteFunc(slices.Clone(groups), func(g []Part) bool { return len(missing(g)) == 0 && !again(g, groups) })
	switch len(odd) {
	case 0:
	case 1:
		problems = append(problems, fault.New(fault.Server, "what is missing is in no report; look at the jobs that should have run it",
			"of %d shards, %s came and %s did not", odd[0][0].Shard.Of, numbers(have(odd[0])), numbers(missing(odd[0]))))
	default:
		problems = append(problems, mixed(odd))
	}
	return left, problems
}

// again reports whether another group does the same, cut in another way.
func again(group []Part, groups [][]Part) bool {
	list, _, _ := strings.Cut(group[0].Plan, planParts)
	return slices.ContainsFunc(groups, func(g []Part) bool {
		other, _, _ := strings.Cut(g[0].Plan, planParts)
		return other == list && g[0].Plan != group[0].Plan
	})
}

// mixed says that shards do not belong together.
func mixed(groups [][]Part) error {
	var lines []string
	for _, group := range groups {
		var files []string
		for _, p := range group {
			files = append(files, p.File)
		}
		lines = append(lines, fmt.Sprintf("  %s of %d: %s", numbers(have(group)), group[0].Shard.Of, strings.Join(files, ", ")))
	}
	return fault.New(fault.Server, "give every shard the same trails, flags, number of shards and --durations file, and each run a folder of its own",
		"these shards were cut from different lists or durations: trails may be missing, or counted twice\n%s", strings.Join(lines, "\n"))
}

// byPlan puts together what was cut from the same trails, in order of the first of each.
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

func have(group []Part) []int {
	var indexes []int
	for _, p := range group {
		indexes = append(indexes, p.Shard.Index)
	}
	slices.Sort(indexes)
	return slices.Compact(indexes)
}

func missing(group []Part) []int {
	var indexes []int
	there := have(group)
	for i := 1; i <= group[0].Shard.Of; i++ {
		if !slices.Contains(there, i) {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// numbers writes indexes for people: 1, 3-5.
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
