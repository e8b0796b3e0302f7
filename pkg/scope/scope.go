// Package scope decides what a session is for: target, driver and location, from everything that may name them. It gets
// words and says which of them holds; where the words were read, and what a session does, it does not know. Everything in it
// is plain data, safe for concurrent use.
package scope

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// Target is an app under test as far as choosing one needs it.
type Target struct {
	ID          string
	DisplayName string
	Platforms   []Platform            // in the order of its file; none means that it does not say
	AppIDs      map[Platform][]string // per platform, as written
}

// Request is what every place says that may name a part of the scope, and the targets there are. An empty text means that the
// place says nothing.
type Request struct {
	FlagTarget, TrailTarget, EnvTarget, ProjectTarget string // TrailTarget may be an app id
	FlagDriver, TrailDriver, EnvDriver, ProjectDriver string // TrailDriver is the pin of the closest classifier
	FlagPlatform, TrailPlatform, ProjectPlatform      string
	FlagLocation, ProjectLocation                     string
	Targets                                           []Target
}

// Scope is what a session is for.
type Scope struct {
	Target   Target
	Driver   Driver
	Location Location
	AppID    string // the app id that the trail named, else the target's only one on the platform, else empty
}

// AppIDs lists the target's app ids on the scope's platform.
func (s Scope) AppIDs() []string { return s.Target.AppIDs[s.Driver.Platform] }

// Resolve decides the scope by the order of precedence of the specification, section 3. Its error is a *fault.Error of kind
// Misuse (a flag is wrong) or Scope (anything else), or several of them joined: all that is wrong with target, driver and location.
func Resolve(r Request) (Scope, error) {
	target, targetErr := r.target()
	driver, driverErr := r.driver(target, targetErr == nil)
	location, locationErr := r.location()
	if err := join(targetErr, driverErr, locationErr); err != nil {
		return Scope{}, err
	}
	s := Scope{Target: target, Driver: driver, Location: location}
	if ids := s.AppIDs(); slices.Contains(ids, r.TrailTarget) {
		s.AppID = r.TrailTarget
	} else if len(ids) == 1 {
		s.AppID = ids[0]
	}
	return s, nil
}

// CheckFlags says what is wrong with the flags by themselves, whatever a trail adds: a typing error is then known before
// anything is started. The error is a *fault.Error of kind Misuse, or several of them joined.
func (r Request) CheckFlags() error {
	alone := Request{FlagLocation: r.FlagLocation}
	_, locationErr := alone.location()
	var targetErr, driverErr error
	if w := (word{r.FlagTarget, "--target"}); w.text != "" {
		_, targetErr = pick(w, r.knownTargets())
	}
	_, platformErr := word{r.FlagPlatform, platformFlag}.platform()
	if _, known := ParseDriver(r.FlagDriver); r.FlagDriver != "" && !known {
		driverErr = word{r.FlagDriver, driverFlag}.unknownDriver()
	}
	return join(targetErr, driverErr, platformErr, locationErr)
}

func (w word) unknownDriver() error {
	return w.fault(DriverKeys(), SuggestDriver(w.text), "unknown driver %q", w.text)
}

// join is errors.Join that leaves a single error as it is.
func join(errs ...error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}

// word is what one place says.
type word struct {
	text  string
	place string // as a user would name it; flags start with --
}

// fault is an error about the word, with what could stand in its place.
func (w word) fault(choices []string, hint, format string, args ...any) *fault.Error {
	kind := fault.Scope
	if strings.HasPrefix(w.place, "--") {
		kind = fault.Misuse
	}
	err := fault.New(kind, hint, "%s: %s", w.place, fmt.Sprintf(format, args...))
	err.Details = map[string]any{"choices": choices}
	return err
}

// first returns the first word that says something, else an empty one.
func first(words []word) word {
	for _, w := range words {
		if w.text != "" {
			return w
		}
	}
	return word{}
}

// open is the error for a part of the scope that nothing decides.
func open(hint, what string, words []word, rest string, choices []string) *fault.Error {
	places := make([]string, len(words))
	for i, w := range words {
		places[i] = w.place
	}
	err := fault.New(fault.Scope, hint, "no %s: nothing in %s; %s", what, strings.Join(places, ", "), rest)
	err.Details = map[string]any{"lookedAt": places, "choices": choices}
	return err
}

const (
	trailTarget   = "config.target of the trail"
	noTargetsHint = "write target: NAME in trailblaze.yaml, or add trailblaze-config/targets/NAME.yaml"
)

func (r Request) target() (Target, error) {
	words := []word{
		{r.FlagTarget, "--target"},
		{r.TrailTarget, trailTarget},
		{r.EnvTarget, "TRAILBLAZE_TARGET"},
		{r.ProjectTarget, "target in trailblaze.yaml"},
	}
	known := r.knownTargets()
	w := first(words)
	if w.text != "" {
		return pick(w, known)
	}
	switch len(known) {
	case 1:
		return known[0], nil
	case 0:
		return Target{}, open(noTargetsHint, "target", words, "and the project has no targets", []string{})
	}
	ids := targetIDs(known)
	rest := fmt.Sprintf("and the project has %d targets", len(known))
	return Target{}, open("pass --target with one of: "+strings.Join(ids, ", "), "target", words, rest, ids)
}

// knownTargets are the targets with a file and the project's default, which needs none. When there are neither, the project
// leaves the names of targets to its trails.
func (r Request) knownTargets() []Target {
	known := slices.Clone(r.Targets)
	has := func(id string) bool { return slices.Contains(targetIDs(known), id) }
	if r.ProjectTarget != "" && !has(r.ProjectTarget) {
		known = append(known, Target{ID: r.ProjectTarget})
	}
	if len(known) == 0 && r.TrailTarget != "" {
		known = append(known, Target{ID: r.TrailTarget})
	}
	return known
}

func pick(w word, known []Target) (Target, error) {
	var byApp []Target
	for _, t := range known {
		if t.ID == w.text {
			return t, nil
		}
		if w.place == trailTarget && t.hasApp(w.text) {
			byApp = append(byApp, t)
		}
	}
	if len(byApp) == 1 {
		return byApp[0], nil
	}
	if len(byApp) > 1 {
		ids := targetIDs(byApp)
		return Target{}, w.fault(ids, "name one of them in its place",
			"app id %q belongs to several targets: %s", w.text, strings.Join(ids, ", "))
	}
	ids := targetIDs(known)
	if len(ids) == 0 {
		return Target{}, w.fault(ids, noTargetsHint, "unknown target %q; the project has none", w.text)
	}
	hint := fmt.Sprintf("name one of them, or add trailblaze-config/targets/%s.yaml", w.text)
	if len(fault.Nearest(w.text, ids)) > 0 {
		hint = fault.DidYouMean(w.text, ids)
	}
	return Target{}, w.fault(ids, hint, "unknown target %q; known: %s", w.text, strings.Join(ids, ", "))
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

func (r Request) location() (Location, error) {
	w := first([]word{{r.FlagLocation, "--agent"}, {r.ProjectLocation, "agent in trailblaze.yaml"}})
	if w.text == "" {
		return Host, nil
	}
	if l, ok := ParseLocation(w.text); ok {
		return l, nil
	}
	return "", w.fault(LocationNames(), fault.DidYouMean(w.text, LocationNames()), "unknown agent mode %q", w.text)
}
