package adb

import (
	"context"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
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

// deviceLine matches a line such as "emulator-5554 device product:p model:Pixel_7 device:d transport_id:1". A serial may
// have spaces: of a phone that was paired twice, it is like "adb-R5CT123-a1b2 (2)._adb-tls-connect._tcp".
var deviceLine = lazyregexp.New(`^(.+?)\s+(no permissions|device|offline|unauthorized|authorizing|connecting|bootloader|host|` +
	`recovery|rescue|sideload|detached|unknown)(?:\s|$)`)

// parseDevices parses the lines of host:devices-l. In one with a state that is not known, the serial has no spaces.
func parseDevices(text string) []Info {
	var list []Info
	for line := range strings.Lines(text) {
		var info Info
		if m := deviceLine().FindStringSubmatch(line); m != nil {
			info = Info{Serial: m[1], State: State(m[2])}
		} else if fields := strings.Fields(line); len(fields) >= 2 {
			info = Info{Serial: fields[0], State: State(fields[1])}
		} else {
			continue
		}
		for field := range strings.FieldsSeq(line) {
			if model, ok := strings.CutPrefix(field, "model:"); ok {
				info.Model = strings.ReplaceAll(model, "_", " ")
			}
		}
		list = append(list, info)
	}
	return list
}
