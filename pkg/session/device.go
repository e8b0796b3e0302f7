package session

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// Backend is a kind of device with what drives devices of it.
type Backend struct {
	device.Kind
	device.Backend
}

// BackendFor returns the backend that serves a driver; ok is false when none does.
func (d Device) BackendFor(driver string) (b Backend, ok bool) {
	i := slices.IndexFunc(d.Backends, func(b Backend) bool { return slices.Contains(b.Drivers, driver) })
	if i < 0 {
		return Backend{}, false
	}
	return d.Backends[i], true
}

// Lineage returns the classifiers of the device, narrow first: what the user says of it, else its platform and what its
// backend reports.
func (d Device) Lineage(ctx context.Context, sc scope.Scope) ([]string, error) {
	if len(d.Classifiers) > 0 {
		return trail.Lineage(d.Classifiers), nil
	}
	classifiers := []string{sc.Driver.Platform.Lower()}
	if b, ok := d.BackendFor(sc.Driver.Key); ok {
		more, err := b.Classifiers(ctx)
		if err != nil {
			return nil, err
		}
		classifiers = append(classifiers, more...)
	}
	return trail.Lineage(classifiers), nil
}

// usedDevice notes whether a call reached the device.
type usedDevice struct {
	device.Device
	used  atomic.Bool
	trace *trace // nil without one
}

// Call implements tool.Caller.
func (d *usedDevice) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	d.used.Store(true)
	result, err := d.Device.Call(ctx, call)
	if d.trace != nil {
		d.trace.add(ctx, call, err != nil || !result.OK)
	}
	return result, err
}

// SetTrailDir makes the device look for relative paths of files beside a trail in this folder.
func (s *Session) SetTrailDir(dir string) {
	s.opts.TrailDir = dir
	if s.device == nil {
		return
	}
	if d, ok := s.device.Device.(interface{ SetTrailDir(dir string) }); ok {
		d.SetTrailDir(dir)
	}
}

// identify asks the backend which device the session will use, for servers and their tools, as far as the user has not
// said it. A device that does not respond is reported when a call needs it.
func (s *Session) identify() {
	d, driver := s.opts.Device, s.opts.Scope.Driver
	b, ok := d.BackendFor(driver.Key)
	identifier, can := b.Backend.(device.Identifier)
	if !ok || !can || len(s.entries) == 0 || d.ID != "" && d.Width > 0 {
		return
	}
	found, err := identifier.Identify(s.ctx)
	if err != nil {
		return
	}
	if b.IDOption == "" { // such as a browser
		found.ID = cmp.Or(d.Name, driver.Platform.Lower())
	}
	s.identity.ID = cmp.Or(d.ID, found.ID, d.Name)
	if d.Width == 0 {
		s.identity.Width, s.identity.Height = found.Width, found.Height
	}
}

// openDevice opens the scope's device, if a backend has it. It starts the device if a known call needs it, unless that
// is delayed.
func (s *Session) openDevice() {
	driver := s.opts.Scope.Driver
	b, ok := s.opts.Device.BackendFor(driver.Key)
	if !ok {
		return
	}
	s.device = &usedDevice{Device: b.Open(device.Session{
		ID: s.opts.ID, Title: s.opts.Redactor.Text(s.opts.Title), TrailDir: s.opts.TrailDir, Root: s.opts.Project.Root,
		WorkingDir: s.opts.Project.WorkingDir, BaseURL: s.targetBaseURL(),
		Driver: driver.Key, Baselines: s.opts.Baselines, AppID: s.opts.Scope.AppID, AppIDs: s.opts.Scope.AppIDs(),
		App: device.App(s.opts.Project.ElectronFor(s.opts.Scope.Target.ID)), Width: s.opts.Device.Width, Height: s.opts.Device.Height,
		Log:    func(level, message, hint string) { s.opts.Emit.Log(level, b.Name, message, hint) },
		Keep:   func(a device.Artifact) (string, error) { return s.keep("screens", a) },
		Noted:  func(kind, text string) { s.opts.Emit.Emit(event.DeviceNoted{Kind: kind, Text: text}) },
		Broken: func(err error) { s.cancel(err) },
		Live:   s.opts.Live, References: s.opts.References, RestrictOrigins: s.opts.RestrictOrigins, AllowedOrigins: s.opts.AllowedOrigins,
		Redact: s.opts.Redactor.Text, Outcome: s.outcome.Load, Ask: s.opts.Ask,
	})}
	s.device.trace = s.newTrace(s.device.Device)
	s.needed = slices.ContainsFunc(s.opts.Tools, func(name string) bool {
		return slices.ContainsFunc(b.Commands(), func(c tool.Advertised) bool { return c.Name == name })
	})
	if !s.opts.DelayDevice {
		s.StartDevice()
	}
}

