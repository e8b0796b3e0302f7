package report

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// trailID identifies a trail within a run.
type trailID struct{ file, device, title string }

func trailIDOf(e event.TrailFinished) trailID { return trailID{e.File, e.Device, e.Title} }

// compareTrails orders trails by file, device and row, since the order in which they end differs between runs.
func compareTrails(a, b trailID) int {
	x, y := splitTitle(a.title), splitTitle(b.title)
	return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.device, b.device), cmp.Compare(x.rest, y.rest),
		cmp.Compare(x.row, y.row), cmp.Compare(x.repeat, y.repeat))
}

var titleEnding = lazyregexp.New(`^(.*?)(?: \[([0-9]{1,9})\])?(?: \(([0-9]{1,9}) of [0-9]{1,9}\))?$`)

// numberedTitle is a title without the numbers of its row and of its repetition, which are 0 without one.
type numberedTitle struct {
	rest        string
	row, repeat int
}

func splitTitle(title string) numberedTitle {
	parts := titleEnding().FindStringSubmatch(title)
	if parts == nil { // it has several lines
		return numberedTitle{rest: title}
	}
	row, _ := strconv.Atoi(parts[2]) // without a number, and with at most nine digits, the result is right
	repeat, _ := strconv.Atoi(parts[3])
	return numberedTitle{parts[1], row, repeat}
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
