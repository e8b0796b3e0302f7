package engine

import "math"

// maxBytes is the most that Go allocates for one value of JavaScript: what a file, a body or a request for random bytes may have at
// once. It is more than a tool may answer, and fits several times into the memory that an engine may have by default.
const maxBytes = 128 << 20

// arg is an argument of an operation, the zero value when it is missing or of another kind: only JavaScript of ours calls operations,
// after it has checked what an author gave it.
func arg[T any](args []any, i int) T {
	var none T
	if i >= len(args) {
		return none
	}
	if v, ok := args[i].(T); ok {
		return v
	}
	return none
}

// intArg is a number as an int64, without a fraction and within its range; 0 for what is no number.
func intArg(args []any, i int) int64 {
	v := arg[float64](args, i)
	switch {
	case math.IsNaN(v):
		return 0
	case v >= math.MaxInt64:
		return math.MaxInt64
	case v <= math.MinInt64:
		return math.MinInt64
	}
	return int64(v)
}
