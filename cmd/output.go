package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// output is stdout, remembering whether it could be written. When nobody reads it any more the command ends as if interrupted.
type output struct {
	w      io.Writer
	cancel context.CancelCauseFunc

	mu  sync.Mutex
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.err = err
		if errors.Is(err, syscall.EPIPE) {
			o.cancel(fault.New(fault.Interrupted, "", "nobody reads the output any more"))
		}
	}
	return n, err
}

// failure is why output is missing; nil when all was written, or when nobody wanted it.
func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil || errors.Is(o.err, syscall.EPIPE) {
		return nil
	}
	return fmt.Errorf("stdout cannot be written: %w", o.err)
}
