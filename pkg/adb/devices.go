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
	Serial string
	State  State
	Model  string // for people, such as Pixel 7; empty unless the device is Ready
}

// Devices returns the devices that the server knows, in its order.
func (s Server) Devices(ctx context.Context) ([]Info, error) {
	text, err := s.query(ctx, "listing the Android devices", "host:devices-l")
	if err != nil {
		return nil, err
	}
	return parseDevices(text), nil
}

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
			if model, ok := strings.CutPrefix(field, "model:"); ok {
				info.Model = strings.ReplaceAll(model, "_", " ")
			}
		}
		list = append(list, info)
	}
	return list
}
