package mobile

import (
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

type m = map[string]any

func maestroOf(commands ...any) m { return m{"commands": commands} }

func TestMaestroFlows(t *testing.T) {
	t.Parallel()
	save := node("Button", "Save", rect(0, 600, 200, 700))
	// "Error" is gone after three presses of BACK.
	f := &fake{nodes: func(f *fake, _ time.Duration) []*screen.Node {
		if strings.Count(strings.Join(f.log, " "), "press BACK") < 3 {
			return []*screen.Node{save, node("TextView", "Error", rect(0, 100, 200, 200))}
		}
		return []*screen.Node{save}
	}}
	onPhone(t, f, device.Session{}, func(p *phoneTest) {
		p.does("mobile_maestro", maestroOf(m{"runFlow": m{"when": m{"visible": "Missing"}, "commands": []any{"back"}}},
			m{"runFlow": m{"when": m{"notVisible": m{"text": "Missing"}, "platform": "iOS"}, "commands": []any{"back"}}},
			m{"runFlow": m{"when": m{"true": "false"}, "commands": []any{"back"}}},
			m{"runFlow": m{"when": m{"visible": "Save", "platform": "Android"}, "commands": []any{m{"tapOn": "Save"}}}}),
			"skipped, because the condition does not hold; skipped, because the condition does not hold; skipped, because the condition does not hold; "+
				`tapped button "Save"`, "touch 100,650 for 100ms")
		p.does("mobile_maestro", maestroOf(m{"repeat": m{"while": m{"visible": "Error"}, "commands": []any{"back"}}}),
			"ran 3 times", "press BACK", "press BACK", "press BACK")
		p.does("mobile_maestro", maestroOf(m{"repeat": m{"times": "2", "commands": []any{m{"tapOn": "Save"}}}}),
			"ran 2 times", "touch 100,650 for 100ms", "touch 100,650 for 100ms")
		p.fails("mobile_maestro", maestroOf("back", m{"repeat": m{"times": 2, "commands": []any{"back", m{"assertTrue": "false"}}}}),
			`commands[1].repeat: commands[1].assertTrue: "false" is not true`)
	})
}

func TestMaestroRetries(t *testing.T) {
	t.Parallel()
	shown := false
	f := &fake{nodes: func(_ *fake, at time.Duration) []*screen.Node {
		if shown = shown || at > 12*time.Second; shown { // after the limit of the first try
			return []*screen.Node{node("Button", "Save", rect(0, 600, 200, 700))}
		}
		return nil
	}}
	onPhone(t, f, device.Session{}, func(p *phoneTest) {
		retry := maestroOf(m{"retry": m{"maxRetries": "2", "commands": []any{m{"tapOn": "Save"}}}})
		if r := p.call("mobile_maestro", retry); !r.OK || len(r.Notes) != 1 || r.Notes[0] != "passed after 1 retries" {
			t.Errorf("%s %s, notes %q", r.Text, r.Hint, r.Notes)
		}
		p.fails("mobile_maestro", maestroOf(m{"retry": m{"commands": []any{m{"assertVisible": "Nothing"}}}}),
			`text "Nothing" was not found (within 5s; app com.example.orders)`)
		r := p.call("mobile_maestro", maestroOf(m{"assertVisible": m{"text": "Nothing", "optional": true, "label": "perhaps"}}, m{"tapOn": "Save"}))
		if !r.OK || r.Text != `skipped assertVisible, which is optional; tapped button "Save"` || len(r.Notes) != 1 {
			t.Errorf("%v %s, notes %q", r.OK, r.Text, r.Notes)
		}
	})
}

func TestMaestroForTheDevice(t *testing.T) {
	t.Parallel()
	f := &fake{nodes: fieldAnd(node("TextView", "Order 1149", rect(0, 600, 200, 700)), node("Button", "Picture", rect(0, 800, 200, 900)))}
	onPhone(t, f, device.Session{}, func(p *phoneTest) {
		p.does("mobile_maestro", maestroOf(m{"copyTextFrom": "Order .*"}, "pasteText", m{"doubleTapOn": "Picture"},
			m{"setAirplaneMode": "Enabled"}, m{"setAirplaneMode": "disabled"}, m{"assertTrue": true}, "waitForAnimationToEnd",
			m{"scrollUntilVisible": m{"element": "Picture", "direction": "DOWN", "timeout": 50000, "visibilityPercentage": "100"}}),
			`copied "Order 1149"; entered 10 characters into textbox "Name"; tapped twice button "Picture"; disconnected the device from its networks; `+
				`connected the device to its networks; "true" is true; the screen has come to rest; button "Picture" is visible after 0 scrolls`,
			`set "Order 1149"`, "touch 100,850 for 100ms twice", "network false", "network true")
		p.fails("mobile_maestro", maestroOf(m{"setOrientation": "LANDSCAPE_LEFT"}), "trailblaze cannot turn the screen on this device: Pixel 7, Android 14")
		p.fails("mobile_maestro", maestroOf(m{"setLocation": m{"latitude": "52.5", "longitude": 13.4}}),
			"trailblaze cannot set the location on this device: Pixel 7, Android 14")
		p.fails("mobile_maestro", maestroOf("clearKeychain"), "trailblaze cannot clear the keychain on this device: Pixel 7, Android 14")
	})
}

func TestMaestroThatCannotBeRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command    any
		want, hint string
	}{
		"file":       {m{"runFlow": "login.yaml"}, "commands[0].runFlow: expected no value, found login.yaml", ""},
		"no body":    {m{"runFlow": m{}}, "commands[0].runFlow: commands is missing", "part of a trail"},
		"env":        {m{"runFlow": m{"env": m{}, "commands": []any{"back"}}}, `commands[0].runFlow: unknown key "env"`, ""},
		"inside":     {m{"repeat": m{"times": 1, "commands": []any{"bak"}}}, `commands[0].repeat.commands[0]: unknown command "bak" of Maestro`, "back"},
		"endless":    {m{"repeat": m{"commands": []any{"back"}}}, "commands[0].repeat: expected times or while", ""},
		"condition":  {m{"runFlow": m{"when": m{"seen": "a"}, "commands": []any{"back"}}}, `commands[0].runFlow: when: unknown condition "seen"; known are visible, notVisible, platform and true`, ""},
		"retries":    {m{"retry": m{"maxRetries": 9, "commands": []any{"back"}}}, "commands[0].retry: maxRetries: expected at most 3, found 9", ""},
		"expression": {m{"assertTrue": "${a == 1}"}, `commands[0].assertTrue: condition: "${a == 1}" is an expression of JavaScript, which is not evaluated`, "{{name}}"},
		"unknown":    {m{"runFlow": m{"when": m{"true": "${a == 1}"}, "commands": []any{"back"}}}, `commands[0].runFlow: true: "${a == 1}" is an expression of JavaScript, which is not evaluated`, "{{name}}"},
		"platform":   {m{"runFlow": m{"when": m{"platform": "Andorid"}, "commands": []any{"back"}}}, `commands[0].runFlow: platform: "Andorid" is not one of ANDROID, IOS, WEB`, "ANDROID"},
		"no mode":    {"setAirplaneMode", "commands[0].setAirplaneMode: mode is missing", ""},
		"script":     {m{"evalScript": "${1}"}, "commands[0]: the command evalScript of Maestro is not supported", "a tool of your own"},
		"upside":     {m{"setOrientation": "UPSIDE_DOWN"}, `commands[0].setOrientation: orientation: "UPSIDE_DOWN" is not one of PORTRAIT, LANDSCAPE_LEFT, LANDSCAPE_RIGHT`, "PORTRAIT"},
		"place":      {m{"setLocation": m{"latitude": 91, "longitude": 0}}, `commands[0].setLocation: latitude: expected degrees from -90 to 90, found "91"`, ""},
		"optional":   {m{"tapOn": m{"text": "a", "optional": "maybe"}}, `commands[0].tapOn: optional: expected true or false, found "maybe"`, ""},
		"scroll":     {m{"scrollUntilVisible": m{"direction": "DOWN"}}, "commands[0].scrollUntilVisible: element is missing", ""},
		"mode":       {m{"setAirplaneMode": "on"}, `commands[0].setAirplaneMode: mode: "on" is not one of ENABLED, DISABLED`, ""},
	} {
		_, err := readMaestro(Android, maestroOf(c.command))
		if err == nil || err.Error() != c.want || fault.KindOf(err) != fault.InvalidArguments {
			t.Errorf("%s: got  %v\nwant %s", name, err, c.want)
		} else if hint := strings.Join(fault.Hints(err), "; "); !strings.Contains(hint, c.hint) {
			t.Errorf("%s: %q is not in the hint %q", name, c.hint, hint)
		}
	}
	for _, c := range maestro() {
		if maestroInstead()[c.name] != "" {
			t.Errorf("%s is supported", c.name)
		}
	}
}

// The limit of a call is that of all its commands, also of those that run several times.
func TestLimitOfMaestro(t *testing.T) {
	t.Parallel()
	l := DefaultLimits("")
	for want, command := range map[time.Duration]any{
		10 * time.Second:           "back",
		3 * 10 * time.Second:       m{"repeat": m{"times": 3, "commands": []any{"back"}}},
		2 * (10 * time.Second * 2): m{"retry": m{"commands": []any{"back", "back"}}},
		maxTimeout:                 m{"repeat": m{"while": m{"visible": "a"}, "commands": []any{"back"}}},
	} {
		if got := l.ofMaestro(maestroOf(command)); got != want {
			t.Errorf("%v: %s, want %s", command, got, want)
		}
	}
	if got := l.limitOf(tool.Call{Tool: "mobile_background", Args: m{"seconds": 100.0}}); got < 100*time.Second {
		t.Errorf("mobile_background ends after %s", got)
	}
}
