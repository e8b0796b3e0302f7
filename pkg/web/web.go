// Package web is the kind of device for web pages, in Chrome, Chromium or Edge over the DevTools protocol
// (specification, section 15.1).
//
// It is independent of memory and trails, writes no files except the browser's profile, and never sleeps for a fixed
// time. A device may be called from any goroutine; its calls run one after another.
package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/web/access"
	"github.com/trailblaze/trailblaze/pkg/web/chromium"
	"github.com/trailblaze/trailblaze/pkg/web/downloads"
	"github.com/trailblaze/trailblaze/pkg/web/emulation"
	"github.com/trailblaze/trailblaze/pkg/web/network"
	"github.com/trailblaze/trailblaze/pkg/web/notes"
	"github.com/trailblaze/trailblaze/pkg/web/storage"
)

// electronDriver is the key of the driver for Electron apps.
const electronDriver = "playwright-electron"

// Kind returns the kind of device for the drivers playwright-native and playwright-electron.
func Kind() device.Kind {
	return device.Kind{
		Name: "web", Drivers: []string{"playwright-native", electronDriver}, DoctorCheck: "browser", Commands: sync.OnceValue(advertised), New: newBackend,
		Restricted:  []string{"evaluateJs", "web_evaluate", "web_uploadFile", "web_route", "web_getStorageState", "web_applyStorageState"},
		AllowedWith: map[string]string{"web_route": "abort"}, CheckForAgent: checkForAgent,
		Checks: append(device.CoreChecks(), "waitForSelector", "web_waitForUrl", "web_verifyTextVisible",
			"web_verifyElementVisible", "web_verifyValue", "web_verifyListVisible", "web_verifyTextNotVisible",
			"web_verifyElementNotVisible", "web_verifyCount", "web_verifyState", "web_verifyUrl", "web_verifyTitle",
			"web_verifyAriaSnapshot", "web_verifyAccessibility", device.AssertWaypoint, "web_waitForTab", "web_waitForDownload", "web_verifyDialog", "web_waitForRequest",
			"web_waitForResponse", "web_assertNetworkEvent", "verifyScreenshot"),
		Reads: append(device.CoreReads(), "findMatches", "web_currentUrl", "web_getStorageState", "web_getText", "web_listTabs",
			"web_requestDetails", "web_snapshot", "web_wait"),
		Primary: []string{
			"web_navigate", "web_click", "web_type", "web_selectOption", "web_setChecked", "web_pressKey", "web_hover", "web_scroll",
			"web_handleDialog", "web_waitForTab",
		},
		PrimaryChecks: []string{
			"web_verifyTextVisible", "web_verifyTextNotVisible", "web_verifyElementVisible", "web_verifyElementNotVisible",
			"web_verifyValue", "web_verifyListVisible", "web_verifyCount", "web_verifyState", "web_verifyUrl",
		},
		StartCommands: append(device.CoreStartCommands(), "navigate", "web_navigate", "web_applyCookies", "web_resize", "web_handleDialog",
			"web_applyStorageState", "web_route", "web_unroute", "web_setClock"),
		Options: append([]device.Option{
			{
				Key:   "browser",
				Flag:  "browser",
				Env:   "TRAILBLAZE_BROWSER",
				Usage: "`PATH` or name of the Chrome, Chromium or Edge to use",
			},
			{
				Key: "cdpUrl", Flag: "cdp-url", Env: "TRAILBLAZE_CDP_URL",
				Usage: "`URL` of a browser that runs already: http://HOST:PORT or ws://…",
			},
			{Key: "headed", Flag: "headed", Usage: "show the browser", Switch: true},
			{
				Key: "allowFile", Flag: "allow-file",
				Usage: "`FOLDERS` outside of the project whose files pages may be read from, separated as in PATH",
			},
			{
				Key: "allowedOrigins", Flag: "allow-origin", List: true,
				Usage: "`ORIGINS` whose pages may be opened where that is restricted, separated by commas or each with the flag: https://HOST:PORT",
			},
			{Key: "strict", Usage: "fail when several elements match", Switch: true},
			{Key: "actionTimeout", Usage: "how long actions wait for their element", Default: "10s"},
			{Key: "assertionTimeout", Usage: "how long assertions wait", Default: "5s"},
			{Key: "navigationTimeout", Usage: "how long pages may take to load", Default: "30s"},
			{Key: "testIdAttribute", Usage: "the attribute that dataTestId means", Default: defaultTestID},
			{Key: "viewport", Flag: "viewport", Usage: "`SIZE` of web pages in pixels", Default: defaultViewport},
			{
				Key: "storageState", Flag: "storage-state", Path: true,
				Usage: "`FILE` with cookies and local storage of web pages, as web_getStorageState or Playwright writes it",
			},
		}, emulation.Options()...),
	}
}

