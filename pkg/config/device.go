package config

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// Setting is an option of a kind of device in the project file. The kind defines what it means.
type Setting struct {
	Kind  string // the platform of the kind, in lower case: android, ios or web; empty for every kind that has the key
	Key   string // in camelCase
	Value string // text as it is, other scalars as written, lists and mappings as JSON

	at yamldoc.Node // the key
}

// Device is a device that the project names, for `run --device NAME` and `run --all-devices`.
type Device struct {
	Name          string
	Platform      string            // lower case; empty when not set
	Driver        string            // yaml key; empty for the platform's default
	ID            string            // what the platform calls it: a serial or a udid; empty when not set
	Env           map[string]string // variables for the servers of its sessions; may be nil
	Classifiers   []string          // broadest first; empty for the platform alone
	Width, Height int               // in pixels; 0 when not set
	Settings      []Setting         // override those under device:
}

// deviceName matches names that can be written in a list of devices and differ from PLATFORM:NAME.
var deviceName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// devices reads the named devices.
func (l *loader) devices(n yamldoc.Node) {
	for _, e := range n.Entries() {
		_, isPlatform := scope.ParsePlatform(e.Key)
		_, isDriver := scope.ParseDriver(e.Key)
		switch {
		case isPlatform || isDriver:
			e.At.Errorf("call it "+e.Key+"-1, for instance", "%q cannot be the name of a device: it means any %s device", e.Key,
				e.Key)
		case !deviceName().MatchString(e.Key):
			e.At.Errorf("use letters, digits, ., _ and -", "%q cannot be the name of a device", e.Key)
		}
		l.project.Devices = append(l.project.Devices, l.device(e))
	}
}

func (l *loader) device(e yamldoc.Entry) Device {
	d := Device{Name: e.Key}
	if e.Value.Kind() == yamldoc.Null {
		return d
	}
	known := map[string]func(yamldoc.Node){
		"platform":   func(n yamldoc.Node) { d.Platform = readPlatform(n).Lower() },
		"driver":     func(n yamldoc.Node) { d.Driver = readDriver(n).Key },
		"id":         func(n yamldoc.Node) { d.ID = l.expandVariables(n, scalar(n)) },
		"env":        func(n yamldoc.Node) { d.Env = l.deviceEnv(n) },
		"classifier": func(n yamldoc.Node) { d.Classifiers = commaSeparated(text(n)) },
		"size": func(n yamldoc.Node) {
			var ok bool
			if d.Width, d.Height, ok = ParseSize(text(n)); !ok {
				n.Errorf("write it like 1080x2400", "this is not a size in pixels")
			}
		},
	}
	var settings []yamldoc.Entry
	for _, entry := range e.Value.Entries() {
		if read, ok := known[entry.Key]; ok {
			read(entry.Value)
		} else {
			settings = append(settings, entry)
		}
	}
	driver, hasDriver := scope.ParseDriver(d.Driver)
	if hasDriver && d.Platform != "" && driver.Platform.Lower() != d.Platform {
		e.At.Errorf("remove one of them", "driver %q is for %s, but platform is %s", driver.Key, driver.Platform.Lower(),
			d.Platform)
	}
	l.settings(&d.Settings, settings, cmp.Or(driver.Platform.Lower(), d.Platform))
	return d
}

// deviceEnv reads the environment variables of a device.
func (l *loader) deviceEnv(n yamldoc.Node) map[string]string {
	for _, v := range n.Entries() {
		l.maskDevice(v.Key, v.Value.Scalar())
	}
	return l.variables(n)
}

func commaSeparated(s string) []string {
	parts := strings.Split(s, ",")
	for i, part := range parts {
		parts[i] = strings.TrimSpace(part)
	}
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}

// ParseSize parses a size in pixels, such as 1080x2400.
func ParseSize(s string) (width, height int, ok bool) {
	w, h, _ := strings.Cut(s, "x")
	width, errW := strconv.Atoi(w)
	height, errH := strconv.Atoi(h)
	if errW != nil || errH != nil || width <= 0 || height <= 0 {
		return 0, 0, false
	}
	return width, height, true
}

// deviceSettings reads the settings under device:. Those below the name of a kind are for that kind alone.
func (l *loader) deviceSettings(n yamldoc.Node) {
	l.settings(&l.project.Device, n.Entries(), "")
}

// settings reads settings, some of them below the name of a kind; the others are those of kind.
func (l *loader) settings(to *[]Setting, entries []yamldoc.Entry, kind string) {
	for _, e := range entries {
		if p, ok := scope.ParsePlatform(e.Key); ok {
			for _, below := range kindEntries(e.Value) {
				l.setting(to, below, p.Lower())
			}
			continue
		}
		l.setting(to, e, kind)
	}
}

// kindEntries returns the settings of a kind, none for a key without a value.
func kindEntries(n yamldoc.Node) []yamldoc.Entry {
	if n.Kind() == yamldoc.Null {
		return nil
	}
	return n.Entries()
}

