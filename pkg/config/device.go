package config

import (
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// Setting is something that the project file says of devices. What it means is for the kinds of device to know.
type Setting struct {
	Key   string // in camelCase
	Value string // as text

	at yamldoc.Node // its key
}

// deviceSettings reads settings of any name.
func (l *loader) deviceSettings(n yamldoc.Node) {
	for _, e := range n.Entries() {
		s := Setting{Key: camelCase(e.Key), at: e.At}
		switch e.Value.Kind() {
		case yamldoc.Text:
			s.Value = l.expanded(e.Value, text(e.Value))
		default:
			s.Value = e.Value.Scalar()
		}
		if slices.ContainsFunc(l.project.Device, func(other Setting) bool { return other.Key == s.Key }) {
			e.At.Errorf("remove one of them", "%q stands twice", s.Key)
		}
		l.project.Device = append(l.project.Device, s)
	}
}

// DeviceValues returns the settings by key. Problems are those that none of keys names.
func (p *Project) DeviceValues(keys []string) (map[string]string, fault.Problems) {
	values := map[string]string{}
	var problems fault.Problems
	for _, s := range p.Device {
		values[s.Key] = s.Value
		if !slices.Contains(keys, s.Key) {
			hint := fault.DidYouMean(s.Key, keys)
			problems = append(problems, s.at.Problem(hint, "no kind of device knows a setting %q", s.Key))
		}
	}
	return values, problems
}

func camelCase(key string) string {
	words := strings.Split(key, "_")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}
