package device

import "context"

type firstClick struct{}

// AfterFirstClick says that the first click of a double click was made already: a call that double-clicks makes the
// second one only, with the count of a second one. Devices that cannot continue a double click make both.
func AfterFirstClick(ctx context.Context) context.Context {
	return context.WithValue(ctx, firstClick{}, true)
}

// IsAfterFirstClick reports whether [AfterFirstClick] was said.
func IsAfterFirstClick(ctx context.Context) bool { return ctx.Value(firstClick{}) != nil }
