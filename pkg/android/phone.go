package android

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/mobile"
)

// phone is a phone that is ready for sessions: its animations are off, and the UiAutomator2 server runs if its APKs
// were found. One session at a time uses it.
type phone struct {
	adb.Device
	info  mobile.Info
	api   int    // level of Android's API; 0 if it is not known
	user  string // the number of the user who uses the phone, such as 0 or 10
	slept bool   // its screen was off, or it was locked
	// inputMethods are the apps that have a keyboard.
	inputMethods []string
	dumpsToFile  bool // uiautomator cannot write to a terminal
	// ignoresEscape says that BACK has hidden the keyboard after ESCAPE had not.
	ignoresEscape bool
	dialogs       map[string]bool // by window: whether it is one
	limits        limits
	log           func(level, message, hint string) // of the session
	lock          *mobile.LockedDevice              // nil without a folder for it
	changes       *changes
	server        *server // nil without one
	// noServer is the reason for which the server cannot be used, as in "needs the server, which …", and noServerHint what
	// to do about it.
	noServer, noServerHint string
}

// connect prepares a phone. The caller closes it.
func connect(
	ctx context.Context, chosen adb.Device, o options, l limits, s device.Session,
) (*phone, error) {
	p := &phone{Device: chosen, limits: l, log: s.Log, changes: &changes{phone: chosen}}
	err := p.prepare(ctx, o, s.Root)
	if err == nil {
		return p, nil
	}
	if closing := p.close(ctx); closing != nil && p.reachable(ctx) {
		err = errors.Join(err, closing)
	}
	return nil, err
}

// reachable reports whether the phone still runs commands.
func (p *phone) reachable(ctx context.Context) bool {
	return probe(context.WithoutCancel(ctx), p.Device, p.limits.exit) == nil
}

// probe returns an error if a phone runs no command within a limit.
func probe(ctx context.Context, phone adb.Device, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, _, err := runAny(ctx, phone, "true")
	return err
}

// next prepares the phone for another session.
func (p *phone) next(ctx context.Context, log func(level, message, hint string)) error {
	p.log = log
	if p.server != nil {
		p.server.log, p.server.restarted = log, false
	}
	return p.wake(ctx)
}

func (p *phone) prepare(ctx context.Context, o options, root string) error {
	ctx, cancel := context.WithTimeout(ctx, p.limits.prepare)
	defer cancel()
	apks, found, err := o.findAPKs(root, o.dir)
	if err != nil {
		return err
	}
	if err := p.acquire(ctx, o.stateDir); err != nil {
		return err
	}
	if err := p.readInfo(ctx); err != nil {
		return err
	}
	if err := p.wake(ctx); err != nil {
		return err
	}
	earlier, err := p.putBackEarlier(ctx)
	switch {
	case err != nil && refused(err.Error()): // the option may have been turned off since; a later session tries again
		p.log("warn", "settings of "+p.Serial()+" that an earlier session had changed cannot be put back: "+err.Error(), allowDebugging)
	case err != nil:
		return err
	case earlier:
		p.log("info", "settings of "+p.Serial()+" that an earlier session had changed were put back", "")
	}
	if p.usesServer(found) {
		return p.startServer(ctx, apks, earlier)
	}
	p.log("warn", "the screen is read with uiautomator dump, because Appium's UiAutomator2 server "+p.noServer+"; that takes about 2 s "+
		"each time, may fail while something moves, and lacks hints, other windows, the clipboard and any text that is not ASCII",
		p.noServerHint)
	return p.setGlobal(ctx, append(animations(), stayOn()))
}

// usesServer reports whether the UiAutomator2 server can be used, whose APKs were found or not. If not, it notes why.
func (p *phone) usesServer(found bool) bool {
	switch {
	case !found:
		p.noServer, p.noServerHint = "was not found", installServer+" installs it"
	case p.api > 0 && p.api < firstServerAPI:
		p.noServer, p.noServerHint = "needs Android 8", "use a phone with Android 8 or later"
	default:
		return true
	}
	return false
}

// firstServerAPI is the API level of the oldest Android on which the UiAutomator2 server can be installed, Android 8.
const firstServerAPI = 26

// withoutServer is the error for what needs the UiAutomator2 server.
func (p *phone) withoutServer(what string) error {
	return mobile.Unsupported(what+" needs Appium's UiAutomator2 server, which "+p.noServer, p.noServerHint)
}

// putBackEarlier puts back what an earlier session left, removes APKs that it has copied, and ends its server. It reports
// whether one left something.
func (p *phone) putBackEarlier(ctx context.Context) (bool, error) {
	earlier, err := p.changes.putBackEarlier(ctx)
	if !earlier {
		return false, err
	}
	_, removeErr := run(ctx, p.Device, "rm", "-f", serverTemp, appTemp)
	return true, errors.Join(err, removeErr, forceStop(ctx, p.Device))
}

