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

// output is stdout. It keeps the first error of a write, and cancels the command when the reader has closed the pipe.
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
		if o.err == nil {
			o.err = err
		}
		if errors.Is(err, syscall.EPIPE) {
			o.cancel(fault.New(fault.Interrupted, "", "the reader of stdout has closed it"))
		}
	}
	return n, err
}

// failure returns the error of the first failed write, nil when all was written or the reader closed the pipe.
func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil || errors.Is(o.err, syscall.EPIPE) {
		return nil
	}
	return fmt.Errorf("write to stdout: %w", o.err)
}

// list returns s, or an empty slice for nil: JSON then has [] and not null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
