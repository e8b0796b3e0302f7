package wire

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

const typePrefix = "XCUIElementType"

// wdaElement is an element in the JSON of WebDriverAgent. The flags are texts there.
type wdaElement struct {
	Type                         string        `json:"type"`
	RawIdentifier                *string       `json:"rawIdentifier"`
	Name                         *string       `json:"name"`
	Value                        *string       `json:"value"`
	Label                        *string       `json:"label"`
	Rect                         wdaRect       `json:"rect"`
	CustomActions                *string       `json:"customActions"`
	Frame                        string        `json:"frame,omitempty"`
	NativeFrame                  string        `json:"nativeFrame,omitempty"`
	IsEnabled                    string        `json:"isEnabled"`
	IsVisible                    string        `json:"isVisible"`
	IsAccessible                 string        `json:"isAccessible,omitempty"`
	IsNativeAccessibilityElement string        `json:"isNativeAccessibilityElement,omitempty"`
	IsFocused                    string        `json:"isFocused,omitempty"`
	Traits                       string        `json:"traits"`
	PlaceholderValue             *string       `json:"placeholderValue,omitempty"`
	Children                     []*wdaElement `json:"children,omitempty"`
}

type wdaRect struct {
	X      int `json:"x"`
	Y      int `json:"y"`
	Width  int `json:"width"`
	Height int `json:"height"`
}

// WDAJSON writes the value of WebDriverAgent's answer to source?format=json. The root is the app as large as the
// screen; one that the window does not have is added. Of the attributes that a request may exclude, by the names of
// WebDriverAgentLib/Categories/XCUIApplication+FBHelpers.m, those are left out that do not matter for what is shown.
func WDAJSON(s Screen, excluded ...string) []byte {
	root := application(s)
	root.exclude(excluded)
	data, _ := json.Marshal(root) // texts and numbers can always be written
	return data
}

func (e *wdaElement) exclude(names []string) {
	for _, name := range names {
		switch name {
		case "frame":
			e.Frame = ""
		case "nativeFrame":
			e.NativeFrame = ""
		case "accessible":
			e.IsAccessible = ""
		case "nativeAccessibilityElement":
			e.IsNativeAccessibilityElement = ""
		case "focused":
			e.IsFocused = ""
		}
	}
	for _, child := range e.Children {
		child.exclude(names)
	}
}

// WDAXML writes the XML of WebDriverAgent. A scope, AppiumAUT for Appium, is the name of an element around it.
func WDAXML(s Screen, scope string) []byte {
	w := &writer{}
	w.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	indent := 0
	if scope != "" {
		w.WriteString("<" + scope + ">\n")
		indent = 1
	}
	bundle := ""
	if len(s.Windows) > 0 {
		bundle = s.Windows[0].Package
	}
	wdaXML(w, application(s), 0, indent, bundle)
	if scope != "" {
		w.WriteString("</" + scope + ">\n")
	}
	return []byte(w.String())
}

func application(s Screen) *wdaElement {
	root := &screen.Node{}
	if len(s.Windows) > 0 {
		root = s.Windows[0].Root
	}
	if strings.TrimPrefix(text(root.Class), typePrefix) != "Application" {
		class := "Application"
		root = &screen.Node{
			Class: &class, Bounds: &screen.Rect{Right: s.Width, Bottom: s.Height}, Children: []*screen.Node{root},
		}
	}
	return wda(root)
}

// wda returns n as WebDriverAgent describes it.
func wda(n *screen.Node) *wdaElement {
	e := &wdaElement{
		Type: wdaType(n), RawIdentifier: notEmpty(n.ID), Name: notEmpty(n.ID), Label: notEmpty(n.Label),
		IsEnabled: flag(!n.Disabled), IsVisible: flag(!n.Hidden),
		// It is about the focus engine, not the keyboard: XCUIElement+FBWebDriverAttributes.m, isWDFocused.
		IsFocused: flag(false),
	}
	if e.Name == nil {
		e.Name = e.Label
	}
	if n.Bounds != nil {
		e.Rect = wdaRect{n.Bounds.Left, n.Bounds.Top, n.Bounds.Width(), n.Bounds.Height()}
	}
	r := e.Rect
	e.Frame = "{{" + strconv.Itoa(r.X) + ", " + strconv.Itoa(r.Y) + "}, {" + strconv.Itoa(r.Width) + ", " + strconv.Itoa(r.Height) + "}}"
	e.NativeFrame = e.Frame
	e.IsAccessible = flag(n.Label != nil || n.Text != nil)
	e.IsNativeAccessibilityElement = e.IsAccessible
	if isInput(e.Type) {
		e.PlaceholderValue = n.Hint
	}
	e.Value = wdaValue(e.Type, n)
	e.Traits = strings.Join(traits(e.Type, n), ", ")
	if len(n.CustomActions) > 0 {
		all := strings.Join(n.CustomActions, ",")
		e.CustomActions = &all
	}
	for _, child := range n.Children {
		e.Children = append(e.Children, wda(child))
	}
	return e
}