func (l *loader) setting(to *[]Setting, e yamldoc.Entry, kind string) {
	s := Setting{Kind: kind, Key: camelCase(e.Key), Value: l.settingValue(e), at: e.At}
	if slices.ContainsFunc(*to, func(other Setting) bool { return other.Kind == s.Kind && other.Key == s.Key }) {
		e.At.Errorf("remove one of them", "%q is defined twice", s.Key)
	}
	*to = append(*to, s)
}

// settingValue returns the value of a setting as text, with environment variables expanded.
func (l *loader) settingValue(e yamldoc.Entry) string {
	switch e.Value.Kind() {
	case yamldoc.Text:
		l.maskDevice(e.Key, e.Value.Str())
		return l.expandVariables(e.Value, text(e.Value))
	case yamldoc.List, yamldoc.Mapping:
		data, err := json.Marshal(l.expandedValue(e.Key, e.Value))
		if err != nil {
			e.Value.Errorf("", "the value cannot be written as JSON: %v", err)
		}
		return string(data)
	default:
		return e.Value.Scalar()
	}
}

// expandedValue returns a value with environment variables expanded in its text. key is the key that it belongs to.
func (l *loader) expandedValue(key string, n yamldoc.Node) any {
	switch n.Kind() {
	case yamldoc.Text:
		l.maskDevice(key, n.Str())
		return l.expandVariables(n, n.Str())
	case yamldoc.List:
		list := []any{}
		for _, item := range n.Items() {
			list = append(list, l.expandedValue(key, item))
		}
		return list
	case yamldoc.Mapping:
		object := map[string]any{}
		for _, e := range n.Entries() {
			object[e.Key] = l.expandedValue(e.Key, e.Value)
		}
		return object
	default:
		return n.Value()
	}
}

// maskDevice adds the secrets in a value to the project's.
func (l *loader) maskDevice(key, raw string) {
	for name, value := range l.secrets(key, raw) {
		l.maskValue(name, value)
	}
}

// maskValue adds a secret to the project's.
func (l *loader) maskValue(name, value string) {
	if l.project.Secrets == nil {
		l.project.Secrets = map[string]string{}
	}
	l.project.Secrets[name] = value
}

// DeviceValues returns the settings of a kind for a device by key: its own and, unless it overrides them, those under
// device:. In both, a setting of that kind wins over one of every kind.
func (p *Project) DeviceValues(kind string, d Device) map[string]string {
	values := map[string]string{}
	for _, settings := range [][]Setting{p.Device, d.Settings} {
		for _, of := range []string{"", kind} {
			for _, s := range settings {
				if s.Kind == of {
					values[s.Key] = s.Value
				}
			}
		}
	}
	return values
}

// DeviceKind is a kind of device with its settings.
type DeviceKind struct {
	Name  string                        // see Setting.Kind
	Keys  []string                      // of its settings
	Check func(key, value string) error // may be nil
}

// DeviceProblems returns the settings that kinds do not have, and those for which their Check returns an error.
func (p *Project) DeviceProblems(kinds []DeviceKind) fault.Problems {
	problems := settingProblems(p.Device, kinds)
	for _, d := range p.Devices {
		problems = append(problems, settingProblems(d.Settings, kinds, "platform", "driver", "id", "env", "classifier",
			"size")...)
	}
	return problems
}

// settingProblems returns the problems of settings. others are further keys that are allowed beside them.
func settingProblems(settings []Setting, kinds []DeviceKind, others ...string) fault.Problems {
	var problems fault.Problems
	for _, s := range settings {
		problems = append(problems, s.problems(kinds, others)...)
	}
	return problems
}

func (s Setting) problems(kinds []DeviceKind, others []string) fault.Problems {
	var problems fault.Problems
	known, has, platform := others, false, ""
	if s.Kind != "" {
		platform = " for " + s.Kind + " devices"
		kinds = slices.DeleteFunc(slices.Clone(kinds), func(k DeviceKind) bool { return k.Name != s.Kind })
		if len(kinds) == 0 {
			return fault.Problems{s.at.Problem("remove it", "this version has no settings%s", platform)}
		}
	}
	for _, k := range kinds {
		known = slices.Concat(known, k.Keys)
		if !slices.Contains(k.Keys, s.Key) {
			continue
		}
		has = true
		if err := k.check(s); err != nil {
			problems = append(problems, s.at.Problem(strings.Join(fault.Hints(err), "; "), "%v", err))
		}
	}
	if !has && (s.Key == "baseUrl" || s.Key == "base_url") {
		return fault.Problems{s.at.Problem("write it at the top of trailblaze.yaml, or under platforms: web: of a target's file",
			"%q is not a setting of a device", s.Key)}
	}
	if !has {
		return fault.Problems{s.at.Problem(fault.DidYouMean(s.Key, known), "unknown setting %q%s", s.Key, platform)}
	}
	return problems[:min(len(problems), 1)] // two kinds say the same
}

func (k DeviceKind) check(s Setting) error {
	if k.Check == nil {
		return nil
	}
	return k.Check(s.Key, s.Value)
}

// FindDevice returns the device with a name; ok is false when the project names none so.
func (p *Project) FindDevice(name string) (d Device, ok bool) {
	i := slices.IndexFunc(p.Devices, func(d Device) bool { return d.Name == name })
	if i < 0 {
		return Device{}, false
	}
	return p.Devices[i], true
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
