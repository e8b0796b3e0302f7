package live

import (
	"testing"
	"testing/synctest"
)

// TestEachThatWaitsHurries has two requests wait: when the first has its turn, the second hurries that one, too.
func TestEachThatWaitsHurries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &Session{slot: make(chan struct{}, 1), hurry: make(chan struct{})}
		isHurried := func() bool {
			synctest.Wait()
			select {
			case <-s.hurry:
				return true
			default:
				return false
			}
		}
		entered := make(chan func())
		enter := func() {
			release, err := s.enter(t.Context(), s.hurry)
			if err != nil {
				t.Error(err)
			}
			entered <- release
		}
		go enter()
		release := <-entered
		if isHurried() {
			t.Error("nobody waits")
		}
		for range 2 {
			go enter()
		}
		for range 2 {
			if !isHurried() {
				t.Error("a request waits without a hurry")
			}
			release()
			release = <-entered
		}
		if isHurried() {
			t.Error("nobody waits any more")
		}
		release()
	})
}
