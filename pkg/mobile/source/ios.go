package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

const webDriverAgent = "WebDriverAgent"

// WDAJSON reads the page source that WebDriverAgent returns for format=json: the value of the response, an object.
func WDAJSON(data []byte, o Options) (Result, error) {
	if len(data) > maxBytes {
		return Result{}, unreadableError(webDriverAgent, data, "it has more than %d MiB", maxBytes>>20)
	}
	var root wdaElement
	if err := json.Unmarshal(data, &root); err != nil {
		return Result{}, unreadableError(webDriverAgent, data, "%v", err)
	}
	if root.Type == "" {
		return Result{}, unreadableError(webDriverAgent, data, "its root has no type")
	}
	return ios(data, &root, o)
}

// WDAXML reads the XML of WebDriverAgent, also as Appium passes it on. It does not distinguish the identifier of an
// element from its label where it has only one of them.
func WDAXML(data []byte, o Options) (Result, error) {
	if len(data) > maxBytes {
		return Result{}, unreadableError(webDriverAgent, data, "it has more than %d MiB", maxBytes>>20)
	}
	root, err := parseXML(data)
	if err != nil {
		return Result{}, unreadableError(webDriverAgent, data, "%v", err)
	}
	for !strings.HasPrefix(root.name, typePrefix) && len(root.children) == 1 {
		root = root.children[0] // Appium and WebDriverAgent put an element around it
	}
	if !strings.HasPrefix(root.name, typePrefix) {
		return Result{}, unreadableError(webDriverAgent, data, "it has no element of a type that starts with %s", typePrefix)
	}
	return ios(data, wdaOf(root), o)
}

// typePrefix is left out in JSON.
const typePrefix = "XCUIElementType"

// wdaElement is an element as WebDriverAgent writes it in JSON.
type wdaElement struct {
	Type             string       `json:"type"`
	RawIdentifier    wdaValue     `json:"rawIdentifier"`
	Label            wdaValue     `json:"label"`
	Value            wdaValue     `json:"value"`
	PlaceholderValue wdaValue     `json:"placeholderValue"`
	Enabled          wdaValue     `json:"isEnabled"`
	Visible          wdaValue     `json:"isVisible"`
	Traits           wdaValue     `json:"traits"`
	CustomActions    wdaValue     `json:"customActions"`
	Rect             wdaRect      `json:"rect"`
	Children         []wdaElement `json:"children"`
}

type wdaRect struct {
	X, Y, Width, Height float64
}

// wdaValue is a text, a number, a boolean or null. Versions of WebDriverAgent differ in which.
type wdaValue struct {
	text     string
	set      bool // it is not null
	reported bool // the element has the key
}

// UnmarshalJSON accepts any value but objects and arrays, which count as null.
func (v *wdaValue) UnmarshalJSON(data []byte) error {
	v.reported = true
	switch data[0] {
	case 'n', '{', '[':
		return nil
	case '"':
		v.set = true
		if bytes.IndexByte(data, '\\') < 0 && utf8.Valid(data) {
			v.text = string(data[1 : len(data)-1])
			return nil
		}
		return json.Unmarshal(data, &v.text)
	}
	v.set, v.text = true, string(data)
	return nil
}

func (v wdaValue) notBlank() *string {
	if !v.set {
		return nil
	}
	return notBlank(v.text)
}

func (v wdaValue) equalsBool(on bool) bool {
	if on {
		return v.text == "1" || v.text == "true"
	}
	return v.text == "0" || v.text == "false"
}

// wdaOf returns an element of XML as one of JSON.
func wdaOf(e *element) *wdaElement {
	out := &wdaElement{Type: strings.TrimPrefix(e.name, typePrefix)}
	for _, a := range e.attributes {
		v := wdaValue{text: a.value, set: true, reported: true}
		size, _ := strconv.ParseFloat(a.value, 64)
		switch a.name {
		case "name":
			out.RawIdentifier = v
		case "label":
			out.Label = v
		case "value":
			out.Value = v
		case "placeholderValue":
			out.PlaceholderValue = v
		case "enabled":
			out.Enabled = v
		case "visible":
			out.Visible = v
		case "traits":
			out.Traits = v
		case "customActions":
			out.CustomActions = v
		case "x":
			out.Rect.X = size
		case "y":
			out.Rect.Y = size
		case "width":
			out.Rect.Width = size
		case "height":
			out.Rect.Height = size
		}
	}
	for _, child := range e.children {
		out.Children = append(out.Children, *wdaOf(child))
	}
	return out
}

// ios returns the screen below root.
func ios(data []byte, root *wdaElement, o Options) (Result, error) {
	r := &iosReader{}
	top, err := r.node(root, 0)
	if err != nil {
		return Result{}, unreadableError(webDriverAgent, data, "%v", err)
	}
	width, height := o.Width, o.Height
	if !top.Bounds.Empty() {
		width, height = top.Bounds.Right, top.Bounds.Bottom // the size as the device is turned now
	}
	setKeys(top, "")
	out := Result{Tree: screen.NewTree(top, width, height, screen.IOSMaestro, screen.IOSAxe)}
	out.Tree.Unavailable, out.Bars = r.unavailable(), r.bars
	if r.keyboard != nil {
		if area := r.keyboard.Intersect(screen.Rect{Right: width, Bottom: height}); !area.Empty() {
			out.Keyboard = &area
		}
	}
	return out, nil
}

