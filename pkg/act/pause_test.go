package act_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
)

func TestAwait(t *testing.T) {
	t.Parallel()
	errBroken := errors.New("broken")
	for name, c := range map[string]struct {
		limit   time.Duration
		trueAt  time.Duration
		failsAt time.Duration
		cancel  time.Duration
		ok      bool
		err     error
		took    time.Duration
	}{
		"at once":         {limit: time.Second, ok: true},
		"later":           {limit: time.Second, trueAt: 250 * time.Millisecond, ok: true, took: 300 * time.Millisecond},
		"never":           {limit: time.Second, trueAt: time.Hour, took: 1100 * time.Millisecond},
		"an error":        {limit: time.Second, trueAt: time.Hour, failsAt: 200 * time.Millisecond, err: errBroken, took: 200 * time.Millisecond},
		"the context end": {limit: time.Second, trueAt: time.Hour, cancel: 150 * time.Millisecond, err: context.DeadlineExceeded, took: 150 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, began := t.Context(), time.Now()
				if c.cancel > 0 {
					limited, cancel := context.WithTimeout(ctx, c.cancel)
					defer cancel()
					ctx = limited
				}
				ok, err := act.Await(ctx, c.limit, 100*time.Millisecond, func() (bool, error) {
					if c.failsAt > 0 && time.Since(began) >= c.failsAt {
						return false, errBroken
					}
					return time.Since(began) >= c.trueAt, nil
				})
				if took := time.Since(began); ok != c.ok || !errors.Is(err, c.err) || took != c.took {
					t.Errorf("%v %v after %s", ok, err, took)
				}
			})
		})
	}
}
