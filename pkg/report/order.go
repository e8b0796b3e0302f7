package report

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"

	"github.com/trailblaze/trailblaze/pkg/event"
)

// which tells the trails of a run apart.
type which struct{ file, device, title string }

func whichOf(e event.TrailFinished) which { return which{e.File, e.Device, e.Title} }

// inOrder compares trails by file, then device, then row: the order in which they end is another one in every run.
func inOrder(a, b which) int {
	x, m := splitRow(a.title)
	y, n := splitRow(b.title)
	return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.device, b.device), cmp.Compare(x, y), cmp.Compare(m, n))
}

var rowEnding = regexp.MustCompile(` \[([0-9]{1,9})\]$`)

// splitRow takes the number of a row off a title; 0 without one.
func splitRow(title string) (rest string, row int) {
	at := rowEnding.FindStringSubmatchIndex(title)
	if at == nil {
		return title, 0
	}
	row, _ = strconv.Atoi(title[at[2]:at[3]]) // digits
	return title[:at[0]], row
}

// called is what a trail is called, with its device when it has one.
func called(title, file, device string) string {
	if device = oneLine(device); device != "" {
		return name(title, file) + " [" + device + "]"
	}
	return name(title, file)
}

// devices are the names of the devices, in order.
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
