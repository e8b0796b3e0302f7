package android

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/adb"
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
)

// absent is what `settings get` prints for a setting without a value.
const absent = "null"

// animations are the settings that turn motion off.
func animations() []setting {
	return []setting{
		{"window_animation_scale", "0"}, {"transition_animation_scale", "0"}, {"animator_duration_scale", "0"},
	}
}

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
	c.original = parseChanges(out)
	return true, c.putBack(ctx)
}

var settingValue = lazyregexp.New(`^[\w.-]+$`)

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
	case wifi, mobileData:
		return []string{"svc", strings.TrimPrefix(s.key, "svc-"), s.value}
	}
	known := slices.ContainsFunc(settingsFor(firstHiddenAPI), func(g setting) bool { return g.key == s.key })
	switch {
	case !known:
		return nil
	case s.value == absent:
		return []string{"settings", "delete", "global", s.key}
	default:
		return []string{"settings", "put", "global", s.key, s.value}
	}
}

// setGlobal changes settings of the table global.
func (c *changes) setGlobal(ctx context.Context, wanted []setting) error {
	var read, write []string
	for _, s := range wanted {
		read = append(read, adb.Quote("settings", "get", "global", s.key))
	}
	out, err := runLine(ctx, c.phone, strings.Join(read, " && "))
	if err != nil {
		return err
	}
	values := linesOf(out, len(wanted))
	for i, s := range wanted {
		value := cmp.Or(values[i], absent)
		if value == s.value || !settingValue().MatchString(value) {
			continue
		}
		c.original = append(c.original, setting{s.key, value})
		write = append(write, adb.Quote(s.command()...))
	}
	if len(write) == 0 {
		return nil
	}
	if err := c.save(ctx); err != nil {
		return err
	}
	_, err = runLine(ctx, c.phone, strings.Join(write, " && "))
	return err
}

// set changes a setting whose value is known. The first value of a key is the one that is put back.
func (c *changes) set(ctx context.Context, before, after setting) error {
	if !slices.ContainsFunc(c.original, func(s setting) bool { return s.key == before.key }) {
		c.original = append(c.original, before)
		if err := c.save(ctx); err != nil {
			return err
		}
	}
	_, err := run(ctx, c.phone, after.command()...)
	return err
}

// save writes what has to be put back to the phone.
func (c *changes) save(ctx context.Context) error {
	if c.unsaved {
		return nil
	}
	var text strings.Builder
	for _, s := range c.original {
		text.WriteString(s.key + " " + s.value + "\n")
	}
	return c.phone.Push(ctx, strings.NewReader(text.String()), changesFile, 0o600)
}

// putBack gives settings the values that they had: those with the keys, or all without any. The file is removed when it
// is no longer needed.
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
	if len(left) > 0 {
		errs = append(errs, c.save(ctx))
	} else {
		_, err := run(ctx, c.phone, "rm", "-f", changesFile)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
