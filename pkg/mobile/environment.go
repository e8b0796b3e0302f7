package mobile

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// environmentCommands are the commands for what a device notices of the world around it.
func environmentCommands() []command {
	return []command{
		newCommand("mobile_setLocation", "Tells the device that it is at a place, in degrees.",
			`"latitude": {"type": "number", "minimum": -90, "maximum": 90},
			"longitude": {"type": "number", "minimum": -180, "maximum": 180}`, setLocation, "latitude", "longitude"),
		newCommand("mobile_setAppearance", "Changes how the device shows apps, until the end of the session.",
			optionalWord("style", "The colours", string(Light), string(Dark))+", "+
				optionalWord("fontSize", "The size of texts", fontSizes()...)+
				`, "locale": {"type": "string", "pattern": "^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$", "description": "Of the app, such as de-DE"}, `+
				appProperty, setAppearance).checkedBy(checkAppearance),
		newCommand("mobile_biometric", "Answers an app that asks for a fingerprint or a face.",
			`"match": {"type": "boolean", "default": true, "description": "false: of a person that the device does not know"}`, biometric),
	}
}

// optionalWord is device.Enum for a word without a default.
func optionalWord(name, description string, values ...string) string {
	return fmt.Sprintf(`"%s": {"type": "string", "pattern": "^(?i:%s)$", "description": "%s: %s; in any case"}`,
		name, strings.Join(values, "|"), description, strings.Join(values, ", "))
}

func setLocation(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	at := Location{a.Number("latitude", 0), a.Number("longitude", 0)}
	err := perform(ctx, d, "set the location", "an emulator, a simulator, Android 12 and iOS 16.4 have one that can be set",
		func(ctx context.Context, s LocationSetter) error {
			note, err := s.SetLocation(ctx, at)
			if note != "" {
				d.notes = append(d.notes, note)
			}
			return err
		})
	return success("the device is at %s", at), err
}

// String returns latitude and longitude.
func (l Location) String() string { return degrees(l.Latitude) + ", " + degrees(l.Longitude) }

// NoteOf returns a note for people if a device says that it is elsewhere; "" if it is at l.
func (l Location) NoteOf(now Location) string {
	const near = 1e-4 // degrees, about 10 m
	if math.Abs(now.Latitude-l.Latitude) < near && math.Abs(now.Longitude-l.Longitude) < near {
		return ""
	}
	return fmt.Sprintf("the device says that it is at %s", now)
}

func fontSizes() []string {
	return []string{string(SmallFont), string(DefaultFont), string(LargeFont), string(LargestFont)}
}

func checkAppearance(a device.Arguments) error {
	if !a.Has("style") && !a.Has("fontSize") && !a.Has("locale") {
		return invalid("", "give style, fontSize or locale")
	}
	return nil
}

// appearance is how a device shows apps. What is empty stays as it is, or is not known.
type appearance struct {
	style    Style
	fontSize FontSize
	locale   string // of app
	app      string
}

// set changes how a device shows apps, first what devices refuse most. It returns what the device says of itself
// afterwards.
func (a appearance) set(ctx context.Context, s AppearanceSetter) (now appearance, err error) {
	if a.locale != "" {
		now.locale, err = s.SetLocale(ctx, a.app, a.locale)
	}
	if err == nil && a.fontSize != "" {
		now.fontSize, err = s.SetFontSize(ctx, a.fontSize)
	}
	if err == nil && a.style != "" {
		now.style, err = s.SetStyle(ctx, a.style)
	}
	return now, err
}

// appearanceOf reads the arguments of mobile_setAppearance. What is absent is empty.
func (d *phone) appearanceOf(a device.Arguments) (wanted appearance, err error) {
	if err := checkAppearance(a); err != nil {
		return wanted, err
	}
	if a.Has("style") {
		word, err := a.Word("style", string(Light), string(Dark))
		if err != nil {
			return wanted, err
		}
		wanted.style = Style(word)
	}
	if a.Has("fontSize") {
		word, err := a.Word("fontSize", fontSizes()...)
		if err != nil {
			return wanted, err
		}
		wanted.fontSize = FontSize(word)
	}
	if a.Has("locale") {
		wanted.locale = strings.ReplaceAll(a.Text("locale"), "_", "-")
		wanted.app, err = d.appOf(a)
	}
	return wanted, err
}

func setAppearance(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	wanted, err := d.appearanceOf(a)
	if err != nil {
		return tool.Result{}, err
	}
	var now appearance
	err = perform(ctx, d, "change the appearance", "change it in the settings of the device", func(ctx context.Context, s AppearanceSetter) error {
		now, err = wanted.set(ctx, s)
		return err
	})
	if err != nil {
		return tool.Result{}, err
	}
	var done []string
	for _, part := range []struct{ name, want, got string }{
		{"style", string(wanted.style), string(now.style)},
		{"fontSize", string(wanted.fontSize), string(now.fontSize)},
		{"locale", wanted.locale, now.locale},
	} {
		switch {
		case part.want == "":
			continue
		case part.got == "":
			d.notes = append(d.notes, "the device does not say its "+part.name)
		case part.got != part.want:
			return tool.Result{}, fault.New(fault.ToolFailed, "the app or a setting of the device may keep it",
				"%s is %s after it was set to %s", part.name, part.got, part.want)
		}
		done = append(done, part.name+" "+part.want)
	}
	return success("set %s", strings.Join(done, ", ")), nil
}

func biometric(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	match := a.Flag("match", true)
	done := success("sent a fingerprint or a face that the device does not know")
	if match {
		done = success("sent a fingerprint or a face that the device knows")
	}
	return done, perform(ctx, d, "send a fingerprint or a face", "only emulators and simulators have such a sensor",
		func(ctx context.Context, s BiometricSensor) error { return s.SendBiometric(ctx, match) })
}

func degrees(d float64) string { return strconv.FormatFloat(d, 'f', -1, 64) }
