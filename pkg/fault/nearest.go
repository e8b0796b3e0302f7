package fault

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Nearest returns up to three candidates that are spelt like name, the closest first; none when none is close enough to
// be what the user meant.
func Nearest(name string, candidates []string) []string {
	type scored struct {
		name string
		cost int
	}
	fold := strings.ToLower(name)
	length := utf8.RuneCountInString(fold)
	limit := max(2, length/3)
	var close []scored
	for _, c := range candidates {
		if apart := utf8.RuneCountInString(c) - length; apart > limit || -apart > limit {
			continue // the distance to a very long name would take long to compute
		}
		if cost := distance(fold, strings.ToLower(c)); cost <= limit {
			close = append(close, scored{c, cost})
		}
	}
	slices.SortStableFunc(close, func(a, b scored) int { return a.cost - b.cost })
	names := make([]string, 0, 3)
	for _, s := range close[:min(3, len(close))] {
		names = append(names, s.name)
	}
	return names
}

// Meant returns up to three candidates that a user may have meant: those that begin with name, then the nearest.
func Meant(name string, candidates []string) []string {
	var meant []string
	for _, c := range candidates {
		if utf8.RuneCountInString(name) > 3 && strings.HasPrefix(strings.ToLower(c), strings.ToLower(name)) {
			meant = append(meant, c)
		}
	}
	for _, c := range Nearest(name, candidates) {
		if !slices.Contains(meant, c) {
			meant = append(meant, c)
		}
	}
	return meant[:min(3, len(meant))]
}

// DidYouMean returns a hint with the candidates that may be meant, or with all of them when none may be and they are at
// most 30.
func DidYouMean(name string, candidates []string) string {
	if near := Meant(name, candidates); len(near) > 0 {
		return fmt.Sprintf("did you mean %s?", quoteList(near, " or "))
	}
	if len(candidates) == 0 || len(candidates) > 30 {
		return ""
	}
	return "known: " + strings.Join(candidates, ", ")
}

// DidYouMeanListed is DidYouMean followed by listed, which says where all candidates are listed.
func DidYouMeanListed(name string, candidates []string, listed string) string {
	hint := DidYouMean(name, candidates)
	switch {
	case hint == "":
		return listed
	case strings.HasSuffix(hint, "?"):
		return hint + " " + listed
	}
	return hint + "; " + listed
}

func quoteList(names []string, last string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	if len(quoted) == 1 {
		return quoted[0]
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + last + quoted[len(quoted)-1]
}

// distance returns the optimal string alignment distance: the number of insertions, deletions, substitutions and swaps
// of neighbouring characters.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	rows := make([][]int, len(s)+1)
	for i := range rows {
		rows[i] = make([]int, len(t)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(s); i++ {
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(s)][len(t)]
}
