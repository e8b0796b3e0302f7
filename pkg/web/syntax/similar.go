package syntax

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// maxSimilar is the number of candidates that a message names.
const maxSimilar = 5

// Nearest returns the candidates that are similar to wanted, quoted, the most similar first: those that are spelt like
// it, then those that include it or have words in common with it. The first five when none is similar.
func Nearest(wanted string, candidates []string) []string {
	var unique []string
	seen := map[string]bool{}
	for _, c := range candidates {
		if !seen[c] {
			unique, seen[c] = append(unique, c), true
		}
	}
	near := fault.Nearest(wanted, unique)
	for _, c := range alike(wanted, unique) {
		if len(near) < maxSimilar && !slices.Contains(near, c) {
			near = append(near, c)
		}
	}
	if len(near) == 0 {
		near = unique[:min(maxSimilar, len(unique))]
	}
	return text.Quote(near)
}

// alike returns the candidates with a likeness to wanted, the most alike first, else in their order.
func alike(wanted string, candidates []string) []string {
	scores := map[string]float64{}
	var found []string
	for _, c := range candidates {
		if scores[c] = likeness(wanted, c); scores[c] > 0 {
			found = append(found, c)
		}
	}
	slices.SortStableFunc(found, func(a, b string) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	return found
}

// likeness returns how much two texts have in common: 2 when one includes the other, else the part of their words that
// they share, and half as much again when they begin with the same one; 0 when they share no word of three letters,
// because most texts have some that are shorter.
func likeness(a, b string) float64 {
	a, b = strings.ToLower(a), strings.ToLower(b)
	shorter, longer := a, b
	if len(a) > len(b) {
		shorter, longer = b, a
	}
	if isTellingWord(shorter) && strings.Contains(longer, shorter) {
		return 2
	}
	first, second := wordsOf(a), wordsOf(b)
	shared := slices.DeleteFunc(slices.Clone(first), func(w string) bool { return !slices.Contains(second, w) })
	if !slices.ContainsFunc(shared, isTellingWord) {
		return 0
	}
	score := float64(len(shared)) / float64(max(len(first), len(second)))
	if first[0] == second[0] {
		score += score / 2
	}
	return score
}

func isTellingWord(word string) bool { return utf8.RuneCountInString(word) > 2 }

func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
