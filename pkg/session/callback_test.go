package session

import (
	"testing"

	"github.com/trailblaze/trailblaze/pkg/callback"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// TestCallbacksRestartTheLimit makes a callback that fails. What the server does with the limit is tested in pkg/server.
func TestCallbacksRestartTheLimit(t *testing.T) {
	t.Parallel()
	s := &Session{opts: Options{Values: trail.NewValues(trail.Sources{})}}
	caller := (&level{depth: 100}).next(true)
	if response := s.dispatch(t.Context(), caller, callback.Request{Tool: "other"}); response.OK {
		t.Errorf("a call at depth %d was made: %+v", caller.depth, response)
	}
	select {
	case <-caller.callbacks:
	default:
		t.Error("the limit of the call is not restarted")
	}
}
