package android

import (
	"context"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// lockState is what keeps a phone from showing an app. The zero value is that of a phone that is awake and unlocked.
type lockState struct {
	asleep bool // the screen is off
	locked bool // the lock screen is shown, without an app above it
	secure bool // the lock screen, shown or not, has a PIN, a pattern or a password
}

func (s lockState) ready() bool { return !s.asleep && !s.locked }

// String says in words what keeps apps from being seen, empty if nothing does.
func (s lockState) String() string {
	switch {
	case s.locked && s.secure:
		return "is locked with a PIN, a pattern or a password"
	case s.locked:
		return "shows its lock screen"
	case s.asleep:
		return "has its screen off, or a screen saver on it"
	}
	return ""
}

// wake turns the screen on, and removes a lock screen that nobody has to unlock. A phone that stays locked, or off, is
// an error.
func (p *phone) wake(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.limits.info)
	defer cancel()
	state, err := readLock(ctx, p.Device)
	if err != nil || state.ready() {
		return err
	}
	p.slept = true
	output, err := p.Shell(ctx, "input keyevent KEYCODE_WAKEUP; wm dismiss-keyguard")
	if err != nil {
		return err
	}
	ready, err := act.Await(ctx, p.limits.unlock, p.limits.poll, func() (_ bool, err error) { // the lock screen goes away with a motion
		state, err = readLock(ctx, p.Device)
		return err == nil && state.ready(), err
	})
	if ready || err != nil {
		return err
	}
	return p.lockedFailure(state, string(output.Stderr)+string(output.Stdout))
}

// lockedFailure returns the error of a phone that could not be unlocked, with what the commands for it wrote.
func (p *phone) lockedFailure(state lockState, out string) error {
	hint := "unlock it; for tests, turn its screen lock off (Settings, Security), or keep its screen on while it charges " +
		"(Developer options, Stay awake)"
	if state.asleep {
		hint = "press its power button; " + hint
	}
	if refused(out) {
		hint = allowDebugging + "; or " + hint
	}
	return fault.New(fault.Device, hint, "the Android device %s %s", p.Serial(), state)
}

// Lock implements mobile.LockReader.
func (d *driver) Lock(ctx context.Context) (string, error) {
	state, err := readLock(ctx, d.Device)
	return state.String(), d.wrap(err)
}

// readLock reads whether a phone is awake and unlocked.
func readLock(ctx context.Context, phone adb.Device) (lockState, error) {
	output, err := phone.Shell(ctx, "dumpsys power; dumpsys window policy")
	return parseLock(string(output.Stdout)), err
}

// parseLock reads `dumpsys power` and `dumpsys window policy`. What is missing counts as awake and unlocked: some
// devices, such as TVs, have no lock screen.
func parseLock(out string) lockState {
	is := func(key string) bool { return strings.Contains(out, key+"=true") }
	var s lockState
	if m := wakefulness().FindStringSubmatch(out); m != nil {
		s.asleep = m[1] != "Awake"
	}
	s.secure = is(" secure")
	s.locked = is("mShowingLockscreen") || is("mDreamingLockscreen") || // until Android 9
		is(" showing") && is("nputRestricted") && !is(" occluded")
	return s
}

// wakefulness is mWakefulness in most versions, and getWakefulnessLocked() or getGlobalWakefulnessLocked() in others.
var wakefulness = lazyregexp.New(`(?m)^[\s\w]*[wW]akefulness[^=\n]*=(Awake|Asleep|Dozing|Dreaming)\s*$`)