// iosReader makes nodes of elements.
type iosReader struct {
	nodes    int
	keyboard *screen.Rect
	bars     []screen.Rect
	// What some element had.
	traits, customActions bool
}

func (r *iosReader) node(e *wdaElement, depth int) (*screen.Node, error) {
	r.nodes++
	switch {
	case r.nodes > maxNodes:
		return nil, fmt.Errorf("it has more than %d elements", maxNodes)
	case depth >= maxDepth:
		return nil, fmt.Errorf("its elements are nested more than %d deep", maxDepth)
	}
	r.traits = r.traits || e.Traits.reported
	r.customActions = r.customActions || e.CustomActions.reported
	n := newNode(e)
	switch {
	case e.Type == "Keyboard" && !n.Bounds.Empty():
		r.keyboard = n.Bounds
	case e.Type == "StatusBar":
		r.bars = append(r.bars, *n.Bounds)
	}
	if len(e.Children) > 0 {
		n.Children = make([]*screen.Node, len(e.Children))
	}
	for i := range e.Children {
		var err error
		if n.Children[i], err = r.node(&e.Children[i], depth+1); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// newNode returns the node of an element without what is below it.
func newNode(e *wdaElement) *screen.Node {
	n := &screen.Node{
		Class: &e.Type, ID: e.RawIdentifier.notBlank(), Label: e.Label.notBlank(), Hint: e.PlaceholderValue.notBlank(),
		Bounds: e.Rect.bounds(),
		States: screen.States{
			Disabled: e.Enabled.equalsBool(false), Hidden: e.Visible.equalsBool(false),
			Selected: e.hasTrait("Selected"), Heading: e.hasTrait("Header"),
		},
	}
	n.UniqueID = n.ID
	if role := screen.RoleOfClass(typePrefix + e.Type); role != "generic" {
		n.Role = role
	}
	switch e.Type {
	case "Application":
		n.Role = "application"
	case "Key":
		n.KeyboardKey = true
	case "TextField", "SecureTextField", "SearchField", "TextView":
		n.Editable, n.Password, n.MultiLine = true, e.Type == "SecureTextField", e.Type == "TextView"
	case "ScrollView", "Table", "CollectionView":
		n.Scrollable = true
	case "Switch", "Toggle", "CheckBox":
		n.Checkable = true
		if e.Value.equalsBool(true) {
			n.Checked = screen.ToggleOn
		}
	}
	n.Value = e.ownValue(n)
	n.Text = n.Value
	for action := range strings.SplitSeq(e.CustomActions.text, ",") {
		if action = strings.TrimSpace(action); action != "" {
			n.CustomActions = append(n.CustomActions, action)
		}
	}
	return n
}

// ownValue returns the value without what WebDriverAgent writes where an element has none: the label of a text, the
// placeholder of a field, and 1 for a button that is selected.
func (e *wdaElement) ownValue(n *screen.Node) *string {
	v := e.Value.notBlank()
	switch {
	case v == nil:
		return nil
	case e.Type == "StaticText" && *v == value(n.Label), n.Editable && *v == value(n.Hint):
		return nil
	case e.Type == "Button" && *v == "1" && n.Selected:
		return nil
	}
	return v
}

func (e *wdaElement) hasTrait(name string) bool {
	return e.Traits.set && slices.Contains(strings.Split(e.Traits.text, ", "), name)
}

func (r wdaRect) bounds() *screen.Rect {
	return &screen.Rect{
		Left: whole(r.X), Top: whole(r.Y), Right: whole(r.X + r.Width), Bottom: whole(r.Y + r.Height),
	}
}

// whole returns a coordinate as an integer that can be calculated with.
func whole(f float64) int {
	const limit = 1 << 30
	if math.IsNaN(f) {
		return 0
	}
	return int(math.Round(max(-limit, min(limit, f))))
}

// unavailable returns the keys of selectors that this source cannot answer, with the reasons. What it calls focused is
// the focus of a remote control or of keys for navigation, and not the field that the keyboard types into.
func (r *iosReader) unavailable() map[string]string {
	const never, missing = "WebDriverAgent does not report it", "WebDriverAgent did not report it; use its JSON source"
	out := map[string]string{}
	for _, key := range []string{"roleRegex", "subroleRegex", "titleRegex"} {
		out[string(screen.IOSAxe)+"."+key] = never
	}
	out[string(screen.IOSMaestro)+".focused"] = "the page source of WebDriverAgent does not have the focus of the keyboard"
	if !r.customActions {
		out[string(screen.IOSAxe)+".customAction"] = missing
	}
	if !r.traits {
		out[string(screen.IOSMaestro)+".selected"] = missing
	}
	return out
}
