package workspace

import (
	"context"
	"errors"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/scope"
)

// Found is a device that a session can name, as JSON too.
type Found struct {
	Use      string `json:"use"` // what --device takes
	Platform string `json:"platform"`
	ID       string `json:"id,omitempty"`   // the platform's identifier
	Name     string `json:"name,omitempty"` // for people
	Type     string `json:"type,omitempty"` // phone, emulator, simulator or browser
	State    string `json:"state"`          // device.Ready, or why a session cannot use it now
}

// Ready reports whether a session can use the device.
func (f Found) Ready() bool { return f.State == device.Ready }

// ListDevices returns the devices of the project, and those that are found on this machine, of one platform if it is
// not empty. problems has why none was found, by what --device takes.
func (w *Workspace) ListDevices(ctx context.Context, platform string) (found []Found, problems map[string]error) {
	problems = map[string]error{}
	for _, k := range w.Kinds {
		name := kindName(k)
		if platform != "" && platform != name {
			continue
		}
		onMachine, err := w.findDevices(ctx, k, config.Device{})
		if err != nil {
			problems[name] = err
		}
		known := map[string]bool{}
		for _, d := range w.Project.Devices {
			if platformOf(d) == name {
				f, err := w.findListed(ctx, k, d, onMachine)
				if err != nil {
					problems[d.Name] = err
				}
				known[f.ID] = true
				found = append(found, f)
			}
		}
		for _, m := range onMachine {
			if m.ID == "" && len(known) == 0 || m.ID != "" && !known[m.ID] {
				found = append(found, newFound(name, m))
			}
		}
	}
	return found, problems
}

func newFound(platform string, m device.Found) Found {
	use := platform
	if m.ID != "" {
		use += ":" + m.ID
	}
	return Found{Use: use, Platform: platform, ID: m.ID, Name: m.Name, Type: m.Type, State: m.State}
}

// findListed returns a device of the project with what is found of it on this machine: the device with its id, or else
// the first one that is ready.
func (w *Workspace) findListed(ctx context.Context, k device.Kind, d config.Device, onMachine []device.Found) (f Found, err error) {
	f = Found{Use: d.Name, Platform: kindName(k), ID: d.ID, State: "not found"}
	if len(d.Settings) > 0 {
		if onMachine, err = w.findDevices(ctx, k, d); err != nil {
			return f, err
		}
	}
	for _, m := range onMachine {
		if d.ID == m.ID || d.ID == "" && m.State == device.Ready {
			f.ID, f.Name, f.Type, f.State = m.ID, m.Name, m.Type, m.State
			return f, nil
		}
	}
	return f, nil
}

// findDevices asks a backend with the settings of a device of the project.
func (w *Workspace) findDevices(ctx context.Context, k device.Kind, d config.Device) ([]device.Found, error) {
	values, err := w.OptionValues(d, w.DeviceOptions)
	if err != nil {
		return nil, err
	}
	backend, err := w.NewBackend(k, values[k.Name])
	if err != nil {
		return nil, err
	}
	var found []device.Found
	if lister, ok := backend.(device.Lister); ok {
		found, err = lister.List(ctx)
	}
	return found, errors.Join(err, backend.Close(ctx))
}

// platformOf returns the platform of a device of the project; empty when its sessions decide it.
func platformOf(d config.Device) string {
	if driver, ok := scope.ParseDriver(d.Driver); ok {
		return driver.Platform.Lower()
	}
	return d.Platform
}
