//go:build unix

package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trailblaze/trailblaze/pkg/spawn/spawntest"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// authored is a simulated phone on which a trail is written.
type authored struct {
	*phoneDesk
	app   *app.Device
	block string                   // the driver block of recorded selectors
	id    func(name string) string // how a recording writes the id of an element
	away  func()                   // fails the test unless the phone is as it was before
}

// onBothPlatforms runs a test on a simulated Android phone and on a simulated iPhone at once.
func onBothPlatforms(t *testing.T, run func(t *testing.T, platform string, a *authored)) {
	t.Helper()
	for _, platform := range []string{"android", "ios"} {
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			a := &authored{phoneDesk: newPhoneDesk(t), away: func() {}}
			if err := os.Remove(a.path("trails/see-an-order.trail.yaml")); err != nil {
				t.Fatal(err)
			}
			if platform == "android" {
				p := a.android()
				a.app, a.block, a.away = p.App, "androidAccessibility", func() { a.putBack(p) }
				a.id = func(name string) string { return `'com\.example\.shop:id/` + name + `'` }
			} else {
				p := a.iPhone()
				a.app, a.block = p.App, "iosMaestro"
				a.id = func(name string) string { return name }
				a.env = append(a.env, "TRAILBLAZE_WDA_URL="+p.URL())
			}
			a.app.SetPermission(app.ShopID, app.Notifications, true) // so that the system does not ask
			run(t, platform, a)
		})
	}
}

// reference returns the reference in the line of an element, such as button "Sign in".
func reference(t *testing.T, lines, element string) string {
	t.Helper()
	m := regexp.MustCompile(regexp.QuoteMeta(element) + `[^\n]*?\[ref=(e\d+)\]`).FindStringSubmatch(lines)
	if m == nil {
		t.Fatalf("no %s in:\n%s", element, lines)
	}
	return m[1]
}

// A session in the background on a phone: it shows the screen, acts by reference, records selectors that people would
// write, saves what passes its replay, and goes on after that.
func TestAuthoringOnPhone(t *testing.T) {
	t.Parallel()
	onBothPlatforms(t, func(t *testing.T, platform string, a *authored) {
		a.endSessions(t)
		a.app.Show(app.Orders)
		a.start(t, "--platform", platform)
		a.env = append(a.env, "TRAILBLAZE_SESSION=s1")
		call := func(args ...string) result {
			t.Helper()
			r := a.run(append([]string{"tool"}, args...)...)
			r.want(t, 0)
			return r
		}
		// The whole trail starts at the orders, also on an iPhone, whose app keeps what it has stored.
		first := call("launchApp", "appId=com.example.shop", "launchMode=FORCE_RESTART", "--step", "Open the shop")
		first.want(t, 0, "the screen is now another one, a part of its ", `button "Help" [ref=e`)
		shown := a.run("snapshot")
		shown.want(t, 0, `- text "30 orders" [ref=e`, `- button "Help" [ref=e`) // also behind a long list
		a.run("snapshot", "--find", "order 1148").want(t, 0, `text "Order 1148" [ref=e`, `button "Delete order 1148"`)
		a.run("session", "list").want(t, 0, "com.example.shop") // the app in front, in place of a URL
		a.run("snapshot", "--screenshot", "shot.png").wantErr(t, 0, "wrote shot.png")
		row, remove := reference(t, shown.stdout, `text "Order 1148"`), reference(t, shown.stdout, `button "Delete order 1147"`)
		call("tap", "ref="+row, "--step", "Open an order").wantErr(t, 0, `"Order 1148" contains digits and may change`)
		stale := a.run("tool", "tap", "ref="+remove)
		stale.wantErr(t, 1, remove+` was button "Delete order 1147", which is no longer on the screen`)

		field := reference(t, a.run("snapshot").stdout, `textbox "Note"`)
		tapped := call("tap", "ref="+field, "--step", "Write a note")
		tapped.want(t, 0, "["+"ref="+field+"] [focused]") // it keeps its reference when the keyboard opens
		if strings.Contains(tapped.stdout, `button "q"`) {
			t.Errorf("the keys of the keyboard are shown:\n%s", tapped.stdout)
		}
		call("inputText", "text=Leave it at the door", "--step", "Write a note")
		call("tap", "ref="+reference(t, a.run("snapshot").stdout, `button "Save note"`), "--step", "Write a note")
		call("assertVisible", "ref="+field, "--verify", "The note is there")

		recording := a.run("session", "recording").stdout
		for _, want := range []string{
			platform, "Regex: Order 1148\n", a.block + ":\n", "resourceIdRegex: " + a.id("note") + "\n", "resourceIdRegex: " + a.id("save") + "\n",
		} {
			if !strings.Contains(recording, want) {
				t.Errorf("no %q in\n%s", want, recording)
			}
		}
		for _, not := range []string{"ref:", "index:", "classNameRegex"} {
			if strings.Contains(recording, not) {
				t.Errorf("%q in\n%s", not, recording)
			}
		}
		a.run("session", "save", "trails/note.trail.yaml", "--title", "Write a note").want(t, 0, "the replay passed in ", "saved trails/note.trail.yaml")
		a.run("snapshot").want(t, 0, `textbox "Note" [ref=`+field+`]`) // the session uses the phone again
		a.run("run", "--platform", platform).want(t, 2, "is used by another trailblaze", "trailblaze session list")
		a.run("session", "end").want(t, 0)
		a.run("run", "--platform", platform).want(t, 0, "1 passed")
		if wrong := a.app.WrongTouches(); wrong > 0 || a.app.Screen() != app.Order {
			t.Errorf("%d touches hit nothing; the phone shows %s", wrong, a.app.Screen())
		}
		a.away()
	})
}

