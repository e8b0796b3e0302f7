package report

import (
	"cmp"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// trailID identifies a replay of a trail within a run.
type trailID struct {
	file, device, title string
	row, repeat         int
}

func trailIDOf(e event.TrailFinished) trailID {
	return trailID{e.File, e.Device, e.Title, e.Row, e.Repeat}
}

func startedID(e event.TrailStarted) trailID {
	return trailID{e.File, e.Device, e.Title, e.Row, e.Repeat}
}

// compareTrails orders trails by file, device, row and repetition, since the order in which they end differs between
// runs.
func compareTrails(a, b trailID) int {
	return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.device, b.device), cmp.Compare(a.row, b.row),
		cmp.Compare(a.repeat, b.repeat), cmp.Compare(a.title, b.title))
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
