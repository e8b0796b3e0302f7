package android

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/appium"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
)

// installedApp returns what the phone says of an app that a user has.
func installedApp(ctx context.Context, phone adb.Device, user, app string) (installedPackage, error) {
	out, _, err := runAny(ctx, phone, "dumpsys", "package", app)
	return parsePackage(out, app, user), err
}

// Launch implements mobile.Driver.
func (d *driver) Launch(ctx context.Context, l mobile.Launch) error {
	extras, err := mobile.Extras(l.Arguments)
	if err != nil {
		return err
	}
	if err := d.installApp(ctx, l.App); err != nil {
		return err
	}
	activity, err := d.activity(ctx, l.App)
	if err != nil {
		return err
	}
	if err := l.Prepare(ctx, d); err != nil {
		return err
	}
	if err := d.setPermissions(ctx, l.App, l.Permissions); err != nil {
		return err
	}
	words := []string{
		"am", "start", "--user", d.user, "-W", "-a", "android.intent.action.MAIN", "-c", "android.intent.category.LAUNCHER", "-n", activity,
	}
	return d.start(ctx, "starting "+l.App, append(words, mobile.ExtraWords(extras)...)...)
}

// activity returns the component with which an app starts: the first one, if the launcher shows several.
func (d *driver) activity(ctx context.Context, app string) (string, error) {
	for _, verb := range []string{"resolve-activity", "query-activities"} {
		out, err := d.runAny(ctx, "cmd", "package", verb, "--brief", "--user", d.user,
			"-a", "android.intent.action.MAIN", "-c", "android.intent.category.LAUNCHER", app)
		if err != nil {
			return "", err
		}
		if activity := parseActivity(out, app); activity != "" {
			return activity, nil
		}
	}
	known, err := installedApp(ctx, d.Device, d.user, app)
	switch {
	case err != nil:
		return "", d.wrap(err)
	case known.Installed:
		return "", fault.New(fault.ToolFailed, "", "the app %s has no activity that the launcher shows", app)
	}
	return "", d.notInstalled(ctx, app)
}

// notInstalled is the error for an app that is not installed, or not for the user who uses the phone.
func (d *driver) notInstalled(ctx context.Context, app string) error {
	if known, err := installedApp(ctx, d.Device, d.user, app); err == nil && len(known.Users) > 0 {
		return fault.New(fault.ToolFailed, "install it for this user, or switch the phone to the other one; apps of a work profile or "+
			"a secure folder cannot be driven", "the app %s is installed on %s for user %s, and not for user %s, who uses the phone",
			app, d.Serial(), strings.Join(known.Users, ", "), d.user)
	}
	hint := "install it, or name its APK with device: {app: path.apk}"
	if d.app != nil {
		hint = fmt.Sprintf("device: {app: %s} is the APK of %s", d.app.path, d.app.Package)
	}
	if apps, err := d.Apps(ctx, false); err == nil {
		if similar := fault.DidYouMean(app, apps); similar != "" {
			hint += "; " + similar
		}
	}
	return fault.New(fault.ToolFailed, hint, "the app %s is not installed on %s", app, d.Serial())
}

// start runs `am start`, which acts.
func (d *driver) start(ctx context.Context, what string, words ...string) error {
	out, err := d.actAny(ctx, words...)
	if err != nil {
		return err
	}
	if problem := parseStart(out); problem != "" {
		return fault.New(fault.ToolFailed, "", "%s on %s: %s", what, d.Serial(), problem)
	}
	return nil
}

// act runs a command that acts, and returns what it writes.
func (d *driver) act(ctx context.Context, words ...string) (string, error) {
	out, err := run(ctx, d.Device, words...)
	return out, d.unconfirmedError(err)
}

// actAny is act for commands whose status does not matter.
func (d *driver) actAny(ctx context.Context, words ...string) (string, error) {
	out, _, err := runAny(ctx, d.Device, words...)
	return out, d.unconfirmedError(err)
}

// unconfirmedError returns an *act.UnconfirmedError for a command that was sent and whose end is not known.
func (d *driver) unconfirmedError(err error) error {
	if errors.Is(err, adb.ErrMaybeExecuted) {
		return &act.UnconfirmedError{Cause: err}
	}
	return d.wrap(err)
}

// Stop implements mobile.Driver.
func (d *driver) Stop(ctx context.Context, app string) error {
	_, err := d.act(ctx, "am", "force-stop", app)
	return err
}

// Clear implements mobile.Driver.
func (d *driver) Clear(ctx context.Context, app string) error {
	out, err := d.actAny(ctx, "pm", "clear", "--user", d.user, app)
	if err != nil || strings.Contains(out, "Success") {
		return err
	}
	if known, err := installedApp(ctx, d.Device, d.user, app); err == nil && !known.Installed {
		return d.notInstalled(ctx, app)
	}
	hint := ""
	if refused(out) {
		hint = allowDebugging + "; launchApp with launchMode: FORCE_RESTART keeps the data"
	}
	return fault.New(fault.ToolFailed, hint, "clearing the data of %s on %s: %s", app, d.Serial(), outputText(out))
}

