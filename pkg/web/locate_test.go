package web

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/web/syntax"
)

// locate returns the selector for an element of a capture.
func (u *testSession) locate(c *pageCapture, n *screen.Node) (*locatedElement, error) {
	s := u.page().search(syntax.Target{Ref: u.device.(*webDevice).references.Ref(n)}, check{unique: true})
	return s.locateShown(u.t.Context(), c, n, nil)
}

// capture returns what the page shows.
func (u *testSession) capture() *pageCapture {
	u.t.Helper()
	c, err := u.page().captureAll(u.t.Context())
	if err != nil {
		u.t.Fatal(err)
	}
	u.device.(*webDevice).references.See(c.tree)
	return c
}

// isFoundBy reports what a replay with a selector finds, "" for the element: it has an attribute that no other has.
func (u *testSession) isFoundBy(e element, given map[string]any) string {
	u.t.Helper()
	ctx := u.t.Context()
	var node struct{ NodeID int }
	session := &e.frame.session
	if err := session.Call(ctx, "DOM.getDocument", nil, nil); err != nil {
		return err.Error()
	}
	var pushed struct{ NodeIDs []int }
	if err := session.Call(ctx, "DOM.pushNodesByBackendIdsToFrontend", map[string]any{"backendNodeIds": []int{e.id}}, &pushed); err != nil {
		return err.Error()
	}
	node.NodeID = pushed.NodeIDs[0]
	mark := map[string]any{"nodeId": node.NodeID, "name": "data-probe", "value": "this"}
	if err := session.Call(ctx, "DOM.setAttributeValue", mark, nil); err != nil {
		return err.Error()
	}
	defer func() { _ = session.Call(ctx, "DOM.removeAttribute", mark, nil) }()
	selector, err := screen.ParseSelector(given, screen.ParseOptions{})
	if err != nil {
		return err.Error()
	}
	found, _, err := syntax.BySelector(selector)
	if err != nil {
		return err.Error()
	}
	for _, unique := range []bool{false, true} {
		c := check{name: "attribute", unique: unique, options: map[string]any{"attribute": "data-probe", "expected": "this"}}
		o, err := u.page().search(found, c).find(ctx, 0)
		if err != nil || !o.Ready {
			return fmt.Sprintf("%q %s %s %v, %d matches", o.Found, o.Missing, o.Reason, err, o.Count)
		}
	}
	return ""
}

// TestEveryElementHasSelectorThatFindsIt tries every third element of every second page in a short run of the tests.
func TestEveryElementHasSelectorThatFindsIt(t *testing.T) {
	t.Parallel()
	testdata := filepath.Join("..", "..", "testdata")
	var pages []string
	for _, pattern := range []string{"web/*.html", "web/aria/*.html", "projects/shop/pages/*.html"} {
		found, err := filepath.Glob(filepath.Join(testdata, pattern))
		if err != nil || len(found) < 5 {
			t.Fatalf("%s: %q, %v", pattern, found, err)
		}
		pages = append(pages, found...)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(testdata)))
	t.Cleanup(server.Close)
	sessions := make(chan *testSession, 4)
	for range cap(sessions) {
		sessions <- openLive(t, device.Session{})
	}
	kinds := make(chan string, 10000)
	t.Run("pages", func(t *testing.T) {
		t.Parallel()
		for i, path := range pages {
			if testing.Short() && i%2 != 0 {
				continue
			}
			name, err := filepath.Rel(testdata, path)
			if err != nil {
				t.Fatal(err)
			}
			name = filepath.ToSlash(name)
			if name == "web/act-many.html" || name == "web/aria/large.html" {
				continue // like others, many times
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				u := <-sessions
				u.t = t
				defer func() { sessions <- u }()
				u.mustCall("navigate", "url", server.URL+"/"+name)
				u.mustEval("for (let timer = setTimeout(() => 0); timer > 0; timer--) clearTimeout(timer); setTimeout = setInterval = requestAnimationFrame = () => 0; 0")
				c := u.capture()
				elements := 0
				for _, n := range c.tree.Nodes() {
					if u.device.(*webDevice).references.Ref(n) == "" {
						continue
					}
					if elements++; testing.Short() && elements%3 != 1 {
						continue
					}
					located, err := u.locate(c, n)
					if err != nil {
						t.Errorf("%s: %v", n, err)
						continue
					}
					if wrong := u.isFoundBy(c.elements[n], located.selector); wrong != "" {
						t.Errorf("%s: %v finds %s", n, located.selector, wrong)
					}
					block, _ := located.selector["web"].(map[string]any)
					kinds <- strings.Join(slices.Sorted(maps.Keys(block)), " ")
				}
			})
		}
	})
	t.Cleanup(func() {
		close(kinds)
		count := map[string]int{}
		for kind := range kinds {
			count[kind]++
		}
		t.Log(count)
		for kind, least := range map[string]int{"ariaNameRegex ariaRole": 3, "cssSelector": 3} {
			if count[kind] < least {
				t.Errorf("%d selectors with %s", count[kind], kind)
			}
		}
	})
}

