package ios

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// simulator is a simulator on this machine, which simctl controls.
type simulator struct {
	options options
	limits  limits
	udid    string
}

// maxOutput is how much output of simctl is read, in bytes.
const maxOutput = 16 << 20

// findSimulator returns the simulator of the user's udid, or the only one that is booted. It is nil if this machine
// does not have simctl.
func findSimulator(ctx context.Context, o options, l limits) (*simulator, error) {
	if !hasXcode(o) {
		return nil, nil
	}
	s := &simulator{options: o, limits: l, udid: o.udid}
	if s.udid != "" {
		return s, nil
	}
	simulators, err := s.list(ctx, "booted")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, d := range simulators {
		names = append(names, fmt.Sprintf("%s (%s)", d.UDID, d.Name))
	}
	slices.Sort(names)
	switch len(simulators) {
	case 0:
		return nil, nil
	case 1:
		s.udid = simulators[0].UDID
		return s, nil
	}
	return nil, fault.New(fault.Misuse, "name the one of WebDriverAgent with device: {ios: {udid: …}}",
		"%d simulators are booted: %s", len(simulators), strings.Join(names, ", "))
}

// hasXcode reports whether this is a Mac with Xcode.
func hasXcode(o options) bool {
	_, err := o.programs.LookPath("xcrun", o.env)
	return err == nil && o.programs.CanPipe()
}

// run runs `xcrun simctl` and returns its stdout.
func (s *simulator) run(ctx context.Context, input string, args ...string) (string, error) {
	return xcrun(ctx, s.options, s.limits, input, append([]string{"simctl"}, args...)...)
}

// xcrun runs a tool of Xcode and returns its stdout. It may take as long as an installation or a start if it is one.
func xcrun(ctx context.Context, o options, l limits, input string, args ...string) (string, error) {
	limit := l.call
	switch {
	case slices.Contains(args, "install"):
		limit = l.app
	case slices.Contains(args, "bootstatus"):
		limit = l.boot
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	name := strings.Join(args[:2], " ")
	// A byte 0 after the output says that the exit status was 0.
	const script = `"$@" <&3 >&4 3<&- 4>&- && printf '\0' >&4`
	program, err := shellProgram(o, name, script, append([]string{"xcrun"}, args...))
	if err != nil {
		return "", err
	}
	process, err := o.programs.Start(ctx, program)
	if err != nil {
		return "", err
	}
	type result struct {
		output []byte
		err    error
	}
	done := make(chan result, 1)
	go func() { // ends when the process has exited
		_, writeErr := io.WriteString(process.In, input)
		closeErr := process.In.Close()
		output, err := io.ReadAll(io.LimitReader(process.Out, maxOutput))
		if more, _ := io.Copy(io.Discard, process.Out); more > 0 { // so that the program can end
			err = fault.New(fault.ToolFailed, "", "%s wrote more than %d MiB", name, maxOutput>>20)
		}
		if input == "" {
			writeErr = nil // the program need not read it
		}
		done <- result{output, errors.Join(writeErr, closeErr, err)}
	}()
	stop := func() error {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.close)
		defer cancel()
		return process.Stop(stopping)
	}
	var r result
	select {
	case r = <-done:
		output, succeeded := strings.CutSuffix(string(r.output), "\x00")
		if r.err == nil && !succeeded {
			<-process.Done()
			r.err = process.Explain(fault.New(fault.ToolFailed, "", "%s failed", name))
		}
		return output, errors.Join(r.err, stop(), process.Out.Close())
	case <-ctx.Done():
		err := errors.Join(context.Cause(ctx), stop())
		<-done
		return "", errors.Join(err, process.Out.Close())
	}
}

// runOn runs a command of simctl for the simulator: its name, the UDID, and the arguments.
func (s *simulator) runOn(ctx context.Context, command string, args ...string) (string, error) {
	return s.run(ctx, "", append([]string{command, s.udid}, args...)...)
}

// services are the permissions that simctl can set.
func services() []string {
	return []string{
		"all", "calendar", "contacts-limited", "contacts", "location", "location-always", "photos-add", "photos", "media-library",
		"microphone", "motion", "reminders", "siri",
	}
}

// setPermission sets a permission to allow, deny or unset.
func (s *simulator) setPermission(ctx context.Context, app, name, state string) error {
	action := map[string]string{"allow": "grant", "deny": "revoke"}[state]
	if action == "" {
		action = "reset"
	}
	_, err := s.runOn(ctx, "privacy", action, name, app)
	return err
}

var (
	listedApp = lazyregexp.New(`(?m)^    "?([\w.-]+)"? = +\{`)
	systemApp = lazyregexp.New(`ApplicationType = "?System"?;`)
)

// apps returns the ids of the installed apps.
func (s *simulator) apps(ctx context.Context, system bool) ([]string, error) {
	output, err := s.runOn(ctx, "listapps")
	if err != nil {
		return nil, err
	}
	var all []string
	found := listedApp().FindAllStringSubmatchIndex(output, -1)
	for i, at := range found {
		end := len(output)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		if system || !systemApp().MatchString(output[at[1]:end]) {
			all = append(all, output[at[2]:at[3]])
		}
	}
	return all, nil
}
