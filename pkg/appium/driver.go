package appium

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/mobile"
	"github.com/trailblaze/trailblaze/pkg/webdriver"
)

// driver has the methods of mobile.Driver that do not depend on the platform.
type driver struct {
	*Session
	client  *webdriver.Client
	options Options
	info    mobile.Info

	originals mobile.Originals
	// putBackOf gives what a platform has changed its value: what putBack does not know.
	putBackOf func(ctx context.Context, o mobile.Original) error
}

func (d *driver) Info() mobile.Info { return d.info }

func (d *driver) Screenshot(ctx context.Context) ([]byte, error) { return d.TakeScreenshot(ctx) }

func (d *driver) SetText(ctx context.Context, text string) error { return d.ReplaceText(ctx, text) }

func (d *driver) Type(ctx context.Context, text string) error { return d.TypeText(ctx, text) }

// args are the arguments of an extension command.
type args map[string]any

// command runs an extension command that acts, such as mobile: clearApp.
func (d *driver) command(ctx context.Context, name string, a args, result any) error {
	return d.refusal(name, d.Act(ctx, name, func(ctx context.Context) error { return d.Execute(ctx, name, a, result) }))
}

// query runs an extension command that changes nothing.
func (d *driver) query(ctx context.Context, name string, a args, result any) error {
	return d.refusal(name, d.Read(ctx, name, func(ctx context.Context) error { return d.Execute(ctx, name, a, result) }))
}

var refused = lazyregexp.New(`(?i)not (yet |been |currently )*(enabled|implemented|supported|allowed|permitted|available)|` +
	`unsupported|insecure feature|only (supported|works|available)|unknown (mobile )?command|unknown mobile|disabled`)

// refusal returns err, or the error of mobile.Unsupported if the server refuses a command.
func (d *driver) refusal(name string, err error) error {
	e := webdriver.As(err)
	if e == nil || fault.KindOf(err) != fault.ToolFailed {
		return err
	}
	if !webdriver.Unknown(err) && e.Status != http.StatusForbidden && !refused().MatchString(e.Message) {
		return err
	}
	hint := ""
	if name == "mobile: shell" {
		hint = "start the server with `--allow-insecure uiautomator2:adb_shell`; clouds often refuse shell commands"
	}
	unsupported := mobile.Unsupported(fmt.Sprintf("%s refuses %s: %s", d.Server, name, e.Message), hint)
	unsupported.Cause = &refusedError{err}
	return unsupported
}

// refusedError is the cause of the errors of refusal.
type refusedError struct{ error }

func (e *refusedError) Unwrap() error { return e.error }

// isRefused reports whether err is one of refusal.
func isRefused(err error) bool {
	_, ok := errors.AsType[*refusedError](err)
	return ok
}

// optional returns nil for an error of refusal about all permissions of an app. Those are requested also where no trail
// names them, and the app asks for what it needs.
func (d *driver) optional(app string, err error) error {
	if !isRefused(err) {
		return err
	}
	LogNoPermissions(d.options.Log, app, err.Error())
	return nil
}

// LogNoPermissions logs why the permissions of an app were not set.
func LogNoPermissions(log func(level, message, hint string), app, reason string) {
	log("warn", "the permissions of "+app+" were not set: "+reason, "tap a button of the dialog when the app asks")
}

// Close implements mobile.Driver. It sends the cloud how the session has ended, and ends it.
func (d *driver) Close(ctx context.Context) error {
	defer d.client.Close()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.options.Limits.Close)
	defer cancel()
	if err := d.originals.PutBack(ctx, d.putBack); err != nil {
		d.options.Log("warn", "the device is not as it was before: "+err.Error(), "")
	}
	d.sendOutcome(ctx)
	if err := d.Delete(ctx); err != nil {
		return fault.Wrap(fault.Device, err, "it ends after its idle limit", "end the session of "+d.Server)
	}
	return nil
}
