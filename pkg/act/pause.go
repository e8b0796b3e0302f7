package act

import (
	"context"
	"time"
)

// Pause waits. The error is the cause of ctx if that ends before.
func Pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Await calls holds until it returns true or a limit has passed, with pauses between, and returns its last result. It
// calls holds at least once. An error of holds, or the end of ctx, ends the wait.
func Await(ctx context.Context, limit, pause time.Duration, holds func() (bool, error)) (bool, error) {
	for end := time.Now().Add(limit); ; {
		if ok, err := holds(); ok || err != nil || time.Now().After(end) {
			return ok, err
		}
		if err := Pause(ctx, pause); err != nil {
			return false, err
		}
	}
}
