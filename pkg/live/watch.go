package live

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"time"
)

// Frame is a picture of what the device shows.
type Frame struct {
	Picture       []byte  // JPEG or PNG; nil if it is withheld
	Width, Height float64 // of what is shown, in the unit of [Look]
	Withheld      string  // why there is no picture; empty if there is one
}

// defaultWatchInterval is described at Options.WatchInterval.
const defaultWatchInterval = 500 * time.Millisecond

// Watch calls frame with a picture of what the device shows, at once and then whenever that changes, until ctx or the
// session ends. It makes one call of frame at a time, and the next picture is the newest one. Like Look, it does not wait
// for the request that runs. The error is nil after the end of ctx.
func (s *Session) Watch(ctx context.Context, frame func(Frame)) error {
	var last [sha256.Size]byte
	tick := time.NewTicker(cmp.Or(s.opts.WatchInterval, defaultWatchInterval))
	defer tick.Stop()
	for {
		l, err := s.Look(ctx, true)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the caller has ended it
		}
		if err != nil {
			return err
		}
		if sum := sha256.Sum256(append([]byte(l.Withheld), l.Screenshot...)); !bytes.Equal(sum[:], last[:]) {
			last = sum
			frame(Frame{Picture: l.Screenshot, Width: l.Width, Height: l.Height, Withheld: l.Withheld})
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}
