package studio

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/config"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/live"
	studiopage "github.com/trailblaze/trailblaze/pkg/studio/page"
)

// Options say what the studio is for, and how it opens sessions.
type Options struct {
	Listener net.Listener // on 127.0.0.1; Run closes it
	Token    string       // opens the page; see [URL]
	Project  *config.Project
	Trail    string // the trail to replay and change, absolute; empty for a new recording
	Past     string // the folder of a finished session to look back at, absolute; empty for none
	Choice   Choice // what the first session is opened with

	// Devices returns what can be chosen. It may take some seconds.
	Devices func(ctx context.Context) []DeviceOption
	// Open opens a session. ctx bounds its lifetime. The caller closes the session.
	Open func(ctx context.Context, c Choice) (Opened, error)
	// OnReady is called once, with the URL that opens the page.
	OnReady func(url string)
	// OnUnsaved is called at the end with the file that has what was not saved, relative to the project. The next studio
	// offers to restore it.
	OnUnsaved func(file string)
	// Output returns a text as it may be shown: without secrets. May be nil.
	Output func(text string) string
	// PagesGone is how long the studio goes on after its last page was closed, if nothing is unsaved; 0 for a minute.
	PagesGone time.Duration
	Now       func() time.Time

	shared bool // see [Share]
}

// Choice is what a session is opened with. The rest is that of the command line.
type Choice struct {
	Device          string // the name of a [DeviceOption]; empty for the device that the rest describes
	Memory, Secrets map[string]string
	// Ask answers dialogs of pages, see [live.Options].
	Ask func(ctx context.Context, q device.Question) (a device.Answer, ok bool)
}

// Opened is a session that was opened.
type Opened struct {
	Session *live.RedactedSession
	App     App
}

// App is the app under test, as far as the target says which it is.
type App struct {
	BaseURL string // on the web
	ID      string // on phones
}

// pathOf returns the path of an address of the app, so that what is recorded holds wherever the app runs. Other addresses
// it returns as they are.
func (a App) pathOf(address string) string {
	app, err := url.Parse(a.BaseURL)
	if err != nil || app.Host == "" {
		return address
	}
	path, inApp := strings.CutPrefix(strings.TrimSpace(address), app.Scheme+"://"+app.Host)
	switch {
	case !inApp || strings.HasPrefix(path, "//"):
		return address
	case strings.HasPrefix(path, "/"):
		return path
	case path == "" || strings.ContainsAny(path[:1], "?#"):
		return "/" + path
	}
	return address
}

// URL returns the address that opens the page of a studio at a port.
func URL(port int, token string) string {
	return fmt.Sprintf("http://127.0.0.1:%d/?token=%s", port, token)
}

// Run serves the page until ctx ends, or until all pages have been closed for a while and nothing is unsaved. Every
// session that it opened is closed when it returns.
func Run(ctx context.Context, o Options) error {
	_, serve, err := begin(ctx, o)
	if err != nil {
		return err
	}
	return serve()
}

// begin opens the desk. The caller calls serve, which serves its pages and closes it.
func begin(ctx context.Context, o Options) (d *desk, serve func() error, err error) {
	ctx, cancel := context.WithCancel(ctx)
	endReason := "trailblaze studio has ended"
	if o.shared {
		endReason = "the session has ended"
	}
	s := newServer(serverOptions{
		token: o.Token, port: portOf(o.Listener), files: studiopage.Files(), output: o.Output, pagesGone: o.PagesGone, now: o.Now,
		limits: defaultLimits(), endReason: endReason,
	})
	d = newDesk(ctx, o, s)
	if err := d.start(); err != nil {
		_ = o.Listener.Close()
		cancel()
		d.close()
		return nil, nil, err
	}
	o.OnReady(URL(s.port, o.Token))
	return d, func() error {
		defer d.close()
		defer cancel()
		return s.serve(ctx, o.Listener, d)
	}, nil
}

func portOf(l net.Listener) int {
	if address, ok := l.Addr().(*net.TCPAddr); ok {
		return address.Port
	}
	return 0
}