func TestSelectorsForRecordings(t *testing.T) {
	t.Parallel()
	u := openLive(t, device.Session{Redact: func(text string) string { return strings.ReplaceAll(text, "s3cret", "{{S}}") }})
	long := strings.Repeat("very ", 20) + "long"
	url := serve(t, map[string]http.HandlerFunc{
		"/page": htmlPage(`<button data-testid="pay" id="pay">Pay</button><button>Save</button><button>Cancel</button><form><button>Cancel</button></form>
			<button data-testid="twice">Twice</button><button data-testid="twice">Two</button>
			<button>Order 4711</button><button id="total">Total 12.50</button><button id="x12345">Order 4712</button>
			<button>Price: free (50% off)?</button><button>€</button><button>1.1.0</button>
			<button id="bars">&#xf0c9;</button><button>&#xf067;</button><button>&#xf02b; Label</button>
			<input name="email"><input id="e:r1"><button name="very">` + long + `</button>
			<button>Say \E "hi" {{name}}</button><button name="s">the s3cret</button><button data-testid="s3cret">Named</button>
			<div role="group"><input type="radio" name="size" value="s"><input type="radio" name="size" value="m"></div><output>done</output>
			<div id="amount"><div></div><div><input></div></div>
			<iframe src="/frame"></iframe>`),
		"/frame": htmlPage(`<button>Save</button><button>In frame</button><button name="very" id="save"></button><p><input><input></p>`),
	})
	u.mustCall("navigate", "url", url+"/page")
	u.waitForFrames("/page", "/frame")
	role := func(name string) map[string]any { return map[string]any{"ariaRole": "button", "ariaNameRegex": name} }
	at := func(block map[string]any, index int) map[string]any {
		block["nthIndex"] = index
		return block
	}
	css := func(selector string) map[string]any { return map[string]any{"cssSelector": selector} }
	changing := func(name, what, constant string) []string {
		return []string{fmt.Sprintf("the name %q contains %s and may change; %s", name, what, constant)}
	}
	const nothing = "a test id does not, and without one only its position is left"
	pattern := func(regex string) string {
		return `a test id, or nodeSelector {"web":{"ariaNameRegex":` + strconv.Quote(regex) + `,"ariaRole":"button"}} does not`
	}
	several := func(name string, number int) []string {
		return []string{fmt.Sprintf("button %q is number %d of several with this selector, which may change", name, number)}
	}
	position := func(words string) []string {
		return []string{words + " is found by its position in the page, which may change"}
	}
	want := []struct {
		block    map[string]any
		warnings []string
	}{
		{map[string]any{"dataTestId": "pay"}, nil},
		{at(role("Save"), 0), several("Save", 1)},
		{at(role("Cancel"), 0), several("Cancel", 1)},
		{at(role("Cancel"), 1), several("Cancel", 2)},
		{role("Twice"), nil},
		{role("Two"), nil},
		{role("Order 4711"), changing("Order 4711", "digits", nothing)},
		{css("#total"), nil},
		{role("Order 4712"), changing("Order 4712", "digits", nothing)},
		{role(`Price: free \(50% off\)\?`), changing("Price: free (50% off)?", "digits", pattern(`Price: free \([\d.,]+% off\)\?`))},
		{role("€"), changing("€", "a currency sign", nothing)},
		{role(`1\.1\.0`), changing("1.1.0", "digits", nothing)},
		{css("#bars"), nil},
		{role("\uf067"), changing("\uf067", "only characters of an icon font", nothing)},
		{role("Label"), nil},
		{css(`input[name="email"]`), nil},
		{css("body > input:nth-of-type(2)"), position("textbox")},
		{role(long), []string{fmt.Sprintf("the name %q is long and may change", long)}},
		{role(`Say \\E "hi" \{\{name\}\}`), nil},
		{css(`button[name="s"]`), nil},
		{role("Named"), nil},
		{css(`input[name="size"][value="s"]`), nil},
		{css(`input[name="size"][value="m"]`), nil},
		{css("output"), nil},
		{css("#amount input"), nil},
		{at(role("Save"), 1), several("Save", 2)},
		{role("In frame"), nil},
		{css("#save"), nil},
		{css("html > body > p > input:nth-of-type(1)"), position("textbox")},
		{css("html > body > p > input:nth-of-type(2)"), position("textbox")},
	}
	c := u.capture()
	for _, n := range c.tree.Nodes() {
		if u.device.(*webDevice).references.Ref(n) == "" {
			continue
		}
		located, err := u.locate(c, n)
		if err != nil {
			t.Fatalf("%s: %v", n, err)
		}
		if len(want) == 0 {
			t.Fatalf("more elements than expected: %s", n)
		}
		if diff := cmp.Diff(map[string]any{"web": want[0].block}, located.selector); diff != "" || !slices.Equal(located.Warnings, want[0].warnings) {
			t.Errorf("%s: -want +got:\n%s, warnings %q, want %q", n, diff, located.Warnings, want[0].warnings)
		}
		if wrong := u.isFoundBy(c.elements[n], located.selector); wrong != "" {
			t.Errorf("%s: %v finds %s", n, located.selector, wrong)
		}
		want = want[1:]
	}
	if len(want) > 0 {
		t.Errorf("fewer elements than expected: %v", want)
	}
}

