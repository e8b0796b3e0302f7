package mobile

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// TestPicturesAfterASecretWasGiven makes calls and then shows a screen, whose picture is withheld from traces, evidence
// and agents, or not.
func TestPicturesAfterASecretWasGiven(t *testing.T) {
	t.Parallel()
	field := func(id string) *screen.Node {
		n := node("EditText", "", rect(40, 300, 1040, 420))
		n.Key, n.Editable, n.Focused, n.Password, n.ID = "field", true, true, true, &id
		return n
	}
	pin, search := field("a:id/pin"), field("a:id/search")
	orders := node("TextView", "Orders", rect(0, 0, 100, 100))
	digits := []*screen.Node{}
	for i, digit := range "hunter2" {
		digits = append(digits, node("TextView", string(digit), rect(i*50, 0, i*50+50, 50)))
	}
	const given, app, shown = "a secret was given to this screen", "a secret was given to this app", "the screen shows a secret"
	paste := []string{"mobile_setClipboard hunter2", "mobile_pasteClipboard"}
	for name, tt := range map[string]struct {
		calls  []string
		then   []*screen.Node
		front  string // another app
		reason string // why the picture is withheld; empty for none
	}{
		"no call":                {nil, digits, "", ""},
		"another text":           {[]string{"inputText hello"}, []*screen.Node{pin}, "", ""},
		"the same screen":        {[]string{"inputText hunter2"}, []*screen.Node{orders, pin}, "", given},
		"another screen":         {[]string{"inputText hunter2"}, []*screen.Node{orders}, "", ""},
		"another field":          {[]string{"inputText hunter2"}, []*screen.Node{search}, "", ""},
		"the field of an app":    {[]string{"inputText hunter2"}, []*screen.Node{pin}, "com.other", ""},
		"one digit per element":  {[]string{"inputText hunter2"}, digits, "", shown},
		"pasted":                 {paste, []*screen.Node{pin}, "", given},
		"pasted something else":  {append(paste[:1:1], "mobile_setClipboard x", "mobile_pasteClipboard"), []*screen.Node{pin}, "", ""},
		"pasted, older name":     {[]string{"setClipboard hunter2", "mobile_pasteClipboard"}, []*screen.Node{pin}, "", given},
		"Maestro":                {[]string{"mobile_maestro hunter2"}, []*screen.Node{orders}, "", app},
		"Maestro, older name":    {[]string{"maestro hunter2"}, []*screen.Node{orders}, "", app},
		"a link":                 {[]string{"openUrl app://x?token=hunter2"}, []*screen.Node{orders}, "", app},
		"a link, another app":    {[]string{"openUrl app://x?token=hunter2"}, []*screen.Node{orders}, "com.other", ""},
		"removed with its data":  {[]string{"openUrl app://x?token=hunter2", "clearAppData"}, []*screen.Node{orders}, "", ""},
		"installed anew":         {[]string{"inputText hunter2", "launchApp REINSTALL"}, []*screen.Node{pin}, "", ""},
		"started anew":           {[]string{"inputText hunter2", "launchApp FORCE_RESTART"}, []*screen.Node{pin}, "", given},
		"a check of what is not": {[]string{"assertNotVisibleWithText hunter2"}, []*screen.Node{orders}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fake{nodes: func(f *fake, _ time.Duration) []*screen.Node {
				typed := *pin
				typed.Text = new(strings.Repeat("•", len(f.content)))
				return []*screen.Node{&typed}
			}}
			redact := func(s string) string { return strings.ReplaceAll(s, "hunter2", "{{PIN}}") }
			onPhone(t, f, device.Session{Redact: redact}, func(p *phoneTest) {
				for _, c := range tt.calls {
					command, arg, _ := strings.Cut(c, " ")
					args := map[string]any{}
					switch command {
					case "openUrl":
						args["url"] = arg
					case "launchApp":
						args["launchMode"] = arg
					case "mobile_maestro", "maestro":
						args["commands"] = []any{map[string]any{"inputText": arg}}
					case "inputText", "mobile_setClipboard", "setClipboard", "assertNotVisibleWithText":
						args["text"] = arg
						f.clipboard = arg
					}
					if r := p.call(command, args); !r.OK {
						t.Fatalf("%s: %s", c, r.Text)
					}
				}
				f.nodes = always(tt.then...)
				if tt.front != "" {
					f.front = tt.front
				}
				p.wantsPicture(tt.reason)
			})
		})
	}
}

// TestPictureOfUnknownScreenIsWithheld gives a secret to a screen without a field, or does not know the app in front.
func TestPictureOfUnknownScreenIsWithheld(t *testing.T) {
	t.Parallel()
	f := &fake{nodes: always(node("TextView", "Orders", rect(0, 0, 100, 100)))}
	redact := func(s string) string { return strings.ReplaceAll(s, "hunter2", "{{PIN}}") }
	onPhone(t, f, device.Session{Redact: redact}, func(p *phoneTest) {
		p.call("openUrl", map[string]any{"url": "app://hunter2"})
		f.fail = map[string]error{"Foreground": errors.New("no answer")}
		p.wantsPicture("whether the screen shows a secret could not be checked: no answer")
		f.fail, f.front = nil, ""
		p.wantsPicture("a secret was given to this app")
		f.front = "com.other"
		p.wantsPicture("")
	})
}

// wantsPicture checks the picture of a trace, of the evidence and for an agent. reason says why there is none.
func (p *phoneTest) wantsPicture(reason string) {
	p.Helper()
	tracer := p.device.(device.Tracer)
	tracer.StartTrace(device.TraceOptions{})
	if p.device.(*phone).currentDriver() == nil {
		p.call("hideKeyboard", nil)
	}
	if m := tracer.Moment(p.Context(), true); m.NoPicture != reason || (m.Picture != nil) != (reason == "") {
		p.Errorf("a trace: %v %q, want %q", m.Picture != nil, m.NoPicture, reason)
	}
	v, err := p.device.(device.Viewer).View(p.Context(), device.ViewOptions{Screenshot: true})
	if err != nil || v.Withheld != reason || (v.Screenshot != nil) != (reason == "") {
		p.Errorf("an agent: %v %q %v, want %q", v.Screenshot != nil, v.Withheld, err, reason)
	}
	about, picture := "", false
	for _, a := range p.device.Evidence(p.Context()) {
		picture = picture || a.Name == "screenshot.png"
		if a.Name == "device.txt" {
			about = string(a.Data)
		}
	}
	if picture != (reason == "") || reason != "" && !strings.Contains(about, "No screenshot: "+reason+"\n") {
		p.Errorf("evidence: %v %q, want %q", picture, about, reason)
	}
}
