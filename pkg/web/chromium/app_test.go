package chromium

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trailblaze/trailblaze/pkg/cdp"
	"github.com/trailblaze/trailblaze/pkg/device"
)

// silentTransport is a connection to an app that answers nothing.
type silentTransport struct {
	done   <-chan struct{}
	cancel context.CancelFunc
}

func (s silentTransport) Read(func([]byte) int) ([]byte, error) {
	<-s.done
	return nil, io.EOF
}

func (silentTransport) Write([]byte) error { return nil }

func (s silentTransport) Close() error {
	s.cancel()
	return nil
}

// stoppableProcess runs until it is stopped.
type stoppableProcess struct{ device.Process }

func (stoppableProcess) Done() <-chan struct{} { return nil }

func (stoppableProcess) Stop(context.Context) error { return nil }

func TestAppIsNotAskedToExit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := &Browser{Conn: cdp.NewConn(silentTransport{ctx.Done(), cancel}), Headed: true, isApp: true, process: stoppableProcess{}, grace: appGrace}
		start := time.Now()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("the end of an app took %s before it was stopped", took)
		}
	})
}
