package appium

import (
	"context"
	"encoding/json"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/mobile"
)

// Collect asks the device of a session that it starts, and ends.
func Collect(ctx context.Context, o Options, collect device.CollectOptions) (device.Collection, error) {
	c := mobile.NewCollecting(collect)
	opened, err := Open(ctx, o)
	if err != nil {
		c.Failed("session.txt", "POST /session", err)
		return c.Done(), nil
	}
	defer opened.Close(ctx)
	c.Is(opened.Info().Product)
	c.AskPicture(ctx, opened)
	c.Identifies(opened.Info().ID)
	var d *driver
	switch opened := opened.(type) {
	case *androidDriver:
		d = opened.driver
	case *iosDriver:
		d = opened.driver
		c.AskScreen(ctx, "source.json", "mobile: source", func(ctx context.Context) ([]byte, error) { return opened.sourceJSON(ctx) })
	}
	c.Ask(ctx, "capabilities.json", "POST /session", func(context.Context) ([]byte, error) { return json.MarshalIndent(d.Capabilities(), "", "  ") })
	for _, q := range []struct{ file, path string }{{"window-rect.json", "/window/rect"}, {"server-settings.json", "/appium/settings"}} {
		c.Ask(ctx, q.file, "GET "+q.path, func(ctx context.Context) (data []byte, err error) {
			err = d.Read(ctx, "GET "+q.path, func(ctx context.Context) error { return d.Get(ctx, q.path, (*json.RawMessage)(&data)) })
			return data, err
		})
	}
	c.AskScreen(ctx, "source.xml", "GET /source", func(ctx context.Context) ([]byte, error) {
		var text string
		err := d.Read(ctx, "GET /source", func(ctx context.Context) (err error) {
			text, err = d.Source(ctx)
			return err
		})
		return []byte(text), err
	})
	return c.Done(), nil
}
