package live

import (
	"bytes"
	"cmp"
	"context"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/event"
)

// Frame is a picture of what the device shows.
type Frame struct {
	Picture       []byte  // JPEG or PNG; nil if it is withheld
	Width, Height float64 // of what is shown, in the unit of [Look]; 0 if it is not known
	Withheld      string  // why the picture is missing; empty if it is not
}

const (
	// defaultWatchInterval is described at Options.WatchInterval.
	defaultWatchInterval = 500 * time.Millisecond
	// frameInterval is the shortest time between two pictures of a device that sends them by itself.
	frameInterval = time.Second / 15
)

// Watch calls frame with a picture of what the device shows, at once and then whenever that changes, until ctx or the
// session ends. It makes one call of frame at a time, and the next picture is the newest one. Like Look, it does not wait
// for the request that runs, but it waits while a replay uses the device. The error is nil after the end of ctx, and else
// says why the session or its device cannot be used.
func (s *Session) Watch(ctx context.Context, frame func(Frame)) (err error) {
	if s.inner.HasScreencast() {
		err = s.watchScreencast(ctx, frame)
	} else {
		s.watchLooks(ctx, frame)
	}
	if ended := s.Err(); ended != nil {
		err = ended
	}
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the caller has ended it
	}
	return err
}

// watchScreencast passes on the pictures that the device sends. Once it was given a secret, they are checked.
func (s *Session) watchScreencast(ctx context.Context, frame func(Frame)) error {
	return s.inner.Screencast(ctx, func(f device.Frame) {
		next := time.After(frameInterval)
		if f.Picture != nil {
			frame(Frame{Picture: f.Picture, Width: f.Width, Height: f.Height})
		} else {
			frame(s.checkedFrame(ctx))
		}
		select {
		case <-next:
		case <-ctx.Done():
		}
	})
}

// watchLooks takes a picture after each call and at an interval, until ctx or the session ends.
func (s *Session) watchLooks(ctx context.Context, frame func(Frame)) {
	events, stop := s.Subscribe(1)
	defer stop()
	tick := time.NewTicker(cmp.Or(s.opts.WatchInterval, defaultWatchInterval))
	defer tick.Stop()
	var shown Frame
	for {
		if s.lent.TryRLock() { // else a replay uses the device
			f := s.checkedFrame(ctx)
			s.lent.RUnlock()
			if (f.Withheld != shown.Withheld || !bytes.Equal(f.Picture, shown.Picture)) && ctx.Err() == nil {
				shown = f
				frame(f)
			}
		}
		if !s.nextLook(ctx, events, tick.C) {
			return
		}
	}
}

// nextLook waits until a call has ended or the interval has passed. It returns false when nobody looks any more.
func (s *Session) nextLook(ctx context.Context, events <-chan event.Event, tick <-chan time.Time) bool {
	for {
		select {
		case e, open := <-events:
			if !open {
				events = nil // the session has none, or ends
				continue
			}
			switch e.(type) {
			case event.CallFinished, event.Lost: // a lost one may have been the end of a call
				return true
			}
		case <-tick:
			return true
		case <-s.Done():
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// checkedFrame takes a picture that shows no secret.
func (s *Session) checkedFrame(ctx context.Context) Frame {
	v, err := s.peek(ctx, true)
	if err != nil {
		return Frame{Withheld: "the screen could not be read: " + err.Error()}
	}
	return Frame{Picture: v.Screenshot, Width: v.Geometry.Width, Height: v.Geometry.Height, Withheld: v.Withheld}
}
