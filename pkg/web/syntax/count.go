package syntax

import (
	"fmt"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// CountRange is how many elements may match.
type CountRange struct{ min, max int } // max is -1 for any

// ParseCountRange reads the arguments count, min and max.
func ParseCountRange(args Arguments) (CountRange, error) {
	r := CountRange{int(args.Number("min", 0)), int(args.Number("max", -1))}
	invalid := func(message string) (CountRange, error) {
		return r, fault.New(fault.InvalidArguments, "give count, or min, max or both", "%s", message)
	}
	switch bounds := args.Has("min") || args.Has("max"); {
	case args.Has("count") && bounds:
		return invalid("count cannot be given together with min or max")
	case args.Has("count"):
		r.min = int(args.Number("count", 0))
		r.max = r.min
	case !bounds:
		return invalid("no argument says how many elements are expected")
	case r.max >= 0 && r.max < r.min:
		return invalid(fmt.Sprintf("min is %d and max is %d, so no number of elements is right", r.min, r.max))
	case r.max < 0 && r.min == 0:
		return invalid("min is 0, so every number of elements is right")
	}
	return r, nil
}

// Holds reports whether n elements may match.
func (r CountRange) Holds(n int) bool { return n >= r.min && (r.max < 0 || n <= r.max) }

func (r CountRange) String() string {
	switch {
	case r.min == r.max:
		return fmt.Sprint(r.min)
	case r.max < 0:
		return fmt.Sprintf("at least %d", r.min)
	case r.min == 0:
		return fmt.Sprintf("at most %d", r.max)
	}
	return fmt.Sprintf("%d to %d", r.min, r.max)
}
