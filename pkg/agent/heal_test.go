package agent_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/agent"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/discover"
	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// healBox has some commands of the web and of phones, and tools of others.
func healBox(t *testing.T) live.Toolbox {
	t.Helper()
	command := func(name string, properties ...string) *discover.Tool {
		schema := map[string]any{"type": "object"}
		all := map[string]any{}
		for _, p := range properties {
			all[p] = map[string]any{}
		}
		schema["properties"] = all
		data, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		return &discover.Tool{Name: name, Source: tool.Source{Kind: tool.FromDevice}, InputSchema: data, IsRecordable: true}
	}
	secret := command("web_uploadSecretly", "ref")
	secret.IsRecordable = false
	shop := &discover.Tool{Name: "emptyCart", Source: tool.Source{Kind: tool.FromServer}, IsRecordable: true}
	remember := &discover.Tool{Name: "rememberValue", Source: tool.Source{Kind: tool.FromBuiltin}, IsRecordable: true}
	r := &discover.Registry{Tools: []*discover.Tool{
		command("web_click", "ref", "nodeSelector", "timeoutMs", "reasoning"), command("web_type", "ref", "nodeSelector", "text"), command("web_navigate", "url"),
		command("web_verifyValue", "ref", "nodeSelector", "expected", "type", "timeoutMs"), command("web_verifyElementVisible", "ref", "nodeSelector", "timeoutMs"),
		command("web_verifyTextVisible", "text"), command("web_verifyElementCount", "ref", "nodeSelector", "count"), command("web_verifyElementNotVisible", "ref", "nodeSelector"),
		command("assertWaypoint", "id", "required", "forbidden"), command("web_pressKey", "key"), command("web_evaluate", "script"), command("tap", "text", "id", "index", "nodeSelector"),
		command("assertVisible", "ref", "nodeSelector", "timeoutMs"), secret, shop, remember,
	}}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	box := live.Toolbox{
		Registry: &discover.Registry{}, Limits: map[string]string{"web_evaluate": "needs allow"},
		Checks: []string{"web_verifyValue", "web_verifyElementVisible", "web_verifyTextVisible", "web_verifyElementCount", "web_verifyElementNotVisible", "assertWaypoint", "assertVisible"},
	}
	if err := json.Unmarshal(data, box.Registry); err != nil {
		t.Fatal(err)
	}
	return box
}

func recorded(name string, args ...any) trail.Call {
	c := trail.Call{Tool: name, Args: map[string]any{}}
	for i := 0; i < len(args); i += 2 {
		c.Args[args[i].(string)] = args[i+1]
	}
	return c
}

// clickOn is a click as it is recorded.
func clickOn(role, name string) trail.Call {
	return recorded("web_click", "nodeSelector", map[string]any{"web": map[string]any{"ariaRole": role, "ariaNameRegex": name}})
}

// onPhone is a call with a selector as it is recorded on a phone: a block, and relations of the element.
func onPhone(tool string, block map[string]any, more ...any) trail.Call {
	selector := recorded("", more...).Args
	selector["androidAccessibility"] = block
	return recorded(tool, "nodeSelector", selector)
}

// healView is a screen with elements such as: button "Save". Those that two screens have in common have the same keys.
func healView(at string, elements ...string) *device.View {
	root := &screen.Node{Role: "generic"}
	for _, e := range elements {
		role, name, _ := strings.Cut(e, " ")
		name = strings.Trim(name, `"`)
		name, id, _ := strings.Cut(name, " #")
		n := &screen.Node{Role: role, Label: &name, Key: screen.Key("f/" + e)}
		if id != "" {
			n.ID = &id
		}
		root.Children = append(root.Children, n)
	}
	return &device.View{URL: at, Tree: screen.NewTree(root, 100, 100, screen.Web, screen.AndroidAccessibility), Ref: func(*screen.Node) string { return "" }}
}

func nodeOf(v *device.View, element string) *screen.Node {
	return v.Tree.ByKey(screen.Key("f/" + element))
}

const shopPage = "https://shop.example/cart"

