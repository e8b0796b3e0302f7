package android

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/device"
)

// List implements device.Lister: the devices that the adb server knows.
func (b *backend) List(ctx context.Context) ([]device.Found, error) {
	_, devices, err := b.devices(ctx)
	if err != nil {
		return nil, err
	}
	found := make([]device.Found, len(devices))
	for i, d := range devices {
		found[i] = device.Found{ID: d.Serial, Name: d.Model, Type: "phone", State: string(d.State)}
		if namesEmulator(d.Serial) {
			found[i].Type = "emulator"
		}
		if d.State == adb.Ready {
			found[i].State = device.Ready
		}
	}
	return found, nil
}

// Identify implements device.Identifier.
func (b *backend) Identify(ctx context.Context) (device.Identity, error) {
	if b.options.appium.URL != "" || b.options.start != "" {
		return device.Identity{}, nil // the server may choose among several, and an emulator may have to be started
	}
	info, err := b.readInfo(ctx)
	return device.Identity{ID: info.ID, Width: info.Width, Height: info.Height}, err
}
