package ios

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/mobile"
)

// Collect implements device.Collector.
func (b *backend) Collect(ctx context.Context, o device.CollectOptions) (device.Collection, error) {
	if a := b.options.appium; a.URL != "" {
		a.Log = o.Log
		return appium.Collect(ctx, a, o)
	}
	booted, err := b.boot(ctx)
	if err != nil {
		return device.Collection{}, err
	}
	if _, err := b.wda.ensure(ctx, booted, b.limits); err != nil {
		return device.Collection{}, err
	}
	c := mobile.NewCollecting(o)
	c.Ask(ctx, "status.json", "GET /status", func(ctx context.Context) (data []byte, err error) {
		err = b.wda.client.Call(ctx, http.MethodGet, "/status", nil, (*json.RawMessage)(&data))
		var status struct{ IOS struct{ IP string } }
		if err == nil && json.Unmarshal(data, &status) == nil {
			c.Identifies(status.IOS.IP)
		}
		return data, err
	})
	opened, err := b.open(ctx, device.Session{ID: "collect", Root: o.Root, Log: o.Log})
	if err != nil {
		c.Failed("session.txt", "start a session", err)
		return c.Done(), nil
	}
	defer opened.Close(ctx)
	c.Is(opened.Info().Product)
	c.AskPicture(ctx, opened)
	c.Identifies(opened.Info().ID)
	if d, ok := opened.(*driver); ok {
		d.collect(ctx, c)
	}
	return c.Done(), nil
}

// collect asks WebDriverAgent.
func (d *driver) collect(ctx context.Context, c *mobile.Collecting) {
	get := func(path string) func(ctx context.Context) ([]byte, error) {
		return func(ctx context.Context) (data []byte, err error) {
			err = d.Session.Read(ctx, "GET "+path, func(ctx context.Context) error { return d.Get(ctx, path, (*json.RawMessage)(&data)) })
			return data, err
		}
	}
	c.Ask(ctx, "device-info.json", "GET /wda/device/info", func(ctx context.Context) ([]byte, error) {
		data, err := get("/wda/device/info")(ctx)
		var about struct{ Name, UUID string }
		if err == nil && json.Unmarshal(data, &about) == nil {
			c.Identifies(about.UUID)
			if about.Name != "iPhone" && about.Name != "iPad" { // else people named it
				c.Identifies(about.Name)
			}
		}
		return data, err
	})
	c.Ask(ctx, "window-size.json", "GET /window/size", get("/window/size"))
	c.Ask(ctx, "screen.json", "GET /wda/screen", get("/wda/screen"))
	c.Ask(ctx, "active-app.json", "GET /wda/activeAppInfo", get("/wda/activeAppInfo"))
	c.Ask(ctx, "server-settings.json", "GET /appium/settings", get("/appium/settings"))
	c.AskScreen(ctx, "source.json", "GET /source?format=json", get("/source?format=json"))
}

var _ device.Collector = (*backend)(nil)