// healing is a repair and what becomes of it.
type healing struct {
	kind    string       // of the step; step if it is empty
	broken  trail.Call   // recorded
	rest    []trail.Call // of the step, after it
	element string       // act.Missing if it is empty
	found   string
	screen  []string
	made    []trail.Call // by the model, as they would be recorded; the last is the one in the place of the broken call
	target  string       // the element of the last one, on the screen after those before
	prior   []string     // that screen; screen if it is nil
	edit    func(*agent.Change)

	class   agent.Class
	refused string // part of why
	why     string // part of why the class
	whole   string // why the class; not compared if it is empty
	checked bool   // it needs a check of a later step
	review  bool   // it needs somebody who looks at it
}

func (h healing) judge(t *testing.T) agent.Judgement {
	t.Helper()
	c := agent.Change{Box: healBox(t), Kind: h.kind, Failing: 1, Screen: healView(shopPage, h.screen...)}
	if c.Kind == "" {
		c.Kind = trail.KindStep
	}
	c.Breakage = agent.Breakage{Element: h.element, Found: h.found}
	if c.Breakage.Element == "" {
		c.Breakage.Element = act.Missing
	}
	c.Prior = c.Screen
	if h.prior != nil {
		c.Prior = healView(shopPage, h.prior...)
	}
	var target *screen.Node
	if h.target != "" {
		if target = nodeOf(c.Prior, h.target); target == nil {
			t.Fatalf("no %s", h.target)
		}
	}
	c.Before = slices.Concat([]trail.Call{clickOn("button", "Begin")}, []trail.Call{h.broken}, h.rest)
	var made []agent.Made
	for i, call := range h.made {
		m := agent.Made{Call: call, Recorded: true, Screen: c.Prior}
		if i == len(h.made)-1 {
			m.Element = target
		}
		made = append(made, m)
	}
	c.Replace(made)
	c.URLs = []string{shopPage, shopPage + "?menu"}
	if h.edit != nil {
		h.edit(&c)
	}
	return c.Judge()
}

