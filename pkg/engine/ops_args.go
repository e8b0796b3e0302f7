package engine

import (
	"fmt"
	"math"
)

// maxValueBytes is the largest value that an operation returns: a file, a body or random bytes. It is more than the
// largest result of a tool, and a quarter of DefaultMemoryLimit.
const maxValueBytes = 128 << 20

// arg returns an argument of an operation, or the zero value when it is missing or has another type. The engine's own
// JavaScript, which calls operations, has already validated what the script passed.
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

// intArg returns a number as an int64, truncated and limited to its range; 0 for what is not a number.
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

// tooLargeError is the error of a value that exceeds a limit in bytes.
func tooLargeError(what string, limit int) error {
	size := fmt.Sprintf("%d MiB", limit>>20)
	if limit < 1<<20 {
		size = fmt.Sprintf("%d KiB", limit>>10)
	}
	return &hostError{
		Code: "ERR_OUT_OF_RANGE", Name: "RangeError", Message: what + " exceeds " + size + ", the limit of the embedded engine",
	}
}
