package ports_test

import (
	"net"
	"os/exec"
	"testing"

	"github.com/trailblaze/trailblaze/testdata/ports"
)

func TestNothingListensAtFreePortWhileProcessesStart(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	t.Cleanup(func() { <-done })
	go func() {
		defer close(done)
		for t.Context().Err() == nil {
			_ = exec.CommandContext(t.Context(), "true").Run()
		}
	}()
	for range 500 { // one in a hundred fails where Free does not await that connections are refused
		port, err := ports.Free(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", "127.0.0.1:"+port); err == nil {
			_ = connection.Close()
			t.Fatal("somebody listens at the port")
		}
	}
}
