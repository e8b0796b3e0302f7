package scope

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// The places that rules below tell apart.
const (
	driverFlag    = "--driver"
	platformFlag  = "--platform"
	trailPlatform = "config.platform of the trail"
)

// driver decides the driver. target means something only when targetKnown.
func (r Request) driver(target Target, targetKnown bool) (Driver, error) {
	pins := []word{
		{r.FlagDriver, driverFlag},
		{r.TrailDriver, "driver pin of the trail"},
		{r.EnvDriver, "TRAILBLAZE_DRIVER"},
		{r.ProjectDriver, "driver in trailblaze.yaml"},
	}
	wishes := []word{
		{r.FlagPlatform, platformFlag},
		{r.TrailPlatform, trailPlatform},
		{r.ProjectPlatform, "platform in trailblaze.yaml"},
	}
	pin, wish := first(pins), first(wishes)
	platform, platformErr := wish.platform()
	if pin.text == "" && wish.text == "" {
		return r.onlyDriver(target, targetKnown, append(pins, wishes...))
	}
	if pin.text == "" {
		if platformErr != nil {
			return Driver{}, platformErr
		}
		return DefaultDriver(platform), target.check(platform)
	}
	driver, ok := ParseDriver(pin.text)
	if !ok {
		return Driver{}, join(pin.unknownDriver(), platformErr)
	}
	if platformErr != nil {
		return Driver{}, platformErr
	}
	if wish.binds(pin) && platform != driver.Platform {
		choices := driversOf(platform)
		return Driver{}, wish.fault(choices, "leave one of them out, or pass --driver "+choices[0],
			"%s does not fit the driver %s (%s), which is for %s", wish.text, driver.Key, pin.place, driver.Platform.Lower())
	}
	return driver, target.check(driver.Platform)
}

// platform reads the word as a platform; an empty word is none.
func (w word) platform() (Platform, error) {
	if w.text == "" {
		return "", nil
	}
	if p, ok := ParsePlatform(w.text); ok {
		return p, nil
	}
	return "", w.fault(PlatformNames(), fault.DidYouMean(w.text, PlatformNames()), "unknown platform %q", w.text)
}

// binds says whether a driver pinned elsewhere has to be of the platform that w names: the flag always, a trail's platform
// unless --driver overrides the trail, the project's platform never, since it only stands in for a driver.
func (w word) binds(pin word) bool {
	switch w.place {
	case platformFlag:
		return true
	case trailPlatform:
		return pin.place != driverFlag
	}
	return false
}

// onlyDriver is the last resort: the default driver of the target's only platform.
func (r Request) onlyDriver(target Target, targetKnown bool, words []word) (Driver, error) {
	if len(target.Platforms) == 1 {
		return DefaultDriver(target.Platforms[0]), nil
	}
	onePlatform := func(t Target) bool { return len(t.Platforms) == 1 }
	if !targetKnown && slices.ContainsFunc(r.Targets, onePlatform) {
		return Driver{}, nil // naming a target, which is asked for already, may decide the driver too
	}
	rest, platforms := "and there is no target to take it from", []Platform{Android, IOS, Web}
	if targetKnown {
		rest = fmt.Sprintf("and target %q names no platform", target.ID)
	}
	if len(target.Platforms) > 1 {
		platforms = target.Platforms
		rest = fmt.Sprintf("and target %q has several platforms: %s", target.ID, strings.Join(lower(platforms), ", "))
	}
	keys := driversOf(platforms...)
	hint := "pass --platform " + strings.Join(lower(platforms), "|") + ", or --driver with one of: " + strings.Join(keys, ", ")
	return Driver{}, open(hint, "driver", words, rest, keys)
}

// check says whether the target can run on a platform: one that lists platforms runs on these alone.
func (t Target) check(p Platform) error {
	if len(t.Platforms) == 0 || slices.Contains(t.Platforms, p) {
		return nil
	}
	has := lower(t.Platforms)
	hint := fmt.Sprintf("pass --platform %s, or add %s: to platforms in the target's file", strings.Join(has, "|"), p.Lower())
	err := fault.New(fault.Scope, hint, "target %q is not set up for %s; it has %s", t.ID, p.Lower(), strings.Join(has, ", "))
	err.Details = map[string]any{"choices": has}
	return err
}

func driversOf(platforms ...Platform) []string {
	var keys []string
	for _, p := range platforms {
		for _, d := range drivers() {
			if d.Platform == p {
				keys = append(keys, d.Key)
			}
		}
	}
	return keys
}

func lower(platforms []Platform) []string {
	names := make([]string, len(platforms))
	for i, p := range platforms {
		names[i] = p.Lower()
	}
	return names
}
