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
	info    mobile.Info
	api     int // level of Android's API
	limits  limits
	log     func(level, message, hint string) // of the session
	lock    *mobile.LockedDevice              // nil without a folder for it
	changes *changes
	server  *server // nil without APKs
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
func (p *phone) next(log func(level, message, hint string)) {
	p.log = log
	if p.server != nil {
		p.server.log, p.server.restarted = log, false
	}
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
	earlier, err := p.changes.putBackEarlier(ctx)
	if err != nil {
		return err
	}
	if earlier {
		p.log("info", "settings of "+p.Serial()+" that an earlier session had changed were put back", "")
	}
	if !found {
		p.log("warn", "the screen is read with uiautomator dump, which takes about 2 s each time, may fail while something "+
			"moves, and lacks hints, other windows, the clipboard and any text that is not ASCII", installServer+
			" installs Appium's UiAutomator2 server, which does not")
		return p.changes.setGlobal(ctx, animations())
	}
	return p.startServer(ctx, apks, earlier)
}

// startServer installs and starts the UiAutomator2 server. One that runs already is mentioned unless it is that of an
// earlier session.
func (p *phone) startServer(ctx context.Context, apks serverAPKs, earlier bool) (err error) {
	if note := apks.ageNote(); note != "" {
		p.log("warn", note, installServer+"@latest installs a current one")
	}
	if err := p.changes.setGlobal(ctx, settingsFor(p.api)); err != nil {
		return err
	}
	if p.server, err = newServer(p.Device, apks, p.limits, p.log); err != nil {
		return err
	}
	others := !earlier && p.server.running(ctx)
	if err := p.server.install(ctx); err != nil {
		return err
	}
	err = p.server.start(ctx)
	if err == nil && others {
		p.server.noteStopped()
	}
	return err
}

// readInfo reads what the phone is.
func (p *phone) readInfo(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.limits.info)
	defer cancel()
	const model, release, level = "ro.product.model", "ro.build.version.release", "ro.build.version.sdk"
	out, err := runLine(ctx, p.Device, "getprop "+model+"; getprop "+release+"; getprop "+level+"; wm size; wm density")
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
