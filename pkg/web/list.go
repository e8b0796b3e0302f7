package web

import (
	"context"

	"github.com/trailblaze/trailblaze/pkg/device"
)

// List implements device.Lister: the one browser that a session would connect to or start, by its address or path.
func (b *backend) List(context.Context) ([]device.Found, error) {
	name := b.options.browser.CDPURL
	if name == "" {
		path, err := b.options.browser.Find()
		if err != nil {
			return nil, err
		}
		name = path
	}
	return []device.Found{{Name: name, Type: "browser", State: device.Ready}}, nil
}

// Identify implements device.Identifier.
func (b *backend) Identify(context.Context) (device.Identity, error) {
	return device.Identity{Width: b.options.width, Height: b.options.height}, nil
}
