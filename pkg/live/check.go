package live

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/replay"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/session"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// TrailProblems are what makes the replay of a trail fail, and what may be wrong with it.
type TrailProblems struct {
	Problems fault.Problems `json:"problems"`
	Warnings fault.Problems `json:"warnings"`
}

// Check returns what is wrong with a text as the content of a trail file, which need not exist. It knows the tools of the
// session, also those of servers, for its platform. It does not wait for other requests.
func (s *Session) Check(_ context.Context, file string, content []byte) (TrailProblems, error) {
	path, err := s.contentPath(file)
	if err != nil {
		return TrailProblems{}, err
	}
	tools, err := s.knownTools()
	if err != nil {
		return TrailProblems{}, err
	}
	c := replay.Checker{
		Project: s.opts.Project, Loader: s.loaderWith(path, append([]byte{}, content...)), Tools: tools,
		Names: slices.Concat(slices.Collect(maps.Keys(s.opts.Memory)), slices.Collect(maps.Keys(s.opts.Secrets))),
	}
	var out TrailProblems
	out.Problems, out.Warnings = c.Check(s.relative(path), path)
	return out, nil
}

// knownTools returns what the session knows of tools. After a call of reloadTools any other may exist.
func (s *Session) knownTools() (trail.Tools, error) {
	others := trail.Tools{
		FromServer: func(string) bool { return true },
		CheckCall:  func(scope.Platform, trail.Call) []fault.Problem { return nil },
	}
	if s.opts.OtherTools != nil {
		var err error
		if others, err = s.opts.OtherTools(); err != nil {
			return others, err
		}
	}
	registry, reloaded := s.tools(), false
	return trail.Tools{
		FromServer: func(name string) bool {
			if t, known := registry.Lookup(name); known {
				return t.Source.Kind.OfProject()
			}
			return others.FromServer(name)
		},
		CheckCall: func(platform scope.Platform, call trail.Call) []fault.Problem {
			reloaded = reloaded || call.Tool == tool.ReloadTools
			if platform != "" && platform != s.opts.Scope.Driver.Platform {
				return others.CheckCall(platform, call)
			}
			t, err := registry.Find(call.Tool)
			switch {
			case err == nil:
				return session.CallProblems(t, call)
			case reloaded:
				return nil
			}
			return []fault.Problem{session.UnknownTool(err, call)}
		},
	}, nil
}

// Variable is a value that tokens can use.
type Variable struct {
	Name   string `json:"name"`
	Value  string `json:"value"` // as text; empty for a secret
	Secret bool   `json:"secret,omitempty"`
}

// Variables returns the memory of the session and the names of its secrets, by name. It does not wait for other
// requests.
func (s *Session) Variables(context.Context) ([]Variable, error) {
	var out []Variable
	for name, value := range s.inner.Memory().Texts() {
		out = append(out, Variable{Name: name, Value: value})
	}
	for name := range s.opts.Secrets {
		out = append(out, Variable{Name: name, Secret: true})
	}
	slices.SortFunc(out, func(a, b Variable) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}
