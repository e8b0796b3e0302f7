package scope

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// The origins that rules below compare with.
const (
	driverFlag    = "--driver"
	platformFlag  = "--platform"
	trailPlatform = "config.platform of the trail"
)

// driver returns the driver of the scope. target is used only when targetKnown.
func (r Request) driver(target Target, targetKnown bool) (Driver, error) {
	drivers := []setting{
		{r.FlagDriver, driverFlag},
		{r.TrailDriver, "the driver in config of the trail"},
		{r.EnvDriver, "TRAILBLAZE_DRIVER"},
		{r.ProjectDriver, "driver in trailblaze.yaml"},
	}
	platforms := []setting{
		{r.FlagPlatform, platformFlag},
		{r.TrailPlatform, trailPlatform},
		{r.ProjectPlatform, "platform in trailblaze.yaml"},
	}
	named, wanted := firstSet(drivers), firstSet(platforms)
	platform, platformErr := wanted.platform()
	if named.value == "" && wanted.value == "" {
		return r.onlyDriver(target, targetKnown, append(drivers, platforms...))
	}
	if named.value == "" {
		if platformErr != nil {
			return Driver{}, platformErr
		}
		return target.DefaultDriver(platform), target.checkPlatform(platform)
	}
	driver, ok := ParseDriver(named.value)
	if !ok {
		return Driver{}, join(named.unknownDriver(), platformErr)
	}
	if platformErr != nil {
		return Driver{}, platformErr
	}
	if wanted.restricts(named) && platform != driver.Platform {
		choices := driversOf(platform)
		return Driver{}, wanted.fault(choices, "leave one of them out, or pass --driver "+choices[0],
			"%s does not fit the driver %s (%s), which is for %s", wanted.value, driver.Key, named.origin,
			driver.Platform.Lower())
	}
	return driver, target.checkPlatform(driver.Platform)
}

// platform parses the setting as a platform; an unset one is the empty platform.
func (s setting) platform() (Platform, error) {
	if s.value == "" {
		return "", nil
	}
	if p, ok := ParsePlatform(s.value); ok {
		return p, nil
	}
	return "", s.fault(PlatformNames(), fault.DidYouMean(s.value, PlatformNames()), "unknown platform %q", s.value)
}

// restricts reports whether a driver set elsewhere has to be for the platform that s names: always for --platform, for
// a trail's platform unless --driver overrides the trail, and never for the project's platform, which is only a
// default.
func (s setting) restricts(driver setting) bool {
	switch s.origin {
	case platformFlag:
		return true
	case trailPlatform:
		return driver.origin != driverFlag
	}
	return false
}

// onlyDriver returns the default driver of the target's only platform, else of the only platform that the trail
// records.
func (r Request) onlyDriver(target Target, targetKnown bool, settings []setting) (Driver, error) {
	if len(target.Platforms) == 1 {
		return target.DefaultDriver(target.Platforms[0]), nil
	}
	if len(r.RecordedPlatforms) == 1 {
		return target.DefaultDriver(r.RecordedPlatforms[0]), target.checkPlatform(r.RecordedPlatforms[0])
	}
	onePlatform := func(t Target) bool { return len(t.Platforms) == 1 }
	if !targetKnown && slices.ContainsFunc(r.Targets, onePlatform) {
		return Driver{}, nil // the error about the target suffices: naming one may decide the driver too
	}
	reason, platforms := "no target decides it", []Platform{Android, IOS, Web}
	if targetKnown {
		reason = fmt.Sprintf("target %q names no platform", target.ID)
	}
	if len(target.Platforms) > 1 {
		platforms = target.Platforms
		reason = fmt.Sprintf("target %q has several platforms: %s", target.ID, strings.Join(lower(platforms), ", "))
	}
	keys := driversOf(platforms...)
	hint := "pass --platform " + strings.Join(lower(platforms), "|") + ", or --driver with one of: " + strings.Join(keys,
		", ")
	return Driver{}, unresolvedError(hint, "driver", settings, reason, keys)
}

// DefaultDriver returns the driver of a platform for which no setting names one.
func (t Target) DefaultDriver(p Platform) Driver {
	for _, d := range drivers() {
		if d.Platform == p && slices.Contains(t.Drivers[p], d.Key) {
			return d
		}
	}
	return DefaultDriver(p)
}

// checkPlatform returns an error when the target lists platforms and p is not one of them.
func (t Target) checkPlatform(p Platform) error {
	if len(t.Platforms) == 0 || slices.Contains(t.Platforms, p) {
		return nil
	}
	has := lower(t.Platforms)
	hint := fmt.Sprintf("pass --platform %s, or add %s: to platforms in the target's file", strings.Join(has, "|"),
		p.Lower())
	err := fault.New(fault.Scope, hint, "target %q is not set up for %s; it has %s", t.ID, p.Lower(),
		strings.Join(has, ", "))
	err.Details = map[string]any{"choices": has}
	return err
}

// driversOf returns the yaml keys of the platforms' drivers, each platform's default first.
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
