package gesture

import "github.com/trailblaze/trailblaze/pkg/live"

// Checks returns the checks that fit an element, the likeliest first. root is around all elements of the screen; nil if
// it is not known.
func Checks(d Device, at live.Location, root *live.Element) []Check { return nil }
