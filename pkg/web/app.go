package web

import (
	"context"
	"errors"
	"fmt"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/web/chromium"
	"github.com/trailblaze/trailblaze/pkg/web/storage"
)

// newApp returns the app of a session with what the environment says of it. The error is for a variable.
func (b *backend) newApp(app device.App) (*chromium.App, error) {
	app, err := chromium.OverrideApp(app, b.options.browser.Env)
	return &chromium.App{App: app, Dir: b.dir, Vars: b.options.browser.Env, Programs: b.options.browser.Programs}, err
}

// CheckApp returns what a session would start or connect to for an app, or an error.
func (b *backend) CheckApp(ctx context.Context, app device.App) (detail string, err error) {
	a, err := b.newApp(app)
	if err != nil {
		return "", err
	}
	if a.URL == "" {
		return a.Find()
	}
	ctx, cancel := context.WithTimeout(ctx, a.Limit())
	defer cancel()
	running, err := a.Start(ctx)
	if err != nil {
		return "", err
	}
	return "connected to " + a.URL, running.Close()
}

// setsSize reports whether pages get a size. The windows of an app keep their own unless the user has set one.
func (d *webDevice) setsSize() bool {
	return d.app == nil || d.backend.options.sized || d.session.Width > 0
}

// openApp starts the app of a session, or connects to it, and waits for its first window and what it shows.
func openApp(ctx context.Context, d *webDevice, state *storage.State) (*browserContext, error) {
	starting, cancel := context.WithTimeout(ctx, d.app.Limit())
	defer cancel()
	running, err := d.app.Start(starting)
	if err != nil {
		return nil, err
	}
	b := &browser{Browser: running, contexts: map[string]*browserContext{}}
	c := b.newContext(ctx, d, "")
	b.app = c
	if err := c.attachApp(starting); err != nil {
		c.close()
		err = d.windowError(b, err)
		_ = b.Close()
		return nil, err
	}
	c.waitForFirstDocument(starting)
	c.allowApp(ctx)
	settingUp, cancel := context.WithTimeout(ctx, d.app.Limit())
	defer cancel()
	c.setUpApp(settingUp, state)
	c.watchers.Go(c.watch)
	return c, nil
}

// attachApp attaches to the windows of an app and makes the first one current, as soon as there is one.
func (c *browserContext) attachApp(ctx context.Context) error {
	if err := c.browser.Attach(ctx, c.browser.onEvent); err != nil {
		return err
	}
	p, err := c.waitForSetup(ctx, func() *page {
		if open := c.openPages(); len(open) > 0 {
			return open[0]
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.makeCurrent(p)
	if c.device.setsSize() {
		return nil
	}
	var layout struct {
		CSSLayoutViewport struct{ ClientWidth, ClientHeight int }
	}
	if err := p.target.Call(ctx, "Page.getLayoutMetrics", nil, &layout); err != nil {
		return err
	}
	c.device.setSize(layout.CSSLayoutViewport.ClientWidth, layout.CSSLayoutViewport.ClientHeight)
	return nil
}

// waitForFirstDocument waits until the first window shows something. An app may have a window that stays blank.
func (c *browserContext) waitForFirstDocument(ctx context.Context) {
	p := c.lastPage()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	_ = p.waitUntil(ctx, func() bool { return p.root.url != "" && p.root.url != "about:blank" })
}

// allowApp allows what the first window shows, as calls that open a page do elsewhere. From now on, windows may show only
// what is allowed.
func (c *browserContext) allowApp(ctx context.Context) {
	address := c.lastPage().url()
	c.device.files.AllowApp(address)
	c.device.origins.AllowApp(address)
	_ = c.device.origins.Request(ctx, address)
	c.device.starting.Store(false)
}

// windowError is the error for an app that runs and has no window that can be driven.
func (d *webDevice) windowError(b *browser, cause error) error {
	switch {
	case d.ctx.Err() != nil:
		return fault.Wrap(fault.Cancelled, cause, "", "starting the app "+b.Name)
	case b.Conn.Err() != nil:
		b.WaitForExit()
		return b.LostError()
	case errors.Is(cause, context.DeadlineExceeded):
		return fault.New(fault.Device, "cdpTimeoutSeconds: under electron: in the file of the target allows more",
			"the app %s did not open a window within %s", b.Name, d.app.Limit())
	}
	return fault.New(fault.Crashed, "", "the app %s cannot be driven: %v", b.Name, cause)
}

// setUpApp does what a session asks for beyond a window. An app may refuse it, which does not fail the start.
func (c *browserContext) setUpApp(ctx context.Context, state *storage.State) {
	refused := func(what string, err error) {
		if err != nil {
			c.device.session.Log("warn", fmt.Sprintf("%s: an Electron app does not allow that: %v", what, err), "")
		}
	}
	c.browser.Conn.Browser().Send("Browser.setDownloadBehavior", c.downloadBehavior())
	if granted := c.device.backend.options.emulation.Granted(); granted != nil {
		refused("permissions were not granted", c.grant(granted)(ctx, nil))
	}
	if state != nil {
		_, err := c.applyState(ctx, *state)
		refused("the storage state was not applied completely", err)
	}
}
