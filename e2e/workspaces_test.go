//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// workspaces are those of the JVM Trailblaze. What is listed was written by hand from their files: the tools of the
// workspace that a target offers on a platform, without those of trailblaze.
var workspaces = []struct {
	dir       string   // below testdata
	configDir string   // for TRAILBLAZE_CONFIG_DIR
	remarks   []string // all that check says
	lists     map[string][]string
	replays   []string // arguments of run; none for workspaces of phones
}{{
	dir: "projects/bakery",
	remarks: []string{
		`"icon" is not used`, `"llm" is not used`, `"waypoints" is not used`, "this version has no driver for compose",
	},
	lists: map[string][]string{
		"bakery web": {
			"bakery_fillBasket(count: number, kind?: small|large, notes?: string[])", "bakery_sayHello(who?: string|null)",
			"bakery_search(cake: string, found?: boolean|null, why?: string|null)",
		},
		"bakery android": {"bakery_android_start()"},
		"orders web":     nil,
	},
	replays: []string{"run"},
}, {
	dir:     "workspaces/contacts",
	remarks: []string{`"waypoints" is not used`},
	lists: map[string][]string{
		"contacts android": {
			"contacts_android_addContact(firstName: string, keepOpen?: boolean, lastName: string, phone?: string)",
			"contacts_android_assertField(label: string, value: string)", "contacts_android_launchApp()",
			"contacts_android_openContact(name: string, starred?: boolean)", "contacts_android_toTop()",
			"people_checkName(first: string, last: string, strict?: boolean)", "people_randomName(prefix?: string)",
		},
		"contacts ios": {
			"contacts_ios_assertField(label: string, value: string)", "contacts_ios_cancelEdit()",
			"contacts_ios_createContact(company?: string, email?: string, firstName: string, lastName: string, phone?: string)",
			"contacts_ios_deleteContact(confirm?: boolean, name: string)", "contacts_ios_listToCard(name: string)",
			"contacts_ios_openApp(relaunch?: boolean)", "contacts_ios_search(query: string)",
		},
	},
}, {
	dir: "workspaces/calendar",
	lists: map[string][]string{
		"calendar android": {
			"calendar_android_createEvent(allDay?: boolean, day: string, end?: string, place?: string, start?: string, title: string)",
			"calendar_android_dayToMonth()", "calendar_android_deleteEvent(title: string)",
			"calendar_android_goToDate(date: string, view?: string)", "calendar_android_launchApp()", "calendar_android_launched()",
		},
		"clock android":   {"clock_android_launchApp()", "clock_android_setAlarm(label?: string, repeat?: boolean, time: string)"},
		"default android": nil,
	},
}, {
	dir: "workspaces/encyclopedia",
	lists: map[string][]string{"encyclopedia web": {
		"encyclopedia_web_assertHeading(exact?: boolean, heading: string)", "encyclopedia_web_assertLinks(links: string[])",
		"encyclopedia_web_countHeadings()", "encyclopedia_web_followLink(expectTitle?: string, text: string)",
		"encyclopedia_web_openPage(page: string)", "encyclopedia_web_search(expect?: string, query: string)",
		"reading_web_collectTexts(pattern?: string, role: string)", "reading_web_readTitle()",
	}},
	replays: []string{"run"},
}, {
	dir:     "workspaces/shelf",
	lists:   map[string][]string{"default web": nil},
	replays: []string{"run"},
}, {
	dir:       "workspaces/notes",
	configDir: "examples/notes/trails/config",
	lists: map[string][]string{"notes web": {
		"notes_web_add(tag?: string, text: string)", "notes_web_keep(name: string, value: any)", "notes_web_open(note?: string, page?: string)",
	}},
	replays: []string{"run", "trails/notes/trail.yaml"}, // its page is neither beside it nor in the workspace,
}, {
	dir:     "workspaces/till",
	remarks: []string{`toolset "till_words" names the unknown tool "till_absent"`},
	lists: map[string][]string{
		"till web":   {"till_greet(who?: string|null)", "till_tare(grams: number)"},
		"till2 web":  {"till_greet(who?: string|null)", "till_web_ring(item: string, price?: string)", "till_web_total()"},
		"drawer ios": nil,
	},
	replays: []string{"run"},
}, {
	dir:     "workspaces/desk",
	remarks: []string{"this version has no driver for compose"},
	lists: map[string][]string{
		"office web": {
			"desk_count(least?: integer, text: string)", "desk_report(file: string, upper?: boolean)", "desk_stamp(colour: red|blue)",
			"desk_web_close(discard?: boolean)", "desk_web_open(file: string)", "desk_web_save(name: string)",
		},
		"desk web": nil,
	},
	replays: []string{"run"},
}}

