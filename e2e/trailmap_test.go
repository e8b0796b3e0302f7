//go:build unix

package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const bakery = "../testdata/projects/bakery"

// newWorkspace is a copy of a workspace of the JVM Trailblaze.
func newWorkspace(t *testing.T, dir string) *project {
	t.Helper()
	p := newProject(t, nil)
	p.dir = filepath.Join(p.dir, "work")
	if err := os.CopyFS(p.dir, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return p
}

// newBakery is a copy of the bakery. change replaces texts in its files.
func newBakery(t *testing.T, change map[string]string) *project {
	t.Helper()
	p := newWorkspace(t, bakery)
	for name, text := range change {
		p.write(name, text)
	}
	return p
}

func setUpBakery(t *testing.T) *docShell {
	t.Helper()
	return &docShell{project: newBakery(t, nil)}
}

// TestWorkspaceOfTheJVM replays a recorded trail of a workspace as it is, from several folders.
func TestWorkspaceOfTheJVM(t *testing.T) {
	t.Parallel()
	p := newBakery(t, nil)
	for _, dir := range []string{"", "trails/search", "trails/config"} {
		r := p.runIn(filepath.Join(p.dir, dir), "run", "--json")
		r.want(t, 0)
		want := []string{
			"1 bakery_open", "1.1 web_navigate", "2 bakery_search", "2.1 web_type", "2.2 web_click", "2.3 web_verifyTextVisible",
			"3 bakery_sayHello", "3.1 rememberValue", "4 assertEquals", "5 bakery_toBasket", "5.1 web_click", "6 web_verifyTextVisible",
		}
		same(t, dir, want, r.called(t))
	}
	r := p.run("run", "--project", "trails/config")
	r.want(t, 0, "✓ Look for a cake")
	if n := strings.Count(r.stderr, "warning:"); n != 0 {
		t.Errorf("stderr has %d warnings\n%s", n, r.stderr)
	}
}

// TestComposedToolsAreRecordedAsTheyWereCalled records the replay, which gives the same calls again.
func TestComposedToolsAreRecordedAsTheyWereCalled(t *testing.T) {
	t.Parallel()
	p := newBakery(t, nil)
	p.run("run", "--record", "trails/search/again.trail.yaml").want(t, 0)
	recorded, err := os.ReadFile(filepath.Join(p.dir, "trails/search/again.trail.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for text, n := range map[string]int{"bakery_open": 1, "bakery_search": 1, "bakery_sayHello": 1, "web_type": 0, "rememberValue": 0, "web_verifyTextVisible": 1} {
		if strings.Count(string(recorded), text) != n {
			t.Errorf("%s is not recorded %d times in\n%s", text, n, recorded)
		}
	}
	p.run("run", "trails/search/again.trail.yaml").want(t, 0)
	p.write("trails/config/trailmaps/bakery/tools/bakery_search.tool.yaml", strings.Replace(p.read(t, "trails/config/trailmaps/bakery/tools/bakery_search.tool.yaml"),
		"parameters:", "is_recordable: false\nparameters:", 1))
	p.run("run", "trails/search/trail.yaml", "--record", "trails/search/calls.trail.yaml").want(t, 0)
	calls := p.read(t, "trails/search/calls.trail.yaml")
	if strings.Contains(calls, "bakery_search") || !strings.Contains(calls, "web_type") || !strings.Contains(calls, "text: Lemon cake") {
		t.Errorf("a tool that is not recordable is recorded as\n%s", calls)
	}
}

func TestFailedCallOfAComposedTool(t *testing.T) {
	t.Parallel()
	p := newBakery(t, nil)
	trail := func(calls string) {
		p.write("trails/search/trail.yaml", "config: {target: bakery}\ntrail:\n  - step: do it\n    recording:\n      web:\n"+calls)
	}
	trail("        - bakery_search: {cake: Lemon cake}\n")
	p.run("run").want(t, 1, "call 1 of 3 of bakery_search: ")
	trail("        - bakery_search: {cak: Lemon cake}\n")
	p.run("check").wantErr(t, 3, "trail.yaml:6:", "bakery_search: ", `"cak"`)
	p.run("run").want(t, 1, `did you mean "cake"?`)
	trail("        - bakery_fillBasket: {coun: 1}\n")
	p.run("run").want(t, 1, `did you mean "count"?`)
	trail("        - objectiveStatus: {}\n")
	p.run("run").want(t, 1, `this version does not have the tool "objectiveStatus" of the JVM Trailblaze`)
	p.write("trails/config/trailmaps/bakery/tools/loop.tool.yaml", "id: loop\ndescription: Calls itself.\ntools: [loop: {}]\n")
	trail("        - loop: {}\n")
	p.run("run").want(t, 1, "do tools call each other in a circle?")
	p.write("trails/config/trailmaps/bakery/tools/loop.tool.yaml", "id: loop\ndescription: Waits.\ntools: [wait: {seconds: 0}, wait: {seconds: 60}]\n")
	trail("        - loop: {}\n          timeout: 200ms\n")
	p.run("run").want(t, 1, "call 2 of 2 of loop: ", "the timeout of the recorded call")
}

// TestWaypointsInAWorkspace has a step after which another screen is shown than the rules describe.
func TestWaypointsInAWorkspace(t *testing.T) {
	t.Parallel()
	const trail = "trails/search/trail.yaml"
	p := newBakery(t, nil)
	calls := func(rules string) {
		p.write(trail, "config: {target: bakery}\ntrail:\n  - step: do it\n    recording:\n      web:\n        - bakery_open: {}\n        - bakery_toBasket: {}\n"+
			"        - assertWaypoint: {"+rules+"}\n")
	}
	const basket = `required: [{selector: {web: {ariaRole: button}}, minCount: 4}, {description: notice, selector: {web: {cssSelector: "#out"}}}]`
	calls("id: basket, " + basket + `, forbidden: [{selector: {web: {cssSelector: .error}}}]`)
	p.run("run").want(t, 0, " passed in ")
	calls("id: shop, timeoutMs: 50, " + basket + `, forbidden: [{description: a notice, selector: {web: {cssSelector: "#out:not(:empty)"}}}]`)
	p.run("run").want(t, 1, `the screen is not "shop": forbidden "a notice": found 1, expected none`)
	calls("id: shop")
	p.run("check").wantErr(t, 3, "trail.yaml:8:", "no rule says what the screen has")
	calls("forbidden: [{selector: {web: {ariaRole: buton}}}]")
	p.run("check").wantErr(t, 3, "trail.yaml:8:", `forbidden[0].selector.web.ariaRole: "buton" is not an ARIA role`)
	calls("required: [{selector: {web: {ariaRole: button}}, mincount: 2}]")
	p.run("check").wantErr(t, 3, `unknown argument "required.0.mincount"`)
}

// TestTokensInValuesOfComposedToolsAreText has a value from memory that looks like a token.
func TestTokensInValuesOfComposedToolsAreText(t *testing.T) {
	t.Parallel()
	p := newBakery(t, map[string]string{"trails/search/trail.yaml": `config: {target: bakery}
trail:
  - step: do it
    recording:
      web:
        - rememberValue: {name: odd, value: '\{{secret}}'}
        - bakery_sayHello: {who: "{{odd}}"}
        - assertEquals: {actual: "{{greeting}}", expected: 'Hello, \{{secret}}'}
`})
	p.run("run", "--secret", "secret=verysecret").want(t, 0)
}

func TestToolsOfAWorkspaceAreListed(t *testing.T) {
	t.Parallel()
	p := newBakery(t, nil)
	listed := func(target string) (names []string, toolsets map[string]bool) {
		r := p.run("toolbox", "list", "--json", "--platform", "web", "--target", target)
		r.want(t, 0)
		var v struct {
			Tools    []struct{ Name string }
			Toolsets []struct {
				ID     string
				Active bool
			}
		}
		if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
			t.Fatal(err)
		}
		toolsets = map[string]bool{}
		for _, tool := range v.Tools {
			names = append(names, tool.Name)
		}
		for _, ts := range v.Toolsets {
			toolsets[ts.ID] = ts.Active
		}
		return names, toolsets
	}
	has := func(names []string, name string) bool {
		return strings.Contains(" "+strings.Join(names, " ")+" ", " "+name+" ")
	}
	names, toolsets := listed("bakery")
	for name, want := range map[string]bool{
		"bakery_search": true, "bakery_sayHello": true, "bakery_open": false, "web_click": true, "web_verifyUrl": true, "assertWaypoint": true, "assertEquals": true,
		"web_evaluate": false, "web_getStorageState": false, "bakery_fillBasket": true, "bakery_android_start": false,
	} {
		if has(names, name) != want {
			t.Errorf("%s is offered: %v", name, !want)
		}
	}
	if !toolsets["bakery_checks"] || toolsets["bakery_words"] || toolsets["core_interaction"] {
		t.Errorf("toolsets %v", toolsets)
	}
	if names, _ = listed("orders"); len(names) > 0 {
		t.Errorf("orders, which has an empty list of toolsets and inherits that web_evaluate is excluded, is offered %q", names)
	}
}

// TestBrokenTrailmapDoesNotHideTheOthers breaks one that nothing depends on: check says everything, and the others run.
func TestBrokenTrailmapDoesNotHideTheOthers(t *testing.T) {
	t.Parallel()
	p := newBakery(t, map[string]string{
		"trails/config/trailmaps/orders/trailmap.yaml": "id: orders\ntarget:\n  display_name: Orders\n  platforms: {web: {drivers: [safari]}}\n",
		"trails/orders/trail.yaml":                     "config: {target: orders}\ntrail:\n  - step: s\n    recording: {web: []}\n",
	})
	check := p.run("check", "--json")
	check.want(t, 3, `"line":4,"column":31`, `unknown driver \"safari\"`, `unknown target \"orders\"`, `"waypoints\" is not used`)
	p.run("run", "trails/search").wantErr(t, 0, "warning: trails/config/trailmaps/orders/trailmap.yaml:4:31: unknown driver \"safari\"")
	p.run("run", "trails/orders").want(t, 3, `unknown target "orders"`)
	p.write("trails/config/trailblaze.yaml", "targets: [nothing]\n")
	p.run("run", "trails/search").wantErr(t, 3, `trails/config/trailblaze.yaml:1:11: unknown target "nothing"`)
}

// TestInitAgentFindsTheWorkspace configures an agent in a folder of the workspace, where no other project is needed.
func TestInitAgentFindsTheWorkspace(t *testing.T) {
	t.Parallel()
	p := newBakery(t, nil)
	p.runIn(p.path("trails/search"), "init", "--agent", "claude").want(t, 0)
	for name, want := range map[string]bool{".mcp.json": true, "trailblaze.yaml": false, "trails/search/trailblaze.yaml": false} {
		if _, err := os.Stat(p.path(name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
