// Package scope resolves what a session is for: target, driver and agent mode, from the flags, environment, files and
// trail that may name them. It does not depend on where those values were read or on what a session does. Everything in
// it is plain data and safe for concurrent use.
package scope

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Target is an app under test.
type Target struct {
	ID          string
	DisplayName string
	Platforms   []Platform            // in the order of its file; empty means that the file does not restrict it
	AppIDs      map[Platform][]string // per platform, as written
	Drivers     map[Platform][]string // keys of those that are used without being named, per platform; empty: all
}

// Request holds the settings that may decide a scope, and the project's targets. An empty setting is unset.
type Request struct {
	FlagTarget, TrailTarget, EnvTarget, ProjectTarget string // TrailTarget may be an app id
	FlagDriver, TrailDriver, EnvDriver, ProjectDriver string // TrailDriver is that of the closest classifier
	FlagPlatform, TrailPlatform, ProjectPlatform      string
	FlagAgentMode, ProjectAgentMode                   string
	RecordedPlatforms                                 []Platform // for which the trail has recordings, each once
	Targets                                           []Target
}

// Scope is what a session is for.
type Scope struct {
	Target    Target
	Driver    Driver
	AgentMode AgentMode
	AppID     string // the app id that the trail named, else the target's only one on the platform, else empty
}

// AppIDs returns the target's app ids on the scope's platform.
func (s Scope) AppIDs() []string { return s.Target.AppIDs[s.Driver.Platform] }

// Resolve returns the scope that a request stands for. For each part the first setting counts: flag, trail,
// environment, project, then the only choice there is. Its error holds everything that is wrong with target, driver and
// agent mode: one *fault.Error of kind Misuse (a flag is wrong) or Scope (anything else), or several of them joined.
func Resolve(r Request) (Scope, error) {
	target, targetErr := r.target()
	driver, driverErr := r.driver(target, targetErr == nil)
	mode, modeErr := r.agentMode()
	if err := join(targetErr, driverErr, modeErr); err != nil {
		return Scope{}, err
	}
	s := Scope{Target: target, Driver: driver, AgentMode: mode}
	if ids := s.AppIDs(); slices.Contains(ids, r.TrailTarget) {
		s.AppID = r.TrailTarget
	} else if len(ids) == 1 {
		s.AppID = ids[0]
	}
	return s, nil
}

// CheckFlags returns what is wrong with the flags alone, so that a typing error is reported before anything starts. The
// error is a *fault.Error of kind Misuse, or several of them joined.
func (r Request) CheckFlags() error {
	flags := Request{FlagAgentMode: r.FlagAgentMode}
	_, modeErr := flags.agentMode()
	var targetErr, driverErr error
	if s := (setting{r.FlagTarget, targetFlag}); s.value != "" {
		_, targetErr = s.target(r.knownTargets())
	}
	_, platformErr := setting{r.FlagPlatform, platformFlag}.platform()
	if _, known := ParseDriver(r.FlagDriver); r.FlagDriver != "" && !known {
		driverErr = setting{r.FlagDriver, driverFlag}.unknownDriver()
	}
	return join(targetErr, driverErr, platformErr, modeErr)
}

// join does what errors.Join does, but returns a single error unchanged.
func join(errs ...error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}

// setting is a value that a flag, a file or the environment gives for a part of the scope.
type setting struct {
	value  string // empty when unset
	origin string // as a user would name it; flags start with --
}

// fault returns an error about the setting, with the values that it could have.
func (s setting) fault(choices []string, hint, format string, args ...any) *fault.Error {
	kind := fault.Scope
	if strings.HasPrefix(s.origin, "--") {
		kind = fault.Misuse
	}
	err := fault.New(kind, hint, "%s: %s", s.origin, fmt.Sprintf(format, args...))
	err.Details = map[string]any{"choices": choices}
	return err
}

func (s setting) unknownDriver() error {
	return s.fault(DriverKeys(), SuggestDriver(s.value), "unknown driver %q", s.value)
}

// firstSet returns the first setting that has a value, else an empty one.
func firstSet(settings []setting) setting {
	for _, s := range settings {
		if s.value != "" {
			return s
		}
	}
	return setting{}
}

