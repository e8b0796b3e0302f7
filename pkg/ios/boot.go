package ios

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// bootedSimulator is the simulator that the user names, which runs.
type bootedSimulator struct {
	udid string
	here bool // it was booted here
}

// boot boots the simulator that the user names, unless it runs. It returns the options with its udid.
func (b *backend) boot(ctx context.Context) (options, error) {
	o := b.options
	if o.boot == "" {
		return o, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.booted == nil {
		if !hasXcode(o) {
			return o, noXcode(o.boot)
		}
		s := &simulator{options: o, limits: b.limits}
		known, err := s.named(ctx, o.boot)
		if err != nil {
			return o, err
		}
		s.udid = known.UDID
		runs := known.State == stateBooted
		if !runs {
			if _, err := s.runOn(ctx, "bootstatus", "-b"); err != nil { // boots it, and waits
				_, stopErr := s.runOn(context.WithoutCancel(ctx), "shutdown") // it may be starting
				return o, errors.Join(err, stopErr)
			}
		}
		b.booted = &bootedSimulator{known.UDID, !runs}
	}
	o.udid = b.booted.udid
	return o, nil
}

// checkBoot returns what a run does first if it boots a simulator, on which nothing responds before; "" if it does not.
func (b *backend) checkBoot(ctx context.Context) (string, error) {
	if b.options.boot == "" {
		return "", nil
	}
	if !hasXcode(b.options) {
		return "", noXcode(b.options.boot)
	}
	known, err := (&simulator{options: b.options, limits: b.limits}).named(ctx, b.options.boot)
	if err != nil || known.State == stateBooted {
		return "", err
	}
	return fmt.Sprintf("the simulator %s (%s, %s) is started for a run", known.Name, known.system, known.UDID), nil
}

func noXcode(name string) error {
	return fault.New(fault.CommandNotFound, "install Xcode on a Mac", "starting the simulator %s needs xcrun, which was not found", name)
}

// named returns the simulator with a name or a udid: of several with the name, one that runs, else the one with the
// newest system.
func (s *simulator) named(ctx context.Context, name string) (found listedSimulator, err error) {
	simulators, err := s.list(ctx, "available")
	if err != nil {
		return found, err
	}
	var names []string
	for _, known := range simulators { // sorted by system
		names = append(names, known.Name)
		if (strings.EqualFold(known.Name, name) || known.UDID == name) && found.State != stateBooted {
			found = known
		}
	}
	if found.UDID == "" {
		hint := fault.DidYouMeanListed(name, names, "`xcrun simctl list devices available` lists them")
		return found, fault.New(fault.Misuse, hint, "no simulator has the name %q", name)
	}
	return found, nil
}

// shutDown ends the simulator that was booted here.
func (b *backend) shutDown(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	booted := b.booted
	b.booted = nil
	if booted == nil || !booted.here {
		return nil
	}
	s := &simulator{options: b.options, limits: b.limits, udid: booted.udid}
	_, err := s.runOn(context.WithoutCancel(ctx), "shutdown")
	return err
}
