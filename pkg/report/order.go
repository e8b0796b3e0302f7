package report

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// trailID identifies a trail within a run.
type trailID struct{ file, device, title string }

func trailIDOf(e event.TrailFinished) trailID { return trailID{e.File, e.Device, e.Title} }

// compareTrails orders trails by file, device and row, since the order in which they end differs between runs.
func compareTrails(a, b trailID) int {
	x, m := splitRow(a.title)
	y, n := splitRow(b.title)
	return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.device, b.device), cmp.Compare(x, y), cmp.Compare(m, n))
}

var rowEnding = regexp.MustCompile(` \[([0-9]{1,9})\]$`)

// splitRow separates a title from the number of its row, which is 0 without one.
func splitRow(title string) (rest string, row int) {
	at := rowEnding.FindStringSubmatchIndex(title)
	if at == nil {
		return title, 0
	}
	row, _ = strconv.Atoi(title[at[2]:at[3]]) // cannot fail: these are at most nine digits
	return title[:at[0]], row
}

// displayName returns the title of a trail, or its file, with its device when it has one.
func displayName(title, file, device string) string {
	if device = oneLine(device); device != "" {
		return titleOrFile(title, file) + " [" + device + "]"
	}
	return titleOrFile(title, file)
}

// devices returns the names of the devices of all elements, sorted, each once and without empty ones.
func devices[T any](all []T, of func(T) string) []string {
	var names []string
	for _, one := range all {
		if d := of(one); d != "" && !slices.Contains(names, d) {
			names = append(names, d)
		}
	}
	slices.Sort(names)
	return names
}
