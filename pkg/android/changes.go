package android

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/adb"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
)

// changesFile keeps on the phone what has to be put back, so that any later session can, also from another machine,
// when this process is killed.
const changesFile = "/data/local/tmp/trailblaze-changes"

// changes are the settings of a phone that a session has changed, with the values that they had before. Each is written
// to the phone before it is changed.
type changes struct {
	phone    adb.Device
	original []setting // in the order of the changes
	unsaved  bool      // no file can be written to the phone
}

// setting is one line of changesFile: a key that its method command supports, and a value.
type setting struct{ key, value string }

// Keys of settings that are not in the table global of the phone's settings.
const (
	airplaneMode = "airplane-mode" // enabled or disabled
	wifi         = "svc-wifi"      // enable or disable
	mobileData   = "svc-data"
	doze         = "doze" // of the UiAutomator2 server: restricted or exempt
)

// absent is what `settings get` prints for a setting without a value.
const absent = "null"

// animations are the settings that turn motion off.
func animations() []setting {
	return []setting{
		{"window_animation_scale", "0"}, {"transition_animation_scale", "0"}, {"animator_duration_scale", "0"},
	}
}

// stayOn keeps the screen on while the phone charges. With the server it is not needed, whose wake lock does that.
func stayOn() setting { return setting{"stay_on_while_plugged_in", "7"} }

// hiddenAPI are the settings that let the server use hidden parts of Android.
func hiddenAPI() []setting {
	return []setting{{"hidden_api_policy_pre_p_apps", "1"}, {"hidden_api_policy_p_apps", "1"}, {"hidden_api_policy", "1"}}
}

// firstHiddenAPI is the first API level with the settings of hiddenAPI.
const firstHiddenAPI = 28

// settingsFor returns what the server needs on a phone of an API level.
func settingsFor(api int) []setting {
	if api < firstHiddenAPI {
		return animations()
	}
	return append(animations(), hiddenAPI()...)
}

// putBackEarlier puts back what an earlier session left, and reports whether one did.
func (c *changes) putBackEarlier(ctx context.Context) (bool, error) {
	out, status, err := runAny(ctx, c.phone, "cat", changesFile)
	if err != nil || status != 0 {
		return false, err // without the file, the status is 1
	}
	if c.original = parseChanges(out); len(c.original) == 0 {
		return false, c.save(ctx)
	}
	return true, c.putBack(ctx)
}

var settingValue = lazyregexp.New(`^[\w.,-]+$`)

// parseChanges reads the lines of changesFile that setting.command supports.
func parseChanges(text string) []setting {
	var all []setting
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if s := (setting{key, value}); s.command() != nil && settingValue().MatchString(value) {
			all = append(all, s)
		}
	}
	return all
}

// command returns the command that gives the setting its value, nil if sessions do not change it.
func (s setting) command() []string {
	switch s.key {
	case airplaneMode:
		return []string{"cmd", "connectivity", "airplane-mode", strings.TrimSuffix(s.value, "d")}
	case doze:
		sign := map[string]string{"restricted": "-", "exempt": "+"}[s.value]
		return []string{"dumpsys", "deviceidle", "whitelist", sign + serverPackage}
	case wifi, mobileData:
		return []string{"svc", strings.TrimPrefix(s.key, "svc-"), s.value}
	}
	if command := s.stateCommand(); command != nil {
		return command
	}
	known := slices.ContainsFunc(append(settingsFor(firstHiddenAPI), stayOn()), func(g setting) bool { return g.key == s.key })
	switch {
	case !known:
		return nil
	case s.value == absent:
		return []string{"settings", "delete", "global", s.key}
	default:
		return []string{"settings", "put", "global", s.key, s.value}
	}
}