func TestHealingIsClassified(t *testing.T) {
	t.Parallel()
	inRow := func(name, row string) trail.Call {
		return recorded("web_click", "nodeSelector", map[string]any{
			"web": map[string]any{"ariaRole": "button", "ariaNameRegex": name}, "childOf": map[string]any{"web": map[string]any{"ariaRole": "row", "ariaNameRegex": row}},
		})
	}
	byID := func(tool, id string, more ...any) trail.Call {
		return onPhone(tool, map[string]any{"resourceIdRegex": "app:id/" + id}, more...)
	}
	bob := map[string]any{"androidAccessibility": map[string]any{"textRegex": "Bob"}}
	nth := recorded("web_click", "nodeSelector", map[string]any{"web": map[string]any{"ariaRole": "button", "ariaNameRegex": "Delete", "nthIndex": 2}})
	upgrade := clickOn("button", "Upgrade")
	for name, h := range map[string]healing{
		"another case": {
			broken: clickOn("button", "Check out"), screen: []string{`button "CHECK-OUT!"`}, made: []trail.Call{clickOn("button", "CHECK-OUT!")},
			target: `button "CHECK-OUT!"`, class: agent.Same,
		},
		"a menu before it": {
			broken: clickOn("link", "Cart"), screen: []string{`button "Menu"`}, made: []trail.Call{clickOn("button", "Menu"), clickOn("link", "Cart")},
			prior: []string{`button "Menu"`, `link "Cart"`}, target: `link "Cart"`, class: agent.Rerouted,
		},
		"an overlay over an element that CSS names": {
			broken: recorded("web_type", "ref", "css=#quantity", "text", "2"), element: act.NotReady, found: "input#quantity",
			screen: []string{`button "Close"`, `spinbutton "Quantity"`},
			made:   []trail.Call{clickOn("button", "Close"), recorded("web_type", "ref", `spinbutton "Quantity"`, "text", "2")},
			prior:  []string{`spinbutton "Quantity"`}, target: `spinbutton "Quantity"`, class: agent.Rerouted,
			edit: func(c *agent.Change) {
				c.Selectors = []map[string]any{{"web": map[string]any{"cssSelector": "#quantity"}}}
			},
		},
		"the element of another step": {
			broken: upgrade, screen: []string{`button "Downgrade"`}, made: []trail.Call{clickOn("button", "Downgrade")}, target: `button "Downgrade"`,
			edit:  func(c *agent.Change) { c.Others = []trail.Call{recorded("web_click", "ref", "Downgrade")} },
			class: agent.Different, why: "another call of the trail is for",
		},
		"an overlay over it": {
			broken: recorded("web_click", "ref", "css=#go > b"), element: act.NotReady, found: `button "Go"`, screen: []string{`button "Close"`, `button "Go"`},
			made: []trail.Call{clickOn("button", "Close"), clickOn("button", "Go")}, prior: []string{`button "Go"`}, target: `button "Go"`, class: agent.Rerouted,
		},
		"the same id on a phone": {
			broken: recorded("tap", "text", "Buy", "id", "app:id/buy"), screen: []string{`button "Purchase #app:id/buy"`},
			made: []trail.Call{recorded("tap", "text", "Purchase", "id", "app:id/buy")}, target: `button "Purchase #app:id/buy"`, class: agent.Same,
		},
		"an id that several have": {
			broken: recorded("tap", "text", "Bob", "id", "app:id/title"), screen: []string{`text "Alice #app:id/title"`, `text "Carol #app:id/title"`},
			made: []trail.Call{recorded("tap", "text", "Alice", "id", "app:id/title")}, target: `text "Alice #app:id/title"`,
			class: agent.Different, why: "does not say which role",
		},
		"an id that several have, and a role": {
			broken: onPhone("tap", map[string]any{"resourceIdRegex": "app:id/title", "textRegex": "Bob", "classNameRegex": `android\.widget\.TextView`}),
			screen: []string{`text "Alice #app:id/title"`, `text "Carol #app:id/title"`}, made: []trail.Call{byID("tap", "title")},
			target: `text "Alice #app:id/title"`, class: agent.Different, why: "several elements have its id",
		},
		"an id that several had": {
			broken: recorded("tap", "text", "Bob", "id", "app:id/title"), screen: []string{`text "Alice #app:id/title"`, `text "Carol #app:id/title"`},
			made:  []trail.Call{clickOn("button", "Menu"), recorded("tap", "text", "Alice", "id", "app:id/title")},
			prior: []string{`text "Alice #app:id/title"`}, target: `text "Alice #app:id/title"`, class: agent.Different, why: `text "Alice" is not`,
		},
		"an id that several have, with its name": {
			broken: recorded("tap", "text", "Alice!", "id", "app:id/title"), screen: []string{`text "Alice #app:id/title"`, `text "Carol #app:id/title"`},
			made: []trail.Call{recorded("tap", "text", "Alice", "id", "app:id/title")}, target: `text "Alice #app:id/title"`, class: agent.Same,
		},
		"an id in another row": {
			broken: byID("tap", "delete", "childOf", bob), screen: []string{`row "Alice"`, `button "Delete #app:id/delete"`},
			made: []trail.Call{byID("tap", "delete")}, target: `button "Delete #app:id/delete"`, class: agent.Different, why: "is not #app:id/delete",
		},
		"another one of several with an id": {
			broken: byID("tap", "delete", "index", 2), screen: []string{`button "Delete #app:id/delete"`},
			made: []trail.Call{byID("tap", "delete")}, target: `button "Delete #app:id/delete"`, class: agent.Different, why: "is not #app:id/delete",
		},
		"another one of several behind an overlay": {
			broken: recorded("tap", "text", "Delete", "index", 1), element: act.NotReady, found: `button "Delete"`,
			screen: []string{`button "Close"`, `button "Delete #alice"`, `button "Delete #bob"`}, made: []trail.Call{clickOn("button", "Close"), recorded("tap", "text", "Delete")},
			prior: []string{`button "Delete #alice"`, `button "Delete #bob"`}, target: `button "Delete #alice"`, class: agent.Different, why: "counts elements",
		},
		"the name of several behind an overlay": {
			broken: recorded("web_click", "ref", "css=#bob"), element: act.NotReady, found: `button "Delete"`,
			screen: []string{`button "Close"`, `button "Delete #alice"`, `button "Delete #bob"`}, made: []trail.Call{clickOn("button", "Close"), clickOn("button", "Delete")},
			prior: []string{`button "Delete #alice"`, `button "Delete #bob"`}, target: `button "Delete #alice"`, class: agent.Different, why: "is not #bob",
		},
		"another name": {
			broken: upgrade, screen: []string{`button "Get more"`}, made: []trail.Call{clickOn("button", "Get more")}, target: `button "Get more"`,
			class: agent.Renamed, why: `is now called "Get more", and no kept screen shows what was beside it`, checked: true, review: true,
		},
		"another name that was not beside the old one": {
			broken: upgrade, screen: []string{`button "Get more"`}, made: []trail.Call{clickOn("button", "Get more")}, target: `button "Get more"`,
			edit:  func(c *agent.Change) { c.Passed = []string{"- button \"Upgrade\"\n- button \"Cancel\"\n"} },
			class: agent.Renamed, whole: `button "Upgrade" is now called "Get more"`, checked: true,
		},
		"another name while the old one is shown": {
			broken: upgrade, screen: []string{`button "Get more"`, `heading "upgrade"`}, made: []trail.Call{clickOn("button", "Get more")},
			target: `button "Get more"`, class: agent.Different, why: `the screen still shows "Upgrade"`,
		},
		"beside the old one before": {
			broken: upgrade, screen: []string{`button "Downgrade"`}, made: []trail.Call{clickOn("button", "Downgrade")}, target: `button "Downgrade"`,
			edit: func(c *agent.Change) {
				c.Passed = []string{"- main:\n  - button \"Upgrade\" [ref=e1]\n  - button \"Downgrade\" [ref=e2]\n"}
			},
			class: agent.Different, why: `"Downgrade" was beside "Upgrade" when the trail last passed`,
		},
		"another role": {
			broken: upgrade, screen: []string{`link "Get more"`}, made: []trail.Call{clickOn("link", "Get more")}, target: `link "Get more"`,
			class: agent.Different, why: "it is a link, not a button",
		},
		"another name without a role": {
			broken: recorded("web_click", "ref", "Upgrade"), screen: []string{`link "Get more"`}, made: []trail.Call{clickOn("link", "Get more")},
			target: `link "Get more"`, class: agent.Different, why: "does not say which role",
		},
		"another number": {
			broken: clickOn("link", "Cart \\(2\\)"), screen: []string{`link "Cart (1)"`}, made: []trail.Call{clickOn("link", "Cart \\(1\\)")},
			target: `link "Cart (1)"`, class: agent.Different, why: "the numbers",
		},
		"another amount": {
			broken: clickOn("button", `Pay 1\.50 €`), screen: []string{`button "Pay 150 €"`}, made: []trail.Call{clickOn("button", "Pay 150 €")},
			target: `button "Pay 150 €"`, class: agent.Different, why: "the numbers",
		},
		"the same amount": {
			broken: clickOn("button", `Pay: 1\.50 €`), screen: []string{`button "pay 1.50 €"`}, made: []trail.Call{clickOn("button", "pay 1.50 €")},
			target: `button "pay 1.50 €"`, class: agent.Same,
		},
		"another sign before a number": {
			broken: clickOn("button", "Warmer by -5"), screen: []string{`button "Warmer by 5"`}, made: []trail.Call{clickOn("button", "Warmer by 5")},
			target: `button "Warmer by 5"`, class: agent.Different, why: "the numbers",
		},
		"another sign before a currency": {
			broken: clickOn("button", `−\$5 off`), screen: []string{`button "$5 off"`}, made: []trail.Call{clickOn("button", "$5 off")},
			target: `button "$5 off"`, class: agent.Different, why: "the numbers",
		},
		"a number behind a dash": {
			broken: clickOn("button", "Room A-5"), screen: []string{`button "Room A 5"`}, made: []trail.Call{clickOn("button", "Room A 5")},
			target: `button "Room A 5"`, class: agent.Same,
		},
		"another sign": {
			broken: clickOn("radio", `Grade A\+`), screen: []string{`radio "Grade A-"`}, made: []trail.Call{clickOn("radio", "Grade A-")},
			target: `radio "Grade A-"`, class: agent.Renamed, checked: true, review: true,
		},
		"another currency": {
			broken: clickOn("radio", "Pay in €"), screen: []string{`radio "Pay in $"`}, made: []trail.Call{clickOn("radio", "Pay in $")},
			target: `radio "Pay in $"`, class: agent.Renamed, checked: true, review: true,
		},
		"signs only": {
			broken: clickOn("button", "\\+"), screen: []string{`button "-"`}, made: []trail.Call{clickOn("button", "-")}, target: `button "-"`,
			class: agent.Different, why: "has no letters",
		},
		"another name behind other calls": {
			broken: upgrade, screen: []string{`button "Menu"`}, made: []trail.Call{clickOn("button", "Menu"), clickOn("button", "Get more")},
			prior: []string{`button "Get more"`}, target: `button "Get more"`, class: agent.Different, why: "other calls come before it",
		},
		"one of several": {
			broken: clickOn("button", "Delete"), element: act.Ambiguous, screen: []string{`button "Delete"`},
			made: []trail.Call{nth}, target: `button "Delete"`, class: agent.Same, checked: true,
		},
		"another one of several": {
			broken: nth, screen: []string{`button "Delete"`}, made: []trail.Call{clickOn("button", "Delete")}, target: `button "Delete"`,
			class: agent.Different, why: "it is not where the recording says",
		},
		"in another row": {
			broken: inRow("Delete", "Bob"), screen: []string{`row "Alice"`, `button "Delete"`}, made: []trail.Call{inRow("Delete", "Alice")},
			target: `button "Delete"`, class: agent.Different, why: "it is not where the recording says",
		},
		"only an overlay is closed": {
			broken: clickOn("button", "Go"), element: act.NotReady, found: `button "Go"`, screen: []string{`button "Close"`, `button "Go"`},
			made: []trail.Call{clickOn("button", "Close")}, target: `button "Close"`, class: agent.Different, why: `the screen still shows "Go"`,
		},
		"another text is typed": {
			broken: recorded("web_type", "ref", `textbox "Name"`, "text", "Ada"), screen: []string{`textbox "Full name"`},
			made: []trail.Call{recorded("web_type", "ref", `textbox "Full name"`, "text", "Bob")}, target: `textbox "Full name"`,
			edit:  func(c *agent.Change) { c.After[1].Args["text"] = "Bob" },
			class: agent.Different, why: "does something else",
		},
		"another tool": {
			broken: upgrade, screen: []string{`button "Upgrade!"`}, made: []trail.Call{clickOn("button", "Upgrade!")}, target: `button "Upgrade!"`,
			edit:  func(c *agent.Change) { c.After[1] = recorded("web_pressKey", "key", "Enter") },
			class: agent.Different, why: "does something else",
		},
		"an unknown element": {
			broken: upgrade, screen: []string{`button "Upgrade!"`}, made: []trail.Call{clickOn("button", "Upgrade!")},
			class: agent.Different, why: "not known which element",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := h.judge(t)
			if h.whole != "" && j.Why != h.whole {
				t.Error(j.Why)
			}
			if j.Class != h.class || j.Refused != "" || !strings.Contains(j.Why, h.why) || j.NeedsCheck != h.checked || j.NeedsReview != h.review || j.MayBeWritten() != (h.class != agent.Different) {
				t.Errorf("%+v", j)
			}
		})
	}
}