// Grant implements mobile.Driver.
func (d *driver) Grant(ctx context.Context, app string, permissions []string) error {
	for _, p := range permissions {
		if err := d.changePermission(ctx, "grant", app, p); err != nil {
			return err
		}
	}
	return nil
}

// setPermissions changes the permissions of a launch. "all" stands for those that have no entry of their own.
func (d *driver) setPermissions(ctx context.Context, app string, permissions map[string]string) error {
	wanted := maps.Clone(permissions)
	if state, ok := wanted["all"]; ok {
		delete(wanted, "all")
		known, err := installedApp(ctx, d.Device, d.user, app)
		if err != nil {
			return d.wrap(err)
		}
		for _, name := range known.Permissions {
			if wanted[name] == "" {
				wanted[name] = state
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if err := d.setPermission(ctx, app, name, wanted[name]); err != nil {
			return err
		}
	}
	return nil
}

func (d *driver) setPermission(ctx context.Context, app, permission, state string) error {
	verb, ok := map[string]string{"allow": "grant", "deny": "revoke", "unset": "revoke"}[state]
	if !ok {
		return fault.New(fault.InvalidArguments, "write allow, deny or unset", "the permission %s has the unknown value %q",
			permission, state)
	}
	err := d.changePermission(ctx, verb, app, permission)
	if err == nil && state == "unset" { // without these flags the app may ask again
		_, err = d.actAny(ctx, "pm", "clear-permission-flags", "--user", d.user, app, permission, "user-set", "user-fixed")
	}
	return err
}

// changePermission grants or revokes a permission. One that the app does not request, that nobody decides about, or
// that this version of Android does not have, is ignored.
func (d *driver) changePermission(ctx context.Context, verb, app, permission string) error {
	out, err := d.actAny(ctx, "pm", verb, "--user", d.user, app, permission)
	if err != nil {
		return err
	}
	for _, ignored := range []string{"has not requested permission", "not a changeable permission", "Unknown permission", "managed by role"} {
		if strings.Contains(out, ignored) {
			return nil
		}
	}
	switch {
	case strings.Contains(out, "Unknown package"):
		return d.notInstalled(ctx, app)
	case strings.Contains(out, "Exception"), strings.Contains(out, "Error:"):
		return fault.New(fault.ToolFailed, allowDebugging, "pm %s %s %s on %s: %s", verb, app, permission, d.Serial(), outputText(out))
	}
	return nil
}

// Apps implements mobile.Driver.
func (d *driver) Apps(ctx context.Context, system bool) ([]string, error) {
	words := []string{"pm", "list", "packages", "--user", d.user}
	if !system {
		words = append(words, "-3")
	}
	out, err := d.run(ctx, words...)
	return appium.Packages(out), err
}

// Foreground implements mobile.Driver.
func (d *driver) Foreground(ctx context.Context) (string, error) {
	out, err := d.run(ctx, "dumpsys", "activity", "activities")
	if apps := parseResumed(out); len(apps) > 0 {
		return apps[0], err
	}
	return "", err
}

// OpenURL implements mobile.Driver.
func (d *driver) OpenURL(ctx context.Context, url, app string) error {
	words := []string{
		"am", "start", "--user", d.user, "-W", "-a", "android.intent.action.VIEW", "-c", "android.intent.category.BROWSABLE", "-d", url,
	}
	if app != "" {
		words = append(words, "-p", app)
	}
	return d.start(ctx, "opening "+url, words...)
}

// installApp installs the user's app if it is the one that is started, unless the phone has the same one: the file with
// its hash also has the time of the installation, which differs when another APK was installed since.
func (d *driver) installApp(ctx context.Context, app string) error {
	if d.app == nil || d.app.Package != app || d.app.checked {
		return nil
	}
	record := "/data/local/tmp/trailblaze-" + app + ".sha256"
	known, err := installedApp(ctx, d.Device, d.user, app)
	if err != nil {
		return d.wrap(err)
	}
	kept, err := d.runAny(ctx, "cat", record)
	if err != nil {
		return err
	}
	if !known.Installed || strings.TrimSpace(kept) != strings.TrimSpace(d.app.hash+" "+known.Updated) {
		d.log("info", fmt.Sprintf("installing %s on %s", d.app.path, d.Serial()), "")
		i := installer{d.Device, d.limits, d.log}
		if err := i.install(ctx, d.app, appTemp); err != nil {
			return d.wrap(err)
		}
		if known, err = installedApp(ctx, d.Device, d.user, app); err != nil {
			return d.wrap(err)
		}
		content := strings.NewReader(d.app.hash + " " + known.Updated + "\n")
		if err := d.Push(ctx, content, record, 0o600); err != nil {
			return d.wrap(err)
		}
	}
	d.app.checked = true
	return nil
}