// wdaType returns the type without its prefix. Captured screens have none: there a placeholder makes a field.
func wdaType(n *screen.Node) string {
	switch class := strings.TrimPrefix(text(n.Class), typePrefix); {
	case class != "":
		return class
	case n.Password:
		return "SecureTextField"
	case n.Hint != nil:
		return "TextField"
	}
	return "Other"
}

func isInput(elementType string) bool {
	switch elementType {
	case "TextField", "SecureTextField", "SearchField", "TextView":
		return true
	}
	return false
}

// wdaValue returns what WebDriverAgent calls the value, which depends on the type.
func wdaValue(elementType string, n *screen.Node) *string {
	value := n.Value
	if value == nil {
		value = n.Text
	}
	value = notEmpty(value)
	switch {
	case elementType == "Switch":
		on := flag(n.Checked == screen.ToggleOn)
		return &on
	case value != nil:
		return value
	case elementType == "StaticText":
		return notEmpty(n.Label)
	case elementType == "Button" && n.Selected:
		on := "1"
		return &on
	case isInput(elementType):
		return notEmpty(n.Hint)
	}
	return nil
}

func traits(elementType string, n *screen.Node) []string {
	var out []string
	switch elementType {
	case "Button", "Link", "SearchField", "Image", "StaticText", "TabBar":
		out = append(out, elementType)
	case "Key":
		out = append(out, "KeyboardKey")
	case "Switch":
		out = append(out, "Button", "ToggleButton")
	case "Slider":
		out = append(out, "Adjustable")
	}
	if n.Heading {
		out = append(out, "Header")
	}
	if n.Selected {
		out = append(out, "Selected")
	}
	if n.Disabled {
		out = append(out, "NotEnabled")
	}
	return out
}

func flag(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

func notEmpty(s *string) *string {
	if text(s) == "" {
		return nil
	}
	return s
}

// wdaXML writes e as libxml2 formats it.
func wdaXML(w *writer, e *wdaElement, index, depth int, bundle string) {
	indent := strings.Repeat("  ", depth)
	tag := typePrefix + e.Type
	w.WriteString(indent + "<" + tag)
	add := func(name, value string) { w.attribute(name, xmlText(value, "")) }
	optional := func(name string, value *string) {
		if value != nil {
			add(name, *value)
		}
	}
	boolean := func(name, value string) { add(name, strconv.FormatBool(value == "1")) }
	add("type", tag)
	optional("value", e.Value)
	optional("name", e.Name)
	optional("label", e.Label)
	boolean("enabled", e.IsEnabled)
	boolean("visible", e.IsVisible)
	boolean("accessible", e.IsAccessible)
	add("x", strconv.Itoa(e.Rect.X))
	add("y", strconv.Itoa(e.Rect.Y))
	add("width", strconv.Itoa(e.Rect.Width))
	add("height", strconv.Itoa(e.Rect.Height))
	add("index", strconv.Itoa(index))
	optional("placeholderValue", e.PlaceholderValue)
	add("traits", e.Traits)
	if e.Type == "Application" {
		add("processId", "4711")
		add("bundleId", bundle)
	}
	if len(e.Children) == 0 {
		w.WriteString("/>\n")
		return
	}
	w.WriteString(">\n")
	for i, child := range e.Children {
		wdaXML(w, child, i, depth+1, bundle)
	}
	w.WriteString(indent + "</" + tag + ">\n")
}
