package appium

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/webdriver"
)

const capabilitiesHint = "check device: {capabilities: …} in the project file"

// Open starts a session. The error is a *fault.Error of kind Server.
func Open(ctx context.Context, o Options) (mobile.Driver, error) {
	if o.Log == nil {
		o.Log = func(string, string, string) {}
	}
	d, err := start(ctx, o)
	if err != nil {
		return nil, err
	}
	android := &androidDriver{driver: d}
	d.putBackOf = android.putBackAppearance
	var opened mobile.Driver = android
	changeSettings := func(ctx context.Context) error { return d.ChangeSettings(ctx, ServerSettings()) }
	if o.Platform == mobile.IOS {
		i := newIOSDriver(d)
		opened, changeSettings = i, func(ctx context.Context) error { return i.source.Prepare(ctx, i.info) }
		d.putBackOf = i.putBackAppearance
	}
	if err := d.prepare(ctx, changeSettings); err != nil {
		return nil, errors.Join(err, d.Close(context.WithoutCancel(ctx)))
	}
	return opened, nil
}

// Check returns what the server says of itself, for doctor. It starts no session.
func Check(ctx context.Context, o Options) (string, error) {
	client, err := o.client(o.URL)
	if err != nil {
		return "", err
	}
	defer client.Close()
	status, err := client.Status(ctx)
	if webdriver.Unknown(err) {
		other, otherErr := o.client(otherPath(o.URL))
		if otherErr != nil {
			return "", otherErr
		}
		defer other.Close()
		status, err = other.Status(ctx)
	}
	if err != nil {
		return "", o.startError(ctx, client, err)
	}
	detail := "Appium server at " + client.URL()
	if status.Build.Version != "" {
		detail = "Appium " + status.Build.Version + " at " + client.URL()
	}
	return detail, nil
}

// client returns a client of the server at a URL.
func (o Options) client(url string) (*webdriver.Client, error) {
	secrets := map[string]string{}
	addSecrets(secrets, "", o.Capabilities)
	client, err := webdriver.New(url, webdriver.Options{
		Limit: o.Limits.Call, SessionLimit: o.Limits.Start, Secrets: slices.Collect(maps.Values(secrets)),
	})
	if err != nil {
		return nil, fault.New(fault.Misuse, "", "appiumUrl: %v", err)
	}
	return client, nil
}

// basePath is the path before that of requests in clouds, and in Appium before version 2.
const basePath = "/wd/hub"

// otherPath returns a URL with basePath if it is without it, and without it if it has it.
func otherPath(url string) string {
	url = strings.TrimRight(url, "/")
	if without, ok := strings.CutSuffix(url, basePath); ok {
		return without
	}
	return url + basePath
}

// start starts the session. If the server does not know the path of the request, the URL is tried with or without
// basePath.
func start(ctx context.Context, o Options) (*driver, error) {
	client, err := o.client(o.URL)
	if err != nil {
		return nil, err
	}
	session, err := client.NewSession(ctx, o.request())
	if e := webdriver.As(err); e != nil && e.Status == http.StatusNotFound && webdriver.Unknown(err) {
		other, otherErr := o.client(otherPath(o.URL))
		if otherErr != nil {
			return nil, otherErr
		}
		found, foundErr := other.NewSession(ctx, o.request())
		switch {
		case !webdriver.Unknown(foundErr):
			client.Close()
			client, session, err = other, found, foundErr
			o.Log("info", "the Appium server responds at "+client.URL(), "set this URL")
		default:
			other.Close()
		}
	}
	if err != nil {
		client.Close()
		return nil, o.startError(ctx, client, err)
	}
	server := "the Appium server at " + client.URL()
	return &driver{
		Session: &Session{Session: session, Server: server, Hint: "its log says why"}, client: client, options: o,
	}, nil
}

var noDevice = lazyregexp.New(`(?i)queue|no (free |available |matching )?devices?\b|devices? (is|are) (busy|not available|unavailable)|` +
	`parallel|concurren|all .*(in use|busy)|could not find a connected|no simulator`)