// An agent writes a trail on a phone through the client of the MCP SDK, with a secret.
func TestAgentOnPhone(t *testing.T) {
	t.Parallel()
	onBothPlatforms(t, func(t *testing.T, platform string, a *authored) {
		a.app.Show(app.SignIn)
		c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		server := a.command("mcp", "--platform", platform, "--secret", "PASSWORD="+app.Password)
		session, err := c.Connect(t.Context(), &mcp.CommandTransport{Command: server}, nil)
		if err != nil {
			t.Fatal(err)
		}
		call := func(name string, failed bool, args map[string]any) string {
			t.Helper()
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
			if err != nil || len(result.Content) == 0 {
				t.Fatalf("%s: %v %+v", name, err, result)
			}
			text := result.Content[0].(*mcp.TextContent).Text //nolint:forcetypeassert // a panic fails the test
			if result.IsError != failed || len(text) > 12<<10 || strings.Contains(text, app.Password) {
				t.Fatalf("%s: isError is %v, %d bytes:\n%s", name, result.IsError, len(text), text)
			}
			return text
		}
		step := func(kind, text string, calls ...map[string]any) string {
			t.Helper()
			answer := call("step", false, map[string]any{"kind": kind, "step": text, "calls": calls})
			if len(answer) > 1500 {
				t.Errorf("%s: %d bytes", text, len(answer))
			}
			return answer
		}
		type m = map[string]any
		step("step", "Open the shop", m{"launchApp": m{"appId": "com.example.shop", "launchMode": "FORCE_RESTART"}})
		shown := call("snapshot", false, nil)
		if !strings.Contains(shown, "app: com.example.shop\n") || strings.Contains(shown, "url:") {
			t.Error(shown)
		}
		tap := func(element string) m { return m{"tap": m{"ref": reference(t, shown, element)}} }
		signIn := step("step", "Sign in", tap(`textbox "Email"`), m{"inputText": m{"text": app.Email}},
			tap(`textbox "Password"`), m{"inputText": m{"text": "{{PASSWORD}}"}}, tap(`button "Sign in"`))
		if !strings.Contains(signIn, `text "Order 1149"`) {
			t.Error(signIn)
		}
		call("step", true, m{"step": "Run a command", "calls": []m{{"adbShell": m{"command": "id"}}}})
		step("verify", "The orders are there", m{"assertVisible": m{"text": "30 orders"}})
		step("step", "Sign out", m{"tap": m{"text": "Settings"}}, m{"tap": m{"text": "Sign out"}})
		if saved := call("save_trail", false, m{"file": "trails/sign-in.trail.yaml"}); !strings.Contains(saved, "passed its replay") {
			t.Error(saved)
		}
		if again := call("run_trail", false, m{"file": "trails/sign-in.trail.yaml"}); !strings.Contains(again, "the replay used the device") {
			t.Error(again)
		}
		call("snapshot", false, m{"screenshot": true})
		if err := session.Close(); err != nil {
			t.Error(err)
		}
		spawntest.NoSurvivors(t, a.marker)
		if trail := a.read(t, "trails/sign-in.trail.yaml"); strings.Contains(trail, "ref:") || !strings.Contains(trail, "{{PASSWORD}}") {
			t.Error(trail)
		}
		a.away()
	})
}

// What a run on a phone leaves: evidence, the trace with pictures, the report, and the recording.
func TestEvidenceOfPhone(t *testing.T) {
	t.Parallel()
	onBothPlatforms(t, func(t *testing.T, platform string, a *authored) {
		a.app.Show(app.Orders)
		a.write("trails/orders.trail.yaml", phoneTrailOf("assertVisible: { text: 30 orders }", "tap: { text: Order 1149 }",
			"assertVisible: { text: Nowhere, timeoutMs: 100 }"))
		a.run("run", "--platform", platform, "--html", "report", "--trace", "on", "--record", "recorded").want(t, 1, "1 failed", ", trace/")
		trace, files := a.trace("orders")
		if len(trace.Calls) != 3 {
			t.Fatalf("files %q, trace %+v", files, trace)
		}
		for _, c := range trace.Calls {
			if c.After == "" || c.Tree == "" {
				t.Errorf("call %s has no picture or no elements: %s", c.Call, c.NoPicture)
			}
		}
		failure := ""
		found, _ := filepath.Glob(filepath.Join(a.session(t), "failure", "*"))
		for _, file := range found {
			failure += filepath.Base(file) + " " + a.read(t, file)
		}
		page := a.read(t, "report/index.html")
		for _, want := range []string{"screenshot.png", "screen.txt", `button "Save note"`, "device.txt"} {
			if !strings.Contains(failure, want) {
				t.Errorf("the evidence has no %s", want)
			}
			if !strings.Contains(page, strings.ReplaceAll(want, `"`, "&#34;")) {
				t.Errorf("the report has no %s", want)
			}
		}
		if !strings.Contains(page, `class="film"`) {
			t.Error("the report has no film strip")
		}
		a.run("toolbox", "list", "--platform", platform, "-v").want(t, 0, "inputText", "launchMode")
		if checks := a.run("doctor").stdout; !strings.Contains(checks, "UiAutomator2 server 10.6.6") && !strings.Contains(checks, "WebDriverAgent at http") {
			t.Error(checks)
		}
		a.away()
	})
}
