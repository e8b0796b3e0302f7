package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/event"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// Device is a kind of device, and what the run has of it.
type Device struct {
	device.Kind
	Backend device.Backend
}

// deviceFor returns the device that serves a driver; ok is false when none does.
func (s Setup) deviceFor(driver string) (d Device, ok bool) {
	i := slices.IndexFunc(s.Devices, func(d Device) bool { return slices.Contains(d.Drivers, driver) })
	if i < 0 {
		return Device{}, false
	}
	return s.Devices[i], true
}

// sessionDevice notes whether the device of a session was ever needed.
type sessionDevice struct {
	device.Device
	used atomic.Bool
}

// Call implements tool.Caller.
func (d *sessionDevice) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	d.used.Store(true)
	return d.Device.Call(ctx, call)
}

// openDevice adds the commands of the scope's device to the session. A device that a recorded call needs begins to start.
func (s *session) openDevice(o opening) discover.Source {
	d, ok := s.setup.deviceFor(s.scope.Driver.Key)
	if !ok {
		return discover.Source{Source: tool.Source{Kind: tool.FromDevice, Name: s.scope.Driver.Key}, Missing: device.Commands()}
	}
	s.device = &sessionDevice{Device: d.Backend.Open(device.Session{
		ID: s.id, TrailDir: o.trailDir, Root: s.setup.Project.Root, BaseURL: s.baseURLOfTarget(), Width: s.setup.Width, Height: s.setup.Height,
		Log:    func(level, message, hint string) { s.emit.Log(level, d.Name, message, hint) },
		Keep:   func(a device.Artifact) (string, error) { return s.keep("screens", a) },
		Broken: func(err error) { s.cancel(err) },
	})}
	has := func(name string) bool {
		return slices.ContainsFunc(d.Commands, func(c tool.Advertised) bool { return c.Name == name })
	}
	s.wanted = slices.ContainsFunc(o.needs, has)
	if !o.ahead {
		s.begin()
	}
	return discover.Source{
		Source: tool.Source{Kind: tool.FromDevice, Name: d.Name}, Tools: d.Commands, Caller: s.device,
		Missing: slices.DeleteFunc(device.Commands(), has),
	}
}

// begin has the device start, if a recorded call needs it.
func (s *session) begin() {
	if s.wanted {
		s.device.Prepare()
	}
}

// baseURLOfTarget is what the target's entry for the platform says; empty when it says nothing.
func (s *session) baseURLOfTarget() string {
	t, _ := s.setup.Project.FindTarget(s.scope.Target.ID)
	return t.Platforms[s.scope.Driver.Platform].BaseURL
}

// size is what the user said, else what the device has.
func (s *session) size() (width, height int) {
	if s.setup.Width > 0 || s.device == nil {
		return s.setup.Width, s.setup.Height
	}
	return s.device.Size()
}

// When evidence of the device is kept.
const (
	EvidenceOnFailure = "failure"
	EvidenceAlways    = "always"
	EvidenceOff       = "off"
)

// evidenceTime is what a device may take to show what it sees; one that hangs must not hold up the next trail for long.
const evidenceTime = 10 * time.Second

// collect keeps what the device shows, in a folder of the session. A device that was never needed has nothing to show, and who
// interrupts a run wants it to end.
func (s *session) collect(ctx context.Context, folder string) {
	if s.device == nil || !s.device.used.Load() || s.dir == "" {
		return
	}
	if kind := fault.KindOf(outside(ctx)); kind == fault.Interrupted || kind == fault.Terminated {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), evidenceTime)
	defer cancel()
	for _, a := range s.device.Evidence(ctx) {
		if _, err := s.keep(folder, a); err != nil {
			s.setup.unwritable(err)
			return
		}
	}
}

// keep writes a file into a folder of the session and tells of it; path is absolute. Files of one name get numbers.
func (s *session) keep(folder string, a device.Artifact) (path string, err error) {
	if s.dir == "" {
		return "", fault.New(fault.ToolFailed, "", "nothing is kept of this session")
	}
	dir := filepath.Join(s.dir, filepath.FromSlash(folder))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	data := a.Data
	if a.Text {
		data = []byte(s.setup.Redactor.Text(string(data)))
	}
	ext := filepath.Ext(a.Name)
	name := fileName(s.setup.Redactor.Text(a.Name[:len(a.Name)-len(ext)]))
	file, err := createNew(dir, name, ext)
	if err != nil {
		return "", err
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", err
	}
	path = file.Name()
	below, _ := filepath.Rel(s.dir, path) // it is below
	s.emit.Emit(event.Evidence{File: filepath.ToSlash(below), Title: cmp.Or(a.Title, name), Step: int(s.step.Load())})
	return path, nil
}

// createNew creates a file that was not there, with a number in its name if it must.
func createNew(dir, name, ext string) (*os.File, error) {
	path := filepath.Join(dir, name+ext)
	for n := 2; ; n++ {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if !os.IsExist(err) {
			return file, err
		}
		path = filepath.Join(dir, fmt.Sprintf("%s-%d%s", name, n, ext))
	}
}
