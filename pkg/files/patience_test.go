package files

import (
	"errors"
	"testing"
	"time"
)

func TestRetry(t *testing.T) {
	t.Parallel()
	passing, lasting := errors.New("passing"), errors.New("lasting")
	for name, tc := range map[string]struct {
		limit  time.Duration
		errs   []error // of the calls; the last one is that of all others
		calls  int
		result error
	}{
		"it succeeds":                {time.Minute, []error{nil}, 1, nil},
		"it succeeds the third time": {time.Minute, []error{passing, passing, nil}, 3, nil},
		"an error lasts":             {time.Minute, []error{passing, lasting}, 2, lasting},
		"the limit is over":          {0, []error{passing}, 1, passing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			err := retry(tc.limit, func(err error) bool { return errors.Is(err, passing) }, func() error {
				calls++
				return tc.errs[min(calls, len(tc.errs))-1]
			})
			if calls != tc.calls || !errors.Is(err, tc.result) {
				t.Errorf("%d calls and %v, want %d and %v", calls, err, tc.calls, tc.result)
			}
		})
	}
}
