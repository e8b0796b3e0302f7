package adb

import (
	"context"
	"strings"
)

// State is what the server knows of a device: Ready, or why it cannot be used.
type State string

// The states that callers tell apart. The server has others, such as recovery and bootloader.
const (
	Ready        State = "device"
	Offline      State = "offline"
	Unauthorized State = "unauthorized"
	NoPermission State = "no permissions"
)

// Info describes a device that the server knows.
type Info struct {
	Serial      string
	State       State
	Product     string
	Model       string // for people, such as Pixel 7; empty unless the device is Ready
	TransportID string // differs after the device was connected again
}

// Devices returns the devices that the server knows, in its order.
func (s Server) Devices(ctx context.Context) ([]Info, error) {
	text, err := s.query(ctx, "listing the Android devices", "host:devices-l")
	if err != nil {
		return nil, err
	}
	return parseDevices(text), nil
}

// Tracker reports changes of the devices. The caller must close it.
type Tracker struct {
	server Server
	conn   *conn
}

const tracking = "tracking the Android devices"

// Track starts to report the devices whenever they change. ctx limits the start.
func (s Server) Track(ctx context.Context) (*Tracker, error) {
	limited, cancel := context.WithTimeoutCause(ctx, s.limit, errTimeout)
	defer cancel()
	c, err := s.connect(limited)
	if err != nil {
		return nil, s.newFault(limited, tracking, err)
	}
	err = c.request("host:track-devices-l")
	if err == nil {
		err = c.unbind()
	}
	if err != nil {
		_ = c.Close()
		return nil, s.newFault(limited, tracking, err)
	}
	return &Tracker{s, c}, nil
}

// Next returns the devices: at once for the first call, and when they have changed for others. After an error the
// tracker can only be closed.
func (t *Tracker) Next(ctx context.Context) ([]Info, error) {
	t.conn.bind(ctx)
	text, err := t.conn.block()
	if err == nil {
		err = t.conn.unbind()
	}
	if err != nil {
		return nil, t.server.newFault(ctx, tracking, err)
	}
	return parseDevices(text), nil
}

// Close closes the connection.
func (t *Tracker) Close() { _ = t.conn.Close() }

// parseDevices parses lines such as "emulator-5554 device product:p model:Pixel_7 device:d transport_id:1".
func parseDevices(text string) []Info {
	var list []Info
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		info := Info{Serial: fields[0], State: State(fields[1])}
		if info.State == "no" {
			info.State = NoPermission
		}
		for _, field := range fields[2:] {
			switch key, value, _ := strings.Cut(field, ":"); key {
			case "product":
				info.Product = value
			case "model":
				info.Model = strings.ReplaceAll(value, "_", " ")
			case "transport_id":
				info.TransportID = value
			}
		}
		list = append(list, info)
	}
	return list
}