// TestWorkspacesOfTheJVM checks workspaces of several kinds, lists their tools, and replays their trails of pages.
func TestWorkspacesOfTheJVM(t *testing.T) {
	t.Parallel()
	for _, w := range workspaces {
		t.Run(filepath.Base(w.dir), func(t *testing.T) {
			t.Parallel()
			p := newWorkspace(t, "../testdata/"+w.dir)
			p.env = append(p.env, "PATH="+bin(t, "node")+":"+os.Getenv("PATH"), "TRAILBLAZE_CONFIG_DIR="+w.configDir)
			p.run("check", "trails").wantRemarks(t, w.remarks)
			for of, want := range w.lists {
				target, platform, _ := strings.Cut(of, " ")
				r := p.run("toolbox", "list", "--json", "--target", target, "--platform", platform)
				r.want(t, 0)
				same(t, of, want, r.signatures(t))
			}
			if w.replays != nil {
				p.run(w.replays...).want(t, 0, " passed in ")
			}
		})
	}
}

// wantRemarks fails the test unless check found nothing but these warnings, in any order.
func (r result) wantRemarks(t *testing.T, remarks []string) {
	t.Helper()
	r.want(t, 0, "0 problems")
	r.wantErr(t, 0, remarks...)
	if n := strings.Count(r.stderr, "warning: "); n != len(remarks) {
		t.Errorf("%d warnings, want %d\n%s", n, len(remarks), r.stderr)
	}
}

// signatures returns the tools of a listing that files of the project define, with the types of their arguments.
func (r result) signatures(t *testing.T) []string {
	t.Helper()
	var list struct {
		Tools []struct {
			Name        string
			Source      struct{ Kind string }
			InputSchema struct {
				Properties map[string]map[string]any
				Required   []string
			}
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &list); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, tool := range list.Tools {
		if !slices.Contains([]string{"server", "composed"}, tool.Source.Kind) {
			continue
		}
		var arguments []string
		for _, name := range slices.Sorted(maps.Keys(tool.InputSchema.Properties)) {
			optional := "?"
			if slices.Contains(tool.InputSchema.Required, name) {
				optional = ""
			}
			arguments = append(arguments, name+optional+": "+typeOf(tool.InputSchema.Properties[name]))
		}
		out = append(out, tool.Name+"("+strings.Join(arguments, ", ")+")")
	}
	slices.Sort(out)
	return out
}

// typeOf writes a schema as a type of TypeScript.
func typeOf(schema map[string]any) string {
	alternatives, ok := schema["enum"].([]any)
	if !ok {
		alternatives, ok = schema["type"].([]any)
	}
	items, _ := schema["items"].(map[string]any)
	switch {
	case ok:
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(alternatives), " ", "|"), "[]")
	case items != nil:
		return typeOf(items) + "[]"
	case schema["type"] == nil:
		return "any"
	}
	return fmt.Sprint(schema["type"])
}