// putBackLeft is [phone.putBackEarlier] for a phone that no session uses. A phone that one uses is left alone; then it
// returns false.
func (p *phone) putBackLeft(ctx context.Context, folder string) (bool, error) {
	if _, status, err := runAny(ctx, p.Device, "[", "-e", changesFile, "]"); err != nil || status != 0 || folder == "" {
		return false, err
	}
	if err := p.acquire(ctx, folder); err != nil {
		return false, nil //nolint:nilerr // it is in use
	}
	left, err := p.putBackEarlier(ctx)
	return left, errors.Join(err, p.release(ctx))
}

// startServer installs and starts the UiAutomator2 server. One that runs already is mentioned unless it is that of an
// earlier session.
func (p *phone) startServer(ctx context.Context, apks serverAPKs, earlier bool) (err error) {
	if note := apks.ageNote(); note != "" {
		p.log("warn", note, installServer+"@latest installs a current one")
	}
	if err := p.setGlobal(ctx, settingsFor(p.api)); err != nil {
		return err
	}
	if p.server, err = newServer(p, apks); err != nil {
		return err
	}
	others := !earlier && p.server.running(ctx)
	if err := p.server.install(ctx); err != nil {
		return err
	}
	if p.slept {
		if err := p.exemptFromDoze(ctx); err != nil {
			return err
		}
	}
	err = p.server.startTwice(ctx)
	if err == nil && others {
		p.server.noteStopped()
	}
	return err
}

// exemptFromDoze lets the server work while Doze restricts apps, as it does when nobody has used a phone for a while.
func (p *phone) exemptFromDoze(ctx context.Context) error {
	out, err := run(ctx, p.Device, "dumpsys", "deviceidle", "whitelist")
	if err != nil || strings.Contains(out, ","+serverPackage+",") {
		return err
	}
	return p.changes.set(ctx, setting{doze, "restricted"}, setting{doze, "exempt"})
}

// setGlobal changes settings of the phone for its sessions. One that refuses that is used with its own.
func (p *phone) setGlobal(ctx context.Context, wanted []setting) error {
	refusedToAdb, err := p.changes.setGlobal(ctx, wanted)
	if refusedToAdb {
		p.log("warn", p.Serial()+" does not let adb change settings, so that animations stay as they are, and the UiAutomator2 "+
			"server may fail to start", allowDebugging)
	}
	return err
}

// readInfo reads what the phone is.
func (p *phone) readInfo(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.limits.info)
	defer cancel()
	const model, release, level = "ro.product.model", "ro.build.version.release", "ro.build.version.sdk"
	out, err := runLine(ctx, p.Device, "getprop "+model+"; getprop "+release+"; getprop "+level+"; ime list -s; wm size; wm density; am get-current-user")
	if err != nil {
		return err
	}
	lines := linesOf(out, 3)
	width, height, ok := parseSize(out)
	if !ok {
		return fault.New(fault.Device, "restart the phone if it happens again", "%s did not report the size of its screen: %s",
			p.Serial(), outputText(out))
	}
	p.api, _ = strconv.Atoi(strings.TrimSpace(lines[2]))
	p.user = "0"
	for _, line := range lines[3:] {
		if _, err := strconv.Atoi(line); err == nil {
			p.user = line
		}
	}
	p.inputMethods = parseInputMethods(out)
	p.info = mobile.Info{
		ID: p.Serial(), Product: fmt.Sprintf("%s, Android %s", lines[0], lines[1]), Width: width, Height: height,
		Tablet: isTablet(width, height, parseDensity(out)),
	}
	return nil
}

// close puts back what was changed, and ends the server. ctx may have ended.
func (p *phone) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.limits.close)
	defer cancel()
	var errs []error
	if p.server != nil {
		errs = append(errs, p.server.stop(ctx))
	}
	errs = append(errs, p.changes.putBack(ctx), p.release(ctx))
	if err := p.joinDistinct(errs...); err != nil {
		return fault.Wrap(fault.Device, err, "the next session on this phone does it",
			"putting back what was changed on "+p.Serial())
	}
	return nil
}

// joinDistinct joins errors, those with the same message once.
func (p *phone) joinDistinct(errs ...error) error {
	var distinct []error
	for _, err := range fault.Split(errors.Join(errs...)) {
		err = disconnectedError(p.Serial(), err)
		if !slices.ContainsFunc(distinct, func(e error) bool { return e.Error() == err.Error() }) {
			distinct = append(distinct, err)
		}
	}
	return errors.Join(distinct...)
}
