package config

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/scope"
	"github.com/trailblaze/trailblaze/pkg/yamldoc"
)

// Setting is an option of devices in the project file. The kinds of device define what it means.
type Setting struct {
	Key   string // in camelCase
	Value string // as text

	at yamldoc.Node // the key
}

// Device is a device that the project names, for `run --device NAME` and `run --all-devices`.
type Device struct {
	Name          string
	Platform      string    // lower case; empty when not set
	Driver        string    // yaml key; empty for the platform's default
	Classifiers   []string  // broadest first; empty for the platform alone
	Width, Height int       // in pixels; 0 when not set
	Settings      []Setting // override those under device:
}

// deviceName matches names that can be written in a list of devices and differ from PLATFORM:NAME.
var deviceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// devices reads the named devices.
func (l *loader) devices(n yamldoc.Node) {
	for _, e := range n.Entries() {
		_, isPlatform := scope.ParsePlatform(e.Key)
		_, isDriver := scope.ParseDriver(e.Key)
		switch {
		case isPlatform || isDriver:
			e.At.Errorf("call it "+e.Key+"-1, for instance", "%q cannot be the name of a device: it means any %s device", e.Key,
				e.Key)
		case !deviceName.MatchString(e.Key):
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
		"classifier": func(n yamldoc.Node) { d.Classifiers = commaSeparated(text(n)) },
		"size": func(n yamldoc.Node) {
			var ok bool
			if d.Width, d.Height, ok = ParseSize(text(n)); !ok {
				n.Errorf("write it like 1080x2400", "this is not a size in pixels")
			}
		},
	}
	for _, entry := range e.Value.Entries() {
		if read, ok := known[entry.Key]; ok {
			read(entry.Value)
			continue
		}
		l.setting(&d.Settings, entry)
	}
	if driver, ok := scope.ParseDriver(d.Driver); ok && d.Platform != "" && driver.Platform.Lower() != d.Platform {
		e.At.Errorf("remove one of them", "driver %q is for %s, but platform is %s", driver.Key, driver.Platform.Lower(),
			d.Platform)
	}
	return d
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

// deviceSettings reads the settings under device:.
func (l *loader) deviceSettings(n yamldoc.Node) {
	for _, e := range n.Entries() {
		l.setting(&l.project.Device, e)
	}
}

func (l *loader) setting(to *[]Setting, e yamldoc.Entry) {
	s := Setting{Key: camelCase(e.Key), at: e.At}
	switch e.Value.Kind() {
	case yamldoc.Text:
		s.Value = l.expanded(e.Value, text(e.Value))
	default:
		s.Value = e.Value.Scalar()
	}
	if slices.ContainsFunc(*to, func(other Setting) bool { return other.Key == s.Key }) {
		e.At.Errorf("remove one of them", "%q is defined twice", s.Key)
	}
	*to = append(*to, s)
}

// DeviceValues returns the settings for a device by key: its own over those under device:.
func (p *Project) DeviceValues(d Device) map[string]string {
	values := map[string]string{}
	for _, s := range slices.Concat(p.Device, d.Settings) {
		values[s.Key] = s.Value
	}
	return values
}

// DeviceProblems are the settings that none of keys names, and those that judge has an error for.
func (p *Project) DeviceProblems(keys []string, check func(key, value string) error) fault.Problems {
	var problems fault.Problems
	look := func(settings []Setting, more ...string) {
		for _, s := range settings {
			if !slices.Contains(keys, s.Key) {
				problems = append(problems, s.at.Problem(fault.DidYouMean(s.Key, slices.Concat(keys, more)),
					"no kind of device knows a setting %q", s.Key))
			} else if err := check(s.Key, s.Value); err != nil {
				problems = append(problems, s.at.Problem(strings.Join(fault.Hints(err), "; "), "%v", err))
			}
		}
	}
	look(p.Device)
	for _, d := range p.Devices {
		look(d.Settings, "platform", "driver", "classifier", "size")
	}
	return problems
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
