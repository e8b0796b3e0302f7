package mobile

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// errClosed is the cause with which calls of the driver end when the device is closed.
var errClosed = errors.New("the session has ended")

// serial is a Driver that any goroutine may use: its methods run one after another.
type serial struct {
	driver    Driver
	connected time.Time
	slot      chan struct{}   // holds a value while a method runs
	ctx       context.Context //nolint:containedctx // ends when the driver is closed
	cancel    context.CancelFunc
	// closing closes the driver once, with closeErr.
	closing  sync.Once
	closeErr error
	// actions counts what may have changed the screen. settled is the count after which the screen was seen at rest.
	actions, settled atomic.Int64
	acted            atomic.Pointer[time.Time]    // when the last of these ended; nil for none
	last             atomic.Pointer[screen.Tree]  // the newest that was read; nil for none
	lastAfter        atomic.Int64                 // the count before it was read
	touched          atomic.Pointer[screen.Point] // where a finger was first since the last moment; nil for nowhere
}

func newSerial(ctx context.Context, d Driver) *serial {
	s := &serial{driver: d, connected: time.Now(), slot: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancel(ctx)
	return s
}

// close ends the call that runs, and closes the driver. Later calls fail.
func (s *serial) close(ctx context.Context) error {
	s.closing.Do(func() {
		s.cancel()
		s.slot <- struct{}{} // no other call comes after this
		s.closeErr = s.driver.Close(ctx)
	})
	return s.closeErr
}

// exclusive calls the driver while no other call of it runs. The call ends with ctx, and with the driver. The error is
// the cause of ctx if that ends before.
func exclusive[T any](ctx context.Context, s *serial, call func(context.Context, Driver) (T, error)) (result T, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(errClosed) })()
	select {
	case s.slot <- struct{}{}:
	case <-ctx.Done():
		return result, context.Cause(ctx)
	}
	defer func() { <-s.slot }()
	if ctx.Err() != nil {
		return result, context.Cause(ctx)
	}
	return call(ctx, s.driver)
}

// act calls the driver for something that may change the screen.
func (s *serial) act(ctx context.Context, call func(context.Context, Driver) error) error {
	_, err := exclusive(ctx, s, func(ctx context.Context, d Driver) (struct{}, error) {
		s.actions.Add(1)
		err := call(ctx, d)
		now := time.Now()
		s.acted.Store(&now)
		return struct{}{}, err
	})
	return explainError(err)
}

// hasJustActed reports whether less than a time has passed since the last action.
func (s *serial) hasJustActed(within time.Duration) bool {
	acted := s.acted.Load()
	return acted != nil && time.Since(*acted) < within
}

// explainError returns the error of a driver. An *act.UnconfirmedError becomes the cause of a *fault.Error that says
// what it means; the errors in it do not.
func explainError(err error) error {
	unconfirmed, ok := errors.AsType[*act.UnconfirmedError](err)
	if !ok {
		return err
	}
	return &fault.Error{Kind: fault.CallTimeout, Message: unconfirmed.Error(), Hint: unconfirmed.Hint(), Cause: unconfirmed}
}

func (s *serial) Info() Info { return s.driver.Info() }

func (s *serial) Read(ctx context.Context) (Screen, error) { return s.read(ctx, Driver.Read) }

// ReadCells is Read for a device that is not a CellReader.
func (s *serial) ReadCells(ctx context.Context) (Screen, error) {
	return s.read(ctx, func(d Driver, ctx context.Context) (Screen, error) {
		if reader, ok := d.(CellReader); ok {
			return reader.ReadCells(ctx)
		}
		return d.Read(ctx)
	})
}

// ReadLog returns nothing for a device that is not a LogReader.
func (s *serial) ReadLog(ctx context.Context, q LogQuery) (DeviceLog, error) {
	return exclusive(ctx, s, func(ctx context.Context, d Driver) (DeviceLog, error) {
		if reader, ok := d.(LogReader); ok {
			return reader.ReadLog(ctx, q)
		}
		return DeviceLog{}, nil
	})
}

func (s *serial) read(ctx context.Context, read func(Driver, context.Context) (Screen, error)) (Screen, error) {
	return exclusive(ctx, s, func(ctx context.Context, d Driver) (Screen, error) {
		now, err := read(d, ctx)
		if err == nil {
			s.last.Store(now.Tree)
			s.lastAfter.Store(s.actions.Load())
		}
		return now, err
	})
}

