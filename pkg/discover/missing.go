package discover

import (
	"maps"
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
)

// missing returns why tools are not registered that sources know: those that other sources of a kind have, those that
// are unavailable, and those that are registered under another name or excluded.
func (r *Registry) missing() map[string]*fault.Error {
	r.explain.Do(func() {
		if r.known == nil {
			r.known = missingFrom(r.sources)
		}
	})
	return r.known
}

func missingFrom(sources []Source) map[string]*fault.Error {
	why := map[string]*fault.Error{}
	for _, src := range sources {
		maps.Copy(why, src.lacking())
		for name, err := range src.Unavailable {
			if why[name] == nil {
				why[name] = err
			}
		}
		for name, use := range src.Instead {
			why[name] = fault.New(fault.UnknownTool, use, "%s has no command %q", src.Source, name)
		}
		for _, adv := range src.Tools {
			if err := src.leftOut(adv.Name); err != nil {
				why[adv.Name] = err
			}
		}
	}
	return why
}

// leftOut returns why a tool that the source advertises is not registered under its name, nil if it is.
func (s Source) leftOut(name string) *fault.Error {
	if matchesAny(s.Exclude, name) {
		return fault.New(fault.UnknownTool, "change exclude: in the server's entry", "tool %q of %s is excluded", name, s.Source)
	}
	if other, renamed := s.Rename[name]; renamed {
		return fault.New(fault.UnknownTool, "", "tool %q of %s is registered as %q", name, s.Source, other)
	}
	return nil
}

// lacking returns the errors for the tools of its kind that the source does not advertise.
func (s Source) lacking() map[string]*fault.Error {
	if s.OfKind == nil {
		return nil
	}
	has := make([]string, len(s.Tools))
	for i, t := range s.Tools {
		has[i] = t.Name
	}
	list := strings.Join(has, ", ")
	why := map[string]*fault.Error{}
	for _, name := range s.OfKind() {
		switch {
		case len(has) == 0:
			why[name] = fault.New(fault.UnknownTool, "use a driver that this version supports, or a tool of a server",
				"%q is a device command, and this version does not support the device of %s", name, s.Name)
		case !slices.Contains(has, name):
			why[name] = fault.New(fault.UnknownTool, "record the step for this platform", "%s has no command %q; it has %s",
				s.Source, name, list)
		}
	}
	return why
}