// What an editor holds is its value: a selector finds it when it holds something else.
func TestSelectorsOfEditorsDoNotHaveTheirContent(t *testing.T) {
	t.Parallel()
	u := openLive(t, device.Session{})
	for _, html := range []string{
		`<p>Comment</p><div contenteditable class="ql-editor"><p>Old words</p></div>`,
		`<label>Comment</label><div contenteditable class="ql-editor">Old words</div><div contenteditable class="ql-editor">Others</div>`,
		`<div contenteditable><h2>Old words</h2><ul><li>Old item</ul></div><div contenteditable><h2>Others</h2></div>`,
		`<ul><li>Title <div contenteditable><p>Old words</p></div><li>Text <div contenteditable><p>Others</p></div></ul>`,
		`<div contenteditable role=textbox>Old words</div><div contenteditable role=textbox><p>Others</p></div>`,
	} {
		u.show(html)
		c := u.capture()
		found := map[*screen.Node]map[string]any{}
		for _, n := range c.tree.Nodes() {
			if !n.Editable {
				continue
			}
			located, err := u.locate(c, n)
			if err != nil {
				t.Fatalf("%s: %v", n, err)
			}
			found[n] = located.selector
		}
		if len(found) == 0 {
			t.Errorf("%s: no editor", html)
		}
		u.mustEval(`document.querySelectorAll("[contenteditable]").forEach((e) => { e.innerHTML = "<p>New</p>"; })`)
		for n, selector := range found {
			if wrong := u.isFoundBy(c.elements[n], selector); wrong != "" {
				t.Errorf("%s\n%s: %v finds %s", html, n, selector, wrong)
			}
		}
	}
}