func (s *serial) Screenshot(ctx context.Context) ([]byte, error) {
	return exclusive(ctx, s, func(ctx context.Context, d Driver) ([]byte, error) { return d.Screenshot(ctx) })
}

func (s *serial) Touch(ctx context.Context, fingers ...Finger) error {
	if len(fingers) > 0 && len(fingers[0].Path) > 0 {
		s.touched.CompareAndSwap(nil, &fingers[0].Path[0])
	}
	return s.act(ctx, func(ctx context.Context, d Driver) error { return d.Touch(ctx, fingers...) })
}

func (s *serial) SetText(ctx context.Context, text string) error {
	return s.act(ctx, func(ctx context.Context, d Driver) error { return d.SetText(ctx, text) })
}

func (s *serial) Type(ctx context.Context, text string) error {
	return s.act(ctx, func(ctx context.Context, d Driver) error { return d.Type(ctx, text) })
}

func (s *serial) Press(ctx context.Context, key Key) error {
	return s.act(ctx, func(ctx context.Context, d Driver) error { return d.Press(ctx, key) })
}

func (s *serial) HideKeyboard(ctx context.Context) error {
	return s.act(ctx, func(ctx context.Context, d Driver) error { return d.HideKeyboard(ctx) })
}

func (s *serial) Launch(ctx context.Context, l Launch) error {
	return s.act(ctx, func(ctx context.Context, d Driver) error { return d.Launch(ctx, l) })
}

func (s *serial) Stop(ctx context.Context, app string) error {
	return s.act(ctx, func(ctx context.Context, d Driver) error { return d.Stop(ctx, app) })
}

func (s *serial) Clear(ctx context.Context, app string) error {
	return s.act(ctx, func(ctx context.Context, d Driver) error { return d.Clear(ctx, app) })
}

func (s *serial) Grant(ctx context.Context, app string, permissions []string) error {
	return s.act(ctx, func(ctx context.Context, d Driver) error { return d.Grant(ctx, app, permissions) })
}

func (s *serial) Apps(ctx context.Context, system bool) ([]string, error) {
	return exclusive(ctx, s, func(ctx context.Context, d Driver) ([]string, error) { return d.Apps(ctx, system) })
}

func (s *serial) Foreground(ctx context.Context) (string, error) {
	return exclusive(ctx, s, func(ctx context.Context, d Driver) (string, error) { return d.Foreground(ctx) })
}

// alert returns the text of an alert that the screen may lack, empty if none is known.
func (s *serial) alert(ctx context.Context) string {
	reader, ok := s.driver.(AlertReader)
	if !ok {
		return ""
	}
	text, _ := exclusive(ctx, s, func(ctx context.Context, _ Driver) (string, error) { return reader.Alert(ctx) })
	return text
}

// statusBar returns the height of a status bar that the screen may lack, 0 if none is known.
func (s *serial) statusBar(ctx context.Context) int {
	reader, ok := s.driver.(StatusBarReader)
	if !ok {
		return 0
	}
	height, _ := exclusive(ctx, s, func(ctx context.Context, _ Driver) (int, error) { return reader.StatusBar(ctx), nil })
	return height
}

// lock returns why apps cannot be seen, empty if they can be or if that is not known.
func (s *serial) lock(ctx context.Context) string {
	reader, ok := s.driver.(LockReader)
	if !ok {
		return ""
	}
	text, _ := exclusive(ctx, s, func(ctx context.Context, _ Driver) (string, error) { return reader.Lock(ctx) })
	return text
}

func (s *serial) OpenURL(ctx context.Context, url, app string) error {
	return s.act(ctx, func(ctx context.Context, d Driver) error { return d.OpenURL(ctx, url, app) })
}

func (s *serial) Clipboard(ctx context.Context) (string, error) {
	return exclusive(ctx, s, func(ctx context.Context, d Driver) (string, error) { return d.Clipboard(ctx) })
}

func (s *serial) SetClipboard(ctx context.Context, text string) error {
	return s.act(ctx, func(ctx context.Context, d Driver) error { return d.SetClipboard(ctx, text) })
}

func (s *serial) SetNetwork(ctx context.Context, connected bool) error {
	return s.act(ctx, func(ctx context.Context, d Driver) error { return d.SetNetwork(ctx, connected) })
}

func (s *serial) Shell(ctx context.Context, argv []string) (output string, err error) {
	err = s.act(ctx, func(ctx context.Context, d Driver) (err error) {
		output, err = d.Shell(ctx, argv)
		return err
	})
	return output, err
}