func TestGuardOfHealing(t *testing.T) {
	t.Parallel()
	total := recorded("web_verifyValue", "ref", "css=#total", "expected", "12.50 €")
	renamed := healing{
		broken: clickOn("button", "Upgrade"), rest: []trail.Call{total}, screen: []string{`button "Get more"`}, made: []trail.Call{clickOn("button", "Get more")},
		target: `button "Get more"`, class: agent.Renamed, checked: true,
	}
	value := healing{
		kind: trail.KindVerify, broken: recorded("web_verifyValue", "ref", `cell "Total"`, "expected", "12.50 €"), rest: []trail.Call{total},
		screen: []string{`cell "Sum"`}, made: []trail.Call{recorded("web_verifyValue", "ref", `cell "Sum"`, "expected", "12.50 €")}, target: `cell "Sum"`,
		class: agent.Renamed, checked: true,
	}
	there := healing{
		kind: trail.KindVerify, broken: recorded("web_verifyElementVisible", "ref", `button "Pay"`), screen: []string{`button "PAY"`},
		made: []trail.Call{recorded("web_verifyElementVisible", "ref", `button "PAY"`)}, target: `button "PAY"`, class: agent.Same,
	}
	elsewhere := there
	elsewhere.screen, elsewhere.target = []string{`button "Order"`}, `button "Order"`
	elsewhere.made = []trail.Call{recorded("web_verifyElementVisible", "ref", `button "Order"`)}
	elsewhere.class, elsewhere.checked, elsewhere.refused = agent.Renamed, true, "no other one can take its place"

	// onTotal is a healed check of the total by its id, of which the recording has more.
	onTotal := func(broken trail.Call, class agent.Class, refused string) healing {
		return healing{
			kind: trail.KindVerify, broken: broken, screen: []string{`text "Total: 99.00 € #app:id/total"`}, target: `text "Total: 99.00 € #app:id/total"`,
			made: []trail.Call{onPhone("assertVisible", map[string]any{"resourceIdRegex": "app:id/total"})}, class: class, refused: refused,
		}
	}
	totalWith := func(key string, value any) trail.Call {
		return onPhone("assertVisible", map[string]any{"resourceIdRegex": "app:id/total", key: value})
	}
	refused := "no other one can take its place"
	inside := []any{map[string]any{"androidAccessibility": map[string]any{"textRegex": `12\.50 €`}}}

	edited := func(h healing, refused string, edit func(c *agent.Change)) healing {
		h.edit, h.refused = edit, refused
		return h
	}
	insert := func(calls ...trail.Call) func(*agent.Change) {
		return func(c *agent.Change) {
			c.After = slices.Insert(slices.Clone(c.After), 1, calls...)
			c.Added = len(calls)
		}
	}
	drop := func(i int) func(*agent.Change) {
		return func(c *agent.Change) { c.After = slices.Delete(slices.Clone(c.After), i, i+1) }
	}
	menu := healing{
		broken: clickOn("link", "Cart"), screen: []string{`button "Add"`}, made: []trail.Call{clickOn("button", "Add"), clickOn("link", "Cart")},
		prior: []string{`link "Cart"`, `button "Add"`}, target: `link "Cart"`, class: agent.Rerouted,
	}
	typing, key, onward := menu, menu, menu
	typing.made = []trail.Call{recorded("web_type", "ref", `textbox "Name"`, "text", "Ada"), clickOn("link", "Cart")}
	typing.refused = "web_type comes before it, which does more than lead to an element"
	key.made = []trail.Call{recorded("web_pressKey", "key", "7"), clickOn("link", "Cart")}
	key.refused = "web_pressKey comes before it"
	onward.refused = "it leads to another page"
	onward.edit = func(c *agent.Change) { c.Screen = healView("https://shop.example/product", `button "Add"`) }
	eight := slices.Repeat([]trail.Call{clickOn("button", "Get more")}, 8)
	for name, h := range map[string]healing{
		"nothing against it":            renamed,
		"a check with another element":  value,
		"that an element is there":      there,
		"that another element is there": elsewhere,
		"the same id":                   onTotal(onPhone("assertVisible", map[string]any{"resourceIdRegex": "app:id/total"}), agent.Same, ""),
		"the same id and text":          onTotal(totalWith("textRegex", `TOTAL 99\.00 €`), agent.Same, ""),
		"the same id, a text that fits": onTotal(totalWith("textRegex", `Total: .*`), agent.Same, ""),
		"the same id with another text": onTotal(totalWith("textRegex", `Total: 12\.50 €`), agent.Different, refused),
		"the same id, an unfit text":    onTotal(totalWith("textRegex", `Total: 12\..*`), agent.Different, refused),
		"the same id, another state":    onTotal(totalWith("isChecked", true), agent.Different, refused),
		"the same id, another text in it": onTotal(
			onPhone("assertVisible", map[string]any{"resourceIdRegex": "app:id/total"}, "containsDescendants", inside), agent.Different, refused),
		"a menu":                      menu,
		"data on the way":             typing,
		"a key that types on the way": key,
		"another page on the way":     onward,
		"what the trail has done is done again": edited(menu, "the app may have lost what that did", func(c *agent.Change) {
			c.Way[0].Element = nodeOf(c.Prior, `button "Add"`)
			c.Others = []trail.Call{clickOn("button", "Add")}
		}),
		"a check is dropped":       edited(renamed, "be dropped", drop(2)),
		"a call before is dropped": edited(renamed, "be dropped", drop(0)),
		"every call is dropped":    edited(renamed, "no calls", func(c *agent.Change) { c.After = []trail.Call{} }),
		"the call is dropped":      edited(renamed, "be dropped", drop(1)),
		"a check is weakened":      edited(renamed, "change", func(c *agent.Change) { c.After[2] = recorded("web_verifyElementVisible", "ref", "css=#total") }),
		"a check expects something else": edited(renamed, "change", func(c *agent.Change) {
			c.After[2] = recorded("web_verifyValue", "ref", "css=#total", "expected", "0 €")
		}),
		"a check becomes optional":      edited(renamed, "change", func(c *agent.Change) { c.After[2].Optional = true }),
		"its own check is weakened":     edited(value, "not check the same", func(c *agent.Change) { c.After[1] = recorded("web_verifyElementVisible", "ref", `cell "Sum"`) }),
		"its own check expects less":    edited(value, "not check the same", func(c *agent.Change) { c.After[1].Args["expected"] = "" }),
		"a check becomes an action":     edited(value, "not check the same", func(c *agent.Change) { c.After[1] = clickOn("cell", "Sum") }),
		"a check is added":              edited(renamed, "not check the same", insert(recorded("web_verifyTextVisible", "text", "Cart"))),
		"a verify acts":                 edited(value, "a verify only checks", insert(clickOn("button", "Reset"))),
		"a page is opened":              edited(renamed, "opens another page", insert(recorded("web_navigate", "url", "/done"))),
		"another origin":                edited(renamed, "leads from https://shop.example to https://evil.example", func(c *agent.Change) { c.URLs = append(c.URLs, "https://evil.example/") }),
		"a tool of the project":         edited(renamed, "not a command of the device", insert(recorded("emptyCart"))),
		"memory":                        edited(renamed, "not a command of the device", insert(recorded("rememberValue", "name", "total", "value", "1"))),
		"a restricted tool":             edited(renamed, "is restricted", insert(recorded("web_evaluate", "script", "1"))),
		"a tool that is not recordable": edited(renamed, "cannot be recorded", insert(recorded("web_uploadSecretly", "ref", "x"))),
		"a call that was not recorded":  edited(renamed, "cannot be recorded", func(c *agent.Change) { c.Unrecorded = []string{"emptyCart"} }),
		"nine calls":                    edited(renamed, "9 calls", insert(eight...)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := h.judge(t)
			if h.refused == "" && (j.Refused != "" || j.Class != h.class || j.NeedsCheck != h.checked) || h.refused != "" && (!strings.Contains(j.Refused, h.refused) || j.MayBeWritten()) {
				t.Errorf("%+v", j)
			}
		})
	}
}