// startError returns the error of a session that did not start.
func (o Options) startError(ctx context.Context, client *webdriver.Client, err error) *fault.Error {
	e := webdriver.As(err)
	if e == nil {
		return fault.Wrap(fault.Device, err, "", "start a session at "+client.URL())
	}
	f := &fault.Error{Kind: fault.Device, Cause: err}
	words := e.Message
	switch {
	case context.Cause(ctx) != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		f.Kind, f.Message = fault.Cancelled, fmt.Sprintf("start a session at %s: %v", client.URL(), context.Cause(ctx))
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden:
		f.Message = fmt.Sprintf("%s refuses user and key (HTTP %d): %s", client.URL(), e.Status, words)
		f.Hint = "check those in the URL, https://USER:KEY@HOST/…, or in device: {capabilities: …}"
	case e.Status == 0 && !e.MaybeExecuted():
		f.Message = "the Appium server cannot be reached: " + words
		f.Hint = "start it with `npx appium`, or check --appium-url, TRAILBLAZE_APPIUM_URL or device: {appiumUrl: …}"
	case e.Status == 0 && errors.Is(err, context.DeadlineExceeded):
		f.Message = fmt.Sprintf("%s did not start a session within %s", client.URL(), o.Limits.Start)
		f.Hint = "it may be waiting for a free device: choose another one, or raise device: {appiumStartTimeout: …}; " +
			"a session that it starts later ends after its idle limit"
	case webdriver.Unknown(err):
		f.Message = fmt.Sprintf("%s is not an Appium server: %s", client.URL(), words)
		f.Hint = "neither the URL nor that with or without " + basePath + " responds to WebDriver requests"
	case noDevice().MatchString(words):
		f.Message = fmt.Sprintf("%s has no free device: %s", client.URL(), words)
		f.Hint = "choose another device or wait until one is free; appiumStartTimeout is how long to wait in a queue"
	case strings.Contains(words, "Could not find a driver"):
		f.Message = fmt.Sprintf("%s lacks the driver for the device: %s", client.URL(), words)
		f.Hint = "run `npx appium driver install " + strings.ToLower(o.automation()) + "` where the server runs"
	case e.Code != "":
		f.Message = fmt.Sprintf("%s refused the session: %s", client.URL(), strings.TrimPrefix(e.Code+": "+words, webdriver.SessionNotCreated+": "))
		f.Hint = capabilitiesHint
	default:
		f.Message = fmt.Sprintf("%s did not start a session: %v", client.URL(), e)
		if e.MaybeExecuted() {
			f.Hint = "it may have started one, which ends after its idle limit"
		}
	}
	return f
}

func (o Options) automation() string {
	name, _ := o.request().AlwaysMatch["appium:automationName"].(string)
	return name
}

// prepare reads what the device is and changes the settings of the session.
func (d *driver) prepare(ctx context.Context, changeSettings func(context.Context) error) error {
	width, height, err := d.ReadSize(ctx)
	if err != nil {
		return err
	}
	d.info = infoOf(d.Capabilities(), d.options.Platform, width, height)
	d.warnOfOldServer(ctx)
	err = changeSettings(ctx)
	if fault.KindOf(err) == fault.ToolFailed {
		d.options.Log("warn", "the server refuses settings, so that reading the screen may take long: "+err.Error(), "")
		return nil
	}
	return err
}

// warnOfOldServer logs that the server is an Appium before version 2, which lacks commands that calls need. Clouds choose
// one for some devices unless they are told a version. A server that says no version is not warned of.
func (d *driver) warnOfOldServer(ctx context.Context) {
	version := versionIn(d.Capabilities())
	if version == "" {
		status, err := d.client.Status(ctx)
		if err != nil {
			return
		}
		version = status.Build.Version
	}
	if major, _, _ := strings.Cut(version, "."); major != "0" && major != "1" {
		return
	}
	hint := "update it: npm i -g appium"
	if c := d.options.cloud(); c != nil {
		hint = "request another one in device: {capabilities: {" + c.options + ": {appiumVersion: …}}}"
	}
	d.options.Log("warn", d.Server+" is Appium "+version+"; calls may need commands that Appium has from version 2 on", hint)
}

// versionIn returns the version of Appium that capabilities name, also in the options of a cloud; empty without one.
func versionIn(capabilities map[string]any) string {
	for name, value := range capabilities {
		switch value := value.(type) {
		case string:
			if strings.TrimPrefix(name, "appium:") == "appiumVersion" {
				return value
			}
		case map[string]any:
			if version := versionIn(value); version != "" {
				return version
			}
		}
	}
	return ""
}

// Sizes in density-independent pixels and points from which a device is a tablet.
const (
	tabletWidth     = 600
	tabletPoints    = 744
	baselineDensity = 160
)

// infoOf returns what the capabilities of a session say about the device.
func infoOf(capabilities map[string]any, platform mobile.Platform, width, height int) mobile.Info {
	text := func(names ...string) string {
		for _, name := range names {
			for _, full := range []string{name, "appium:" + name} {
				switch value := capabilities[full].(type) {
				case string:
					if value != "" {
						return value
					}
				case float64:
					return fmt.Sprint(value)
				}
			}
		}
		return ""
	}
	name := strings.TrimSpace(text("deviceManufacturer") + " " + text("deviceModel", "deviceName"))
	system := "Android"
	if platform == mobile.IOS {
		system = "iOS"
	}
	info := mobile.Info{
		ID: text("deviceUDID", "udid"), Width: width, Height: height,
		Product: strings.TrimSpace(strings.TrimPrefix(name+", "+system+" "+text("platformVersion"), ", ")),
	}
	narrow := min(width, height)
	if platform == mobile.IOS {
		info.Tablet = narrow >= tabletPoints || strings.Contains(name, "iPad")
	} else if density, _ := capabilities["deviceScreenDensity"].(float64); density > 0 {
		info.Tablet = narrow*baselineDensity/int(density) >= tabletWidth
	}
	return info
}

// sendOutcome sends a cloud how the session has ended.
func (d *driver) sendOutcome(ctx context.Context) {
	c := d.options.cloud()
	if c == nil || d.options.Outcome == nil {
		return
	}
	outcome := d.options.Outcome()
	if outcome == nil {
		return
	}
	script := c.outcome(outcome.Passed, outcome.Reason)
	if err := d.Execute(ctx, script, nil, new(json.RawMessage)); err != nil {
		d.options.Log("warn", "sending the outcome of the session to the cloud failed: "+err.Error(), "")
	}
}