// deviceSource returns the commands of the device as a source.
func (s *Session) deviceSource() discover.Source {
	driver := s.opts.Scope.Driver
	b, ok := s.opts.Device.BackendFor(driver.Key)
	if !ok {
		return discover.Source{Source: tool.Source{Kind: tool.FromDevice, Name: driver.Key}, OfKind: s.opts.DeviceCommands}
	}
	return discover.Source{
		Source: tool.Source{Kind: tool.FromDevice, Name: b.Name}, Tools: b.Commands(), Caller: s.device, Instead: b.Instead,
		OfKind: s.opts.DeviceCommands,
	}
}

// StartDevice starts the device if one of Options.Tools needs it, and returns at once.
func (s *Session) StartDevice() {
	if s.needed {
		s.device.Prepare()
	}
}

// targetBaseURL returns the address of the target on the platform; empty when it has none.
func (s *Session) targetBaseURL() string {
	return s.opts.Project.BaseURLFor(s.opts.Scope.Target.ID, s.opts.Scope.Driver.Platform)
}

// Size returns the size of the screen in pixels: as configured, else as the device reports it, else as it was before the
// session, else 0.
func (s *Session) Size() (width, height int) {
	if s.opts.Device.Width == 0 && s.device != nil {
		width, height = s.device.Size()
	}
	if width == 0 {
		return s.identity.Width, s.identity.Height
	}
	return width, height
}

// Product returns which browser or device the session has used, such as Chrome 140.0; empty when it used none, or when
// that is not known.
func (s *Session) Product() string {
	if s.device == nil || !s.device.used.Load() {
		return ""
	}
	producer, ok := s.device.Device.(device.ProductReporter)
	if !ok {
		return ""
	}
	return producer.Product()
}

// View returns what is on the screen of the device, and starts the device if needed. It may be called while a call is
// running. It ends the session when the device cannot be used any more.
func (s *Session) View(ctx context.Context, o device.ViewOptions) (device.View, error) {
	return look(ctx, s, func(ctx context.Context, d device.Viewer) (device.View, error) { return d.View(ctx, o) })
}

// Locate returns an element of the screen and the selectors that recordings could use for it. All that is said of View
// holds for it, too.
func (s *Session) Locate(ctx context.Context, at device.Place) (device.Location, error) {
	return look(ctx, s, func(ctx context.Context, d device.Locator) (device.Location, error) { return d.Locate(ctx, at) })
}

// Screencast calls frame with pictures of the screen, as [device.Screencaster] says. All that is said of View holds for
// it, too.
func (s *Session) Screencast(ctx context.Context, frame func(device.Frame)) error {
	_, err := look(ctx, s, func(ctx context.Context, d device.Screencaster) (struct{}, error) {
		return struct{}{}, d.Screencast(ctx, frame)
	})
	return err
}

// HasScreencast reports whether the device sends pictures by itself.
func (s *Session) HasScreencast() bool {
	if s.device == nil {
		return false
	}
	_, ok := s.device.Device.(device.Screencaster)
	return ok
}

// look calls the device of a session for something that it shows. D is what the device has to be.
func look[D, T any](ctx context.Context, s *Session, show func(context.Context, D) (T, error)) (shown T, err error) {
	if err := s.Err(); err != nil {
		return shown, err
	}
	if s.device == nil {
		return shown, fault.New(fault.ToolFailed, "choose a driver that trailblaze can drive, such as playwright-native",
			"the session has no device: trailblaze does not drive %s", s.opts.Scope.Driver.Key)
	}
	d, ok := s.device.Device.(D)
	if !ok {
		return shown, fault.New(fault.ToolFailed, "take a screenshot with captureScreen",
			"a device of driver %s cannot show its screen as a list of elements", s.opts.Scope.Driver.Key)
	}
	ctx, cancel := s.callContext(ctx)
	defer cancel()
	s.device.used.Store(true)
	shown, err = show(ctx, d)
	if fault.KindOf(err) == fault.Crashed {
		s.cancel(err)
	}
	return shown, err
}

// DeviceIsExclusive reports whether the device keeps other sessions out until it is released.
func (s *Session) DeviceIsExclusive() bool {
	if s.device == nil {
		return false
	}
	_, ok := s.device.Device.(device.Releaser)
	return ok
}

// ReleaseDevice lets another session use the device until this one uses it again. released is false if nothing has used
// the device, or if it does not keep other sessions out.
func (s *Session) ReleaseDevice(ctx context.Context) (released bool, err error) {
	if s.device == nil {
		return false, nil
	}
	releaser, ok := s.device.Device.(device.Releaser)
	if !ok {
		return false, nil
	}
	return s.UsedDevice(), releaser.Release(ctx)
}

// SetOutcome says how the session has ended, for the device. It is called before Close.
func (s *Session) SetOutcome(passed bool, reason string) {
	s.outcome.Store(&device.Outcome{Passed: passed, Reason: s.opts.Redactor.Text(reason)})
}

// UsedDevice reports whether a call reached the device, or its screen was read.
func (s *Session) UsedDevice() bool { return s.device != nil && s.device.used.Load() }