func TestSomeFailuresAreNeverHealed(t *testing.T) {
	t.Parallel()
	box := healBox(t)
	missing := map[string]any{act.ElementKey: act.Missing}
	for name, tt := range map[string]struct {
		call    trail.Call
		details map[string]any
		never   string
	}{
		"an element of an action":     {clickOn("button", "Save"), missing, ""},
		"one that is not ready":       {clickOn("button", "Save"), map[string]any{act.ElementKey: act.NotReady, act.ReasonKey: "it is covered"}, ""},
		"several":                     {recorded("web_click", "ref", "Save"), map[string]any{act.ElementKey: act.Ambiguous}, ""},
		"on a phone":                  {recorded("tap", "text", "Save"), missing, ""},
		"an element of a check":       {recorded("web_verifyValue", "ref", `cell "Total"`, "expected", "1"), missing, ""},
		"a value":                     {recorded("web_verifyValue", "ref", `cell "Total"`, "expected", "1"), map[string]any{act.ElementKey: act.NotReady}, "does not hold"},
		"a text":                      {recorded("web_verifyTextVisible", "text", "Paid"), missing, "does not hold"},
		"a text in an element":        {recorded("web_verifyTextVisible", "ref", "css=tr:nth-child(2)", "text", "Paid"), missing, "cannot be compared"},
		"a count":                     {recorded("web_verifyElementCount", "ref", `row "Mug"`, "count", 2), missing, "does not hold"},
		"that something is not there": {recorded("web_verifyElementNotVisible", "ref", `row "Mug"`), missing, "does not hold"},
		"which screen it is": {
			recorded("assertWaypoint", "id", "shop", "required", []any{map[string]any{"selector": map[string]any{"web": map[string]any{"ariaRole": "row"}}}}),
			missing, "cannot be compared",
		},
		"a URL":                           {recorded("web_navigate", "url", "/"), nil, "its element was found"},
		"a tool of the project":           {recorded("emptyCart"), missing, "not a command of the device"},
		"a tool of trailblaze":            {recorded("rememberValue"), missing, "not a command of the device"},
		"a CSS selector without an id":    {recorded("web_click", "ref", "css=tr:nth-child(2) button"), missing, "cannot be compared"},
		"an unknown tool":                 {recorded("web_fly"), missing, "not a command of the device"},
		"a call whose element was found":  {clickOn("button", "Save"), nil, "its element was found"},
		"a position on the screen":        {recorded("tap", "nodeSelector", map[string]any{"index": 3}), missing, "cannot be compared"},
		"a selector that cannot be read":  {recorded("tap", "nodeSelector", map[string]any{"nonsense": 3}), missing, "cannot be compared"},
		"a reference of a live session":   {recorded("web_click", "ref", "e12"), missing, "cannot be compared"},
		"a failure that says nothing yet": {clickOn("button", "Save"), map[string]any{"tries": 3}, "its element was found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := agent.NewBreakage(box, tt.call, tt.details)
			if (err == nil) != (tt.never == "") || err != nil && !strings.Contains(fmt.Sprint(err), tt.never) {
				t.Error(err)
			}
		})
	}
}