// advertised returns the commands as sessions list them.
func advertised() []tool.Advertised {
	var list []tool.Advertised
	for _, c := range commands() {
		list = append(list, c.Advertised)
	}
	return list
}

// handler runs a command on a page. An error becomes a failed result, except one of kind Crashed or Cancelled, which
// the call returns as it is.
type handler func(ctx context.Context, p *page, args map[string]any) (tool.Result, error)

// command is an advertised command with its handler.
type command struct {
	tool.Advertised
	run handler
	// withoutPage says that the command works when no page is current. Its page may then be one that was closed.
	withoutPage bool
}

// options are the user's settings.
type options struct {
	browser        chromium.Options
	width, height  int
	allowFile      []string // folders
	allowedOrigins []string
	strict         bool // an element must be the only one that matches
	limits         limits
	storageState   string // path of a file; empty for none
	emulation      emulation.Device
	sized          bool   // the user has set the size of pages
	testID         string // the attribute with the test ids of elements
}

func newOptions(host device.Host) (options, error) {
	v := host.Values
	o := options{
		browser: chromium.Options{
			Browser: v["browser"], CDPURL: v["cdpUrl"], Headed: v["headed"] == "true",
			Root: os.Geteuid() == 0, Env: host.Env, Programs: host.Programs,
		},
		storageState: v["storageState"], strict: v["strict"] == "true",
	}
	var err error
	if o.limits, err = readLimits(v); err != nil {
		return o, err
	}
	if o.testID, err = readTestID(v["testIdAttribute"]); err != nil {
		return o, err
	}
	if o.allowFile, err = access.ReadFolders(v["allowFile"]); err != nil {
		return o, err
	}
	if o.allowedOrigins, err = access.ReadOrigins(v["allowedOrigins"]); err != nil {
		return o, err
	}
	if err = storage.CheckFile(o.storageState); err != nil {
		return o, err
	}
	var width, height int
	if o.emulation, width, height, err = emulation.Read(v); err != nil {
		return o, err
	}
	o.sized = v["viewport"]+v["deviceScaleFactor"] != "" || width > 0
	size := cmp.Or(v["viewport"], defaultViewport)
	if width > 0 && v["viewport"] == "" {
		size = fmt.Sprintf("%dx%d", width, height)
	}
	w, h, _ := strings.Cut(strings.ToLower(size), "x")
	var widthErr, heightErr error
	o.width, widthErr = strconv.Atoi(w)
	o.height, heightErr = strconv.Atoi(h)
	if errors.Join(widthErr, heightErr) != nil || min(o.width, o.height) < 1 || max(o.width, o.height) > maxSide {
		return o, fault.New(fault.Misuse, "", "viewport: %q is not a size in pixels; write it like 1280x800", size)
	}
	known := []string{"http://", "https://", "ws://", "wss://"}
	address := o.browser.CDPURL
	if address != "" && !slices.ContainsFunc(known, func(scheme string) bool { return strings.HasPrefix(address, scheme) }) {
		return o, fault.New(fault.Misuse, "write it like http://HOST:PORT or ws://…",
			"cdpUrl: %q is not a URL with one of the schemes %s", address, strings.Join(known, ", "))
	}
	return o, nil
}

// defaultViewport is the size of pages unless configured (specification, section 15.1).
const defaultViewport = "1280x800"

// maxSide is the largest width and height that Chromium accepts for a page, in pixels.
const maxSide = 10_000_000