// unresolvedError returns the error for a part of the scope that no setting decides.
func unresolvedError(hint, part string, settings []setting, reason string, choices []string) *fault.Error {
	origins := make([]string, len(settings))
	for i, s := range settings {
		origins[i] = s.origin
	}
	err := fault.New(fault.Scope, hint, "no %s is set: looked at %s; %s", part, strings.Join(origins, ", "), reason)
	err.Details = map[string]any{"lookedAt": origins, "choices": choices}
	return err
}

const (
	targetFlag    = "--target"
	trailTarget   = "config.target of the trail"
	noTargetsHint = "write target: NAME in trailblaze.yaml, or add trailblaze-config/targets/NAME.yaml"
)

func (r Request) target() (Target, error) {
	settings := []setting{
		{r.FlagTarget, targetFlag},
		{r.TrailTarget, trailTarget},
		{r.EnvTarget, "TRAILBLAZE_TARGET"},
		{r.ProjectTarget, "target in trailblaze.yaml"},
	}
	known := r.knownTargets()
	if s := firstSet(settings); s.value != "" {
		return s.target(known)
	}
	switch len(known) {
	case 1:
		return known[0], nil
	case 0:
		return Target{}, unresolvedError(noTargetsHint, "target", settings, "the project has no targets", []string{})
	}
	ids := targetIDs(known)
	reason := fmt.Sprintf("the project has %d targets", len(known))
	return Target{}, unresolvedError("pass --target with one of: "+strings.Join(ids, ", "), "target", settings, reason, ids)
}

// knownTargets returns the targets that have a file and the project's default, which needs none. A project with neither
// accepts the target that a trail names.
func (r Request) knownTargets() []Target {
	known := slices.Clone(r.Targets)
	if r.ProjectTarget != "" && !slices.Contains(targetIDs(known), r.ProjectTarget) {
		known = append(known, Target{ID: r.ProjectTarget})
	}
	if len(known) == 0 && r.TrailTarget != "" {
		known = append(known, Target{ID: r.TrailTarget})
	}
	return known
}

// target returns the target that the setting names by its id, or, in a trail, by one of its app ids.
func (s setting) target(known []Target) (Target, error) {
	var byApp []Target
	for _, t := range known {
		if t.ID == s.value {
			return t, nil
		}
		if s.origin == trailTarget && t.hasApp(s.value) {
			byApp = append(byApp, t)
		}
	}
	if len(byApp) == 1 {
		return byApp[0], nil
	}
	if len(byApp) > 1 {
		ids := targetIDs(byApp)
		return Target{}, s.fault(ids, "write the id of one of them instead",
			"app id %q belongs to several targets: %s", s.value, strings.Join(ids, ", "))
	}
	ids := targetIDs(known)
	if len(ids) == 0 {
		return Target{}, s.fault(ids, noTargetsHint, "unknown target %q; the project has none", s.value)
	}
	hint := fmt.Sprintf("name one of them, or add trailblaze-config/targets/%s.yaml", s.value)
	if len(fault.Nearest(s.value, ids)) > 0 {
		hint = fault.DidYouMean(s.value, ids)
	}
	return Target{}, s.fault(ids, hint, "unknown target %q; known: %s", s.value, strings.Join(ids, ", "))
}

func (t Target) hasApp(id string) bool {
	for _, ids := range t.AppIDs {
		if slices.Contains(ids, id) {
			return true
		}
	}
	return false
}

func targetIDs(targets []Target) []string {
	ids := make([]string, len(targets))
	for i, t := range targets {
		ids[i] = t.ID
	}
	return ids
}

func (r Request) agentMode() (AgentMode, error) {
	s := firstSet([]setting{{r.FlagAgentMode, "--agent"}, {r.ProjectAgentMode, "agent in trailblaze.yaml"}})
	if s.value == "" {
		return Host, nil
	}
	if mode, ok := ParseAgentMode(s.value); ok {
		return mode, nil
	}
	return "", s.fault(AgentModes(), fault.DidYouMean(s.value, AgentModes()),
		"unknown value %q; expected host or on-device", s.value)
}