// setGlobal changes settings of the table global. It reports whether the phone refused that: then those that it did not
// change are not put back.
func (c *changes) setGlobal(ctx context.Context, wanted []setting) (refusedToAdb bool, err error) {
	before, err := c.readGlobal(ctx, wanted)
	if err != nil {
		return false, err
	}
	var write []string
	for i, s := range wanted {
		if before[i].value != s.value && settingValue().MatchString(before[i].value) {
			c.original = append(c.original, before[i])
			write = append(write, adb.Quote(s.command()...))
		}
	}
	if len(write) == 0 {
		return false, nil
	}
	if err := c.save(ctx); err != nil {
		return false, err
	}
	line := strings.Join(write, " && ")
	output, err := c.phone.Shell(ctx, line)
	if err != nil || output.Exit == 0 {
		return false, err
	}
	if !refused(string(output.Stderr) + string(output.Stdout)) {
		return false, exitFailure(line, output)
	}
	now, err := c.readGlobal(ctx, wanted)
	if err != nil {
		return true, err
	}
	c.original = slices.DeleteFunc(c.original, func(s setting) bool { return slices.Contains(now, s) })
	return true, c.save(ctx)
}

// readGlobal returns settings of the table global with the values that the phone has.
func (c *changes) readGlobal(ctx context.Context, wanted []setting) ([]setting, error) {
	var read []string
	for _, s := range wanted {
		read = append(read, adb.Quote("settings", "get", "global", s.key))
	}
	out, err := runLine(ctx, c.phone, strings.Join(read, " && "))
	if err != nil {
		return nil, err
	}
	values := linesOf(out, len(wanted))
	now := make([]setting, len(wanted))
	for i, s := range wanted {
		now[i] = setting{s.key, cmp.Or(values[i], absent)}
	}
	return now, nil
}

// set changes a setting whose value is known. The first value of a key is the one that is put back, unless the phone
// refuses the change to adb: it would refuse that, too. The same holds for those that need it, which are put back first.
func (c *changes) set(ctx context.Context, before, after setting, need ...setting) error {
	known := len(c.original)
	if err := c.note(ctx, append(need, before)...); err != nil {
		return err
	}
	_, err := run(ctx, c.phone, after.command()...)
	if err == nil || !refused(err.Error()) {
		return err
	}
	c.original = c.original[:known]
	if saveErr := c.save(ctx); saveErr != nil {
		return saveErr
	}
	return fault.New(fault.ToolFailed, allowDebugging, "%s does not let adb change its settings: %v", c.phone.Serial(), err)
}

// note keeps settings that are about to be changed, in the order in which they are to be put back.
func (c *changes) note(ctx context.Context, before ...setting) error {
	known := len(c.original)
	for _, b := range before {
		if !slices.ContainsFunc(c.original, func(s setting) bool { return s.key == b.key }) {
			c.original = append(c.original, b)
		}
	}
	if len(c.original) == known {
		return nil
	}
	return c.save(ctx)
}

// save writes what has to be put back to the phone, and removes the file when nothing has.
func (c *changes) save(ctx context.Context) error {
	if c.unsaved {
		return nil
	}
	if len(c.original) == 0 {
		_, err := run(ctx, c.phone, "rm", "-f", changesFile)
		return err
	}
	var text strings.Builder
	for _, s := range c.original {
		text.WriteString(s.key + " " + s.value + "\n")
	}
	return c.phone.Push(ctx, strings.NewReader(text.String()), changesFile, 0o600)
}

// putBack gives settings the values that they had: those with the keys, or all without any.
func (c *changes) putBack(ctx context.Context, keys ...string) error {
	var errs []error
	var left []setting
	for _, s := range c.original {
		if len(keys) > 0 && !slices.Contains(keys, s.key) {
			left = append(left, s)
			continue
		}
		if _, err := run(ctx, c.phone, s.command()...); err != nil {
			left = append(left, s)
			errs = append(errs, err)
		}
	}
	if len(left) == len(c.original) {
		return errors.Join(errs...)
	}
	c.original = left
	return errors.Join(append(errs, c.save(ctx))...)
}
