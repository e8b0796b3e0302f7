package syntax

import (
	"strconv"
	"time"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// ParseNow reads the argument now: a date, a date and time, or milliseconds since 1970. It is zero without the argument.
// A date is in UTC, and a time without a zone is in zone.
func ParseNow(args Arguments, zone *time.Location) (time.Time, error) {
	if !args.Has("now") {
		return time.Time{}, nil
	}
	text, isText := args["now"].(string)
	if !isText {
		return time.UnixMilli(int64(args.Number("now", 0))), nil
	}
	if milliseconds, err := strconv.ParseInt(text, 10, 64); err == nil && len(text) > len("2027") {
		return time.UnixMilli(milliseconds), nil
	}
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime, "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fault.New(fault.InvalidArguments, "write it like 2027-01-31, 2027-01-31T12:00:00 or 2027-01-31T12:00:00Z",
		"now: %q is not a date and time", text)
}
