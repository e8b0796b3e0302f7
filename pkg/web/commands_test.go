package web

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// TestActionsAndAssertionsTakeALimit lists the commands that need none: they wait for nothing on a page.
func TestActionsAndAssertionsTakeALimit(t *testing.T) {
	t.Parallel()
	without := strings.Fields(`captureScreen clearAppData getElementCount getElementText hasText launchApp web_applyCookies web_applyStorageState
		web_closeTab web_currentUrl web_getStorageState web_handleDialog web_listTabs web_resize web_route web_setClock web_snapshot web_unroute
		web_wait`)
	var got []string
	for _, c := range commands() {
		if !strings.Contains(string(c.InputSchema), `"timeoutMs"`) {
			got = append(got, c.Name)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(without, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestListsOfTheKindNameCommands(t *testing.T) {
	t.Parallel()
	var names []string
	for _, c := range commands() {
		names = append(names, c.Name)
	}
	k := Kind()
	for _, name := range slices.Concat(k.Checks, k.Reads, k.Primary, k.PrimaryChecks, k.StartCommands, k.Restricted) {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not a command", name)
		}
	}
}

func TestLimitsOfNavigationsAndScripts(t *testing.T) {
	t.Parallel()
	u := openSession(t)
	slow := slowPage(t)
	u.mustFail("navigate", []any{"url", slow, "timeoutMs", 500}, "within 500ms")
	openSession(t).mustFail("web_navigate", []any{"url", slow, "timeoutMs", 500}, "within 500ms")
	for _, name := range []string{"evaluateJs", "web_evaluate"} {
		u.mustFail(name, []any{"script", "new Promise(() => {})", "timeoutMs", 100}, "a promise of the script to settle")
	}
	u.mustCall("navigate", "url", serve(t, nil)+"/page-store.html")
	u.mustEval("history.pushState(0, '', '?next'); 0")
	u.mustCall("web_navigate", "action", "BACK", "timeoutMs", 5000)
}

// slowPage returns the URL of a page that does not answer.
func slowPage(t *testing.T) string {
	t.Helper()
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-done:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(done) })
	return server.URL
}

func TestCommandsOfSpecification(t *testing.T) {
	t.Parallel()
	want := strings.Fields(
		`tap inputText launchApp clearAppData isVisible hasText getElementText getElementCount captureScreen assertVisible
		waitUntilVisible navigate click fill waitForSelector evaluateJs web_navigate web_click web_hover web_type web_fillSecret web_selectOption
		web_scroll web_pressKey web_wait web_waitForUrl web_snapshot web_resize web_currentUrl web_evaluate web_getStorageState web_applyCookies
		web_verifyTextVisible web_verifyElementVisible web_verifyValue web_verifyListVisible web_handleDialog
		web_setChecked web_uploadFile web_dragTo web_getText rememberText rememberNumber findMatches web_verifyAccessibility web_verifyTextNotVisible web_verifyElementNotVisible web_verifyCount verifyScreenshot
		assertWaypoint web_verifyState web_verifyUrl web_verifyTitle web_verifyAriaSnapshot
		web_waitForTab web_switchTab web_closeTab web_listTabs web_waitForDownload web_verifyDialog
		web_route web_unroute web_waitForRequest web_waitForResponse web_requestDetails web_assertNetworkEvent web_applyStorageState web_setClock`,
	)
	var got []string
	for _, c := range commands() {
		got = append(got, c.Name)
		if c.run == nil || c.Description == "" || c.Meta["trailblaze/toolset"] != device.Toolset {
			t.Errorf("%s: %+v", c.Name, c.Advertised)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCommandsRejectUnknownArguments(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		is := &discover.Tool{Name: c.Name, InputSchema: c.InputSchema}
		problems := is.CheckArgs(map[string]any{"refs": 1, "reasoning": "to see"}, nil)
		if len(problems) == 0 || problems[0].Message != `unknown argument "refs"` || problems[0].Hint == "" {
			t.Errorf("%s: %v", c.Name, problems)
		}
	}
}

func TestArgumentsAreValidated(t *testing.T) {
	t.Parallel()
	element := map[string]any{"web": map[string]any{"cssSelector": "a"}}
	for _, tt := range []struct {
		tool string
		args map[string]any
		want string // in what is said; empty when they fit
	}{
		{"web_click", map[string]any{"ref": "e1"}, ""},
		{"web_click", map[string]any{"nodeSelector": element, "reasoning": "x"}, ""},
		{"web_click", map[string]any{"ref": "e1", "nodeSelector": map[string]any{"index": 2}}, ""},
		{"web_click", map[string]any{"nodeSelector": map[string]any{"androidAccessibility": map[string]any{}}}, ""},
		{
			"web_click",
			map[string]any{"nodeSelector": map[string]any{"beneath": element}},
			`unknown argument "nodeSelector.beneath"`,
		},
		{
			"web_click",
			map[string]any{"nodeSelector": map[string]any{"web": map[string]any{"css": "a"}}},
			`unknown argument "nodeSelector.web.css"`,
		},
		{
			"web_click",
			map[string]any{"nodeSelector": map[string]any{"web": map[string]any{"nthIndex": -1}}},
			"nodeSelector",
		},
		{"web_type", map[string]any{"ref": "e1"}, `missing argument "text"`},
		{"web_type", map[string]any{"ref": "e1", "text": "", "clearFirst": "no"}, "clearFirst"},
		{"web_fillSecret", map[string]any{"ref": "e1", "value": "x", "nodeSelector": element}, ""},
		{"web_navigate", map[string]any{"action": "Back"}, ""},
		{"web_scroll", map[string]any{"direction": "lEfT", "amount": 2.5}, ""},
		{"web_scroll", map[string]any{"direction": "sideways"}, "direction must be one of DOWN, UP, LEFT, RIGHT"},
		{"web_scroll", map[string]any{"amount": -1}, "amount"},
		{
			"web_verifyValue",
			map[string]any{"expected": "x", "type": "textual"},
			"type must be one of TEXT, VALUE, ATTRIBUTE",
		},
		{"web_verifyListVisible", map[string]any{"items": []any{}}, "items"},
		{"web_verifyListVisible", map[string]any{"items": []any{"a", 2}}, ""},
		{"web_verifyTextVisible", map[string]any{"text": ""}, "text"},
		{"web_selectOption", map[string]any{"values": "one"}, ""},
		{"web_selectOption", map[string]any{"values": []any{true}}, "values"},
		{"isVisible", map[string]any{"text": "x", "timeoutMs": 1.5}, "timeoutMs"},
		{"tap", map[string]any{"text": "x", "index": -1}, "index"},
		{"fill", map[string]any{"selector": "", "value": ""}, "selector"},
	} {
		i := slices.IndexFunc(commands(), func(c command) bool { return c.Name == tt.tool })
		is := &discover.Tool{Name: tt.tool, InputSchema: commands()[i].InputSchema}
		problems := is.CheckArgs(tt.args, nil)
		if tt.want == "" && len(problems) > 0 ||
			tt.want != "" && (len(problems) == 0 || !strings.Contains(problems[0].Message, tt.want)) {
			t.Errorf("%s %v: %v, want %q", tt.tool, tt.args, problems, tt.want)
		}
	}
}

func TestOnlySecretArgumentIsHidden(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		is := &discover.Tool{Name: c.Name, InputSchema: c.InputSchema}
		shown := is.MaskedArgs(map[string]any{"ref": "css=#x", "value": "v", "text": "t"})
		if hidden := shown["value"] != "v"; hidden != (c.Name == "web_fillSecret") || shown["ref"] != "css=#x" ||
			shown["text"] != "t" {
			t.Errorf("%s: %v", c.Name, shown)
		}
	}
}

func TestHasTheCommandsOfEveryDevice(t *testing.T) {
	t.Parallel()
	for _, c := range device.Core() {
		if !slices.ContainsFunc(Kind().Commands(), func(own tool.Advertised) bool { return own.Name == c.Name }) {
			t.Errorf("%s is a command of every device, and the kind does not have it", c.Name)
		}
	}
}

func TestPageScriptUsesRolesOfScreen(t *testing.T) {
	t.Parallel()
	selector := controlSelector()
	if !strings.Contains(pageScript(defaultTestID), strconv.Quote(selector)) {
		t.Fatal("the script does not have the selector of controls")
	}
	for _, role := range screen.Roles() {
		if strings.Contains(selector+",", "[role="+role+"],") != screen.IsControl(role) {
			t.Errorf("%s is a control: %v, and the script has %s", role, screen.IsControl(role), selector)
		}
	}
	want := []string{
		"textbox", "Date", "DateTime", "InputTime", "ColorWell", "combobox", "searchbox", "slider", "spinbutton",
	}
	if diff := cmp.Diff(want, fieldRoles()); diff != "" {
		t.Errorf("the roles of fields (-want +got)\n%s", diff)
	}
}