func TestReplacedCallKeepsAllButItsElement(t *testing.T) {
	t.Parallel()
	before := recorded("web_click", "ref", "Store", "timeoutMs", 7, "reasoning", "the first form")
	before.SaveAs, before.Soft = "saved", true
	view := healView(shopPage, `button "Menu"`, `button "STORE"`)
	made := func(call trail.Call, element string) agent.Made {
		return agent.Made{Call: call, Recorded: true, Element: nodeOf(view, element), Screen: view}
	}
	c := agent.Change{Box: healBox(t), Before: []trail.Call{before, clickOn("link", "Next")}, Screen: view, Breakage: agent.Breakage{Element: act.Missing}}
	c.Replace([]agent.Made{
		made(clickOn("button", "Menu"), `button "Menu"`), made(recorded("web_verifyTextVisible", "text", "Store"), ""),
		made(clickOn("button", "STORE"), `button "STORE"`), made(clickOn("link", "Next"), ""),
	})
	want := before
	want.Args = map[string]any{"timeoutMs": 7, "reasoning": "the first form", "nodeSelector": clickOn("button", "STORE").Args["nodeSelector"]}
	if len(c.After) != 3 || c.Added != 1 || fmt.Sprint(c.After[1]) != fmt.Sprint(want) || c.After[0].Tool != "web_click" {
		t.Errorf("%+v", c.After)
	}
}
