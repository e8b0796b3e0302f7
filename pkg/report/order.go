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

func finishedID(e event.TrailFinished) trailID {
	return trailID{e.File, e.Device, e.Title, e.Row, e.Repeat}
}

func startedID(e event.TrailStarted) trailID {
	return trailID{e.File, e.Device, e.Title, e.Row, e.Repeat}
}

func compareCases(a, b *Case) int { return a.id().compare(b.id()) }

// compare orders trails by file, device, row and repetition, since the order in which they end differs between runs.
func (id trailID) compare(other trailID) int {
	return cmp.Or(cmp.Compare(id.file, other.file), cmp.Compare(id.device, other.device), cmp.Compare(id.row, other.row),
		cmp.Compare(id.repeat, other.repeat), cmp.Compare(id.title, other.title))
}

// displayName returns the title of the trail, or its file, with its device when it has one.
func (id trailID) displayName() string {
	if device := oneLine(id.device); device != "" {
		return titleOrFile(id.title, id.file) + " [" + device + "]"
	}
	return titleOrFile(id.title, id.file)
}

// distinctNames returns the names of all elements, sorted, each once and without empty ones.
func distinctNames[T any](all []T, name func(T) string) []string {
	var names []string
	for _, one := range all {
		if d := name(one); d != "" && !slices.Contains(names, d) {
			names = append(names, d)
		}
	}
	slices.Sort(names)
	return names
}