// backend starts and stops the browser of a run. It implements device.Backend.
type backend struct {
	options  options
	commands func() map[string]command // by name
	script   string                    // page.js
	dir      string                    // of the project, absolute
	ctx      context.Context           //nolint:containedctx // ends when the backend is closed
	cancel   context.CancelFunc

	mu      sync.Mutex
	current *browserStart
}

// browserStart is the start of a browser. done is closed when browser or err is set.
type browserStart struct {
	done    chan struct{}
	browser *browser
	err     error
}

func newBackend(host device.Host) (device.Backend, error) {
	o, err := newOptions(host)
	if err != nil {
		return nil, err
	}
	b := &backend{
		options: o, commands: sync.OnceValue(commandsByName), script: pageScript(o.testID), dir: host.Dir,
	}
	b.ctx, b.cancel = context.WithCancel(context.Background()) //nolint:forbidigo // a run belongs to no call
	return b, nil
}

// Open implements device.Backend.
func (b *backend) Open(session device.Session) device.Device {
	d := &webDevice{
		backend: b, session: session, notes: &notes.Notes{}, callSlot: make(chan struct{}, 1),
		width: b.options.width, height: b.options.height, limits: b.options.limits,
		files:     access.NewFiles(session, b.options.allowFile),
		origins:   access.NewOrigins(session, b.options.allowedOrigins),
		worldName: "trailblaze " + rand.Text(),
	}
	d.notes.Noted = session.Noted
	d.dialogs, d.clock = &dialogs{}, &clock{}
	d.downloads = downloads.New(d.notes, session.Keep, d.changes.notify)
	d.network = network.New(network.Config{
		Origins: d.origins, Redact: d.redact, Changed: d.changes.notify, WaitUntil: d.changes.waitUntil,
	})
	if d.references = session.References; d.references == nil {
		d.references = &screen.References{}
	}
	if session.Width > 0 && session.Height > 0 {
		d.width, d.height = session.Width, session.Height
	}
	if session.Driver == electronDriver {
		d.app, d.appErr = b.newApp(session.App)
		d.starting.Store(true)
		if session.RestrictOrigins {
			d.network.PauseFiles()
		}
	}
	d.ctx, d.cancel = context.WithCancel(b.ctx)
	return d
}

// Classifiers implements device.Backend. Web pages have none.
func (*backend) Classifiers(context.Context) ([]string, error) { return nil, nil }

// Check implements device.Backend.
func (b *backend) Check(ctx context.Context) (string, error) {
	running, err := b.browser(ctx, func(string, string, string) {})
	if err != nil {
		return "", err
	}
	return running.Name, nil
}

// Close implements device.Backend.
func (b *backend) Close(context.Context) error {
	b.cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current == nil {
		return nil
	}
	<-b.current.done // cancelling b.ctx has ended a start in progress
	if b.current.browser == nil {
		return nil
	}
	return b.current.browser.Close()
}

// browser returns the browser of the run, and starts it if none is running. ctx ends the wait, not the start.
func (b *backend) browser(ctx context.Context, log func(level, message, hint string)) (*browser, error) {
	s := b.start(log)
	select {
	case <-s.done:
		return s.browser, s.err
	case <-ctx.Done():
		return nil, fault.Wrap(fault.Cancelled, context.Cause(ctx), "", "starting the browser")
	}
}

// start starts a browser, unless one is running or being started.
func (b *backend) start(log func(level, message, hint string)) *browserStart {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current != nil && !b.current.ended() {
		return b.current
	}
	previous := b.current
	s := &browserStart{done: make(chan struct{})}
	b.current = s
	go func() {
		defer close(s.done)
		if previous != nil && previous.browser != nil {
			_ = previous.browser.Close() // it has exited; this removes its files
		}
		s.browser, s.err = startBrowser(b.ctx, b.options.browser, log)
		if s.err != nil && fault.As(s.err) == nil {
			s.err = fault.Wrap(fault.Device, s.err, "", "starting the browser")
		}
	}()
	return s
}

// ended reports whether the start failed, or the browser has exited.
func (s *browserStart) ended() bool {
	select {
	case <-s.done:
	default:
		return false
	}
	if s.browser == nil {
		return true
	}
	select {
	case <-s.browser.Conn.Done():
		return true
	default:
		return false
	}
}
