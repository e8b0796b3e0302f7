package session

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// emptiedSelector returns the path of a text in a selector that its tokens left empty; empty if there is none. Such a
// text does not count, so another element would be found. written are arguments with tokens, given the same without.
func emptiedSelector(path string, written, given any) string {
	switch w := written.(type) {
	case string:
		if given == "" && w != "" && strings.Contains(path, "elector.") { // of nodeSelector or selector
			return path
		}
	case map[string]any:
		values, _ := given.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(w)) {
			if at := emptiedSelector(strings.TrimPrefix(path+"."+key, "."), w[key], values[key]); at != "" {
				return at
			}
		}
	case []any:
		values, _ := given.([]any)
		for i := range min(len(w), len(values)) {
			if at := emptiedSelector(path+"."+strconv.Itoa(i), w[i], values[i]); at != "" {
				return at
			}
		}
	}
	return ""
}