// TestWorkspacesAreAsMany holds their number, that of their typed tools, and the types of the fields of those to what was
// counted in the repository of the JVM Trailblaze.
func TestWorkspacesAreAsMany(t *testing.T) {
	t.Parallel()
	got := map[string]int{}
	for _, w := range workspaces {
		err := filepath.WalkDir("../testdata/"+w.dir, func(path string, _ fs.DirEntry, err error) error {
			switch {
			case strings.HasSuffix(path, "trails/config/trailblaze.yaml"):
				got["anchors"]++
			case filepath.Base(path) == "trailmap.yaml":
				got["trailmaps"]++
			case filepath.Ext(path) == ".ts":
				countTools(t, path, got)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	same(t, "the workspaces", map[string]int{
		"anchors": 8, "trailmaps": 16, "tools": 40, "with an interface": 31, "without a type": 9,
		"string": 50, "boolean": 9, "number": 2, "string[]": 2, "unknown": 1,
	}, got)
}

var (
	typedTool  = regexp.MustCompile(`(?m)^export const \w+ = [\w.]+\.tool(?:<(\w+))?`)
	typedField = regexp.MustCompile(`(?m)^  \w+\??: (string|boolean|number|string\[\]|unknown);$`)
)

// countTools counts the typed tools of a script, and the fields in their interfaces.
func countTools(t *testing.T, path string, got map[string]int) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	found := typedTool.FindAllStringSubmatch(text, -1)
	for _, tool := range found {
		got["tools"]++
		switch name := tool[1]; {
		case name == "":
			got["without a type"]++
		case strings.Contains(text, "interface "+name+" {"):
			got["with an interface"]++
		}
	}
	if found == nil {
		return
	}
	for _, field := range typedField.FindAllStringSubmatch(text, -1) {
		got[field[1]]++
	}
}

// TestScriptsOfAWorkspaceUsePhones calls scripts that use the shell of a phone and the elements on the screen. The app is
// the shop of simulated phones. On Android it is the second of the target's apps, and the only one that is installed.
func TestScriptsOfAWorkspaceUsePhones(t *testing.T) {
	t.Parallel()
	d := newPhoneDesk(t)
	if err := os.Remove(d.path("trailblaze.yaml")); err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct{ workspace, app string }{{"calendar", "com.example.calendar"}, {"contacts", "com.example.MobileAddressBook"}} {
		root := d.path(of.workspace)
		if err := os.CopyFS(root, os.DirFS("../testdata/workspaces/"+of.workspace)); err != nil {
			t.Fatal(err)
		}
		manifest := filepath.Join(of.workspace, "trails/config/trailmaps", of.workspace, "trailmap.yaml")
		d.write(manifest, strings.ReplaceAll(d.read(t, manifest), of.app, app.ShopID))
	}
	manifest := "calendar/trails/config/trailmaps/calendar/trailmap.yaml"
	d.write(manifest, strings.Replace(d.read(t, manifest), "["+app.ShopID+"]", "[com.example.absent, "+app.ShopID+", com.example.other]", 1))
	d.write("calendar/trails/shop/trail.yaml", `config: {target: calendar}
trail:
  - step: Start the app
    recording:
      android:
        - calendar_android_launchApp: {}
        - assertVisible: {text: Sign in}
`)
	d.write("contacts/trails/shop/trail.yaml", `config: {target: contacts}
trail:
  - step: Start the app and touch a text in it
    recording:
      ios:
        - contacts_ios_openApp: {relaunch: "true"}
          saveAs: opened
        - assertEquals: {actual: "{{opened}}", expected: Opened com.example.shop.}
        - contacts_ios_listToCard: {name: Email}
`)
	android, iPhone := d.android(), d.iPhone()
	r := d.runIn(d.path("calendar"), "run", "trails/shop", "--json")
	r.want(t, 0)
	same(t, "calendar", []string{
		"1 calendar_android_launchApp", "1.1 android_adbShell", "1.2 android_adbShell", "1.3 android_adbShell", "2 assertVisible",
	}, r.called(t))
	d.putBack(android)
	d.runIn(d.path("contacts"), "run", "trails/shop", "--wda-url", iPhone.URL()).want(t, 0, "1 passed")
}
