package studio

import (
	"context"
	"sync"
)

// line lets requests have their turn one after another, in the order in which they joined.
type line struct {
	mu   sync.Mutex
	last chan struct{} // closed when the last one that joined has left
}

// join returns a function that waits for the turn, which the caller calls once, and ends with what leaves the line. Its
// error is that of a context that ended before.
func (l *line) join() (turn func(ctx context.Context) (leave func(), err error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, mine := l.last, make(chan struct{})
	l.last = mine
	return func(ctx context.Context) (func(), error) {
		if before == nil {
			return func() { close(mine) }, nil
		}
		select {
		case <-before:
			return func() { close(mine) }, nil
		case <-ctx.Done():
			go func() {
				<-before
				close(mine)
			}()
			return nil, context.Cause(ctx)
		}
	}
}
