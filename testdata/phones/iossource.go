package phones

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// iosNode is an element as XCTest shows it. An empty text stands for an absent one.
type iosNode struct {
	kind                             string // without XCUIElementType
	identifier, label, value, traits string
	element                          *app.Element
	children                         []*iosNode
}

// name is the identifier, or else the label, as WebDriverAgent does it.
func (n *iosNode) name() string {
	if n.identifier != "" {
		return n.identifier
	}
	return n.label
}

// iosType returns the type of an element and its traits.
func iosType(e *app.Element) (kind, traits string) {
	switch e.Kind {
	case app.Text:
		if e.Heading {
			return "StaticText", "Header, StaticText"
		}
		return "StaticText", "StaticText"
	case app.Button, app.ImageButton:
		return "Button", "Button"
	case app.Field:
		if e.Password {
			return "SecureTextField", ""
		}
		return "TextField", ""
	case app.TextArea:
		return "TextView", ""
	case app.Switch:
		return "Switch", "Button, ToggleButton"
	case app.List:
		return "Table", ""
	case app.Row:
		return "Cell", ""
	case app.Image:
		return "Image", "Image"
	case app.Web:
		return "WebView", ""
	case app.Spinner:
		return "ActivityIndicator", ""
	case app.Dialog:
		return "Alert", ""
	case app.Keyboard:
		return "Keyboard", ""
	case app.KeyboardKey:
		return "Key", "KeyboardKey"
	default:
		return "Other", ""
	}
}

// iosNodes returns the app in front with its windows. An alert of the system is in an app of its own.
func iosNodes(windows []app.Window) *iosNode {
	front := activeWindow(windows)
	name := map[string]string{app.ShopID: "Corner Shop", app.BrowserID: "Browser"}[front.Package]
	if name == "" {
		name = " "
	}
	root := &iosNode{kind: "Application", label: name, element: &app.Element{Bounds: windows[0].Root.Bounds}}
	for _, w := range windows {
		if w.Package != front.Package && w.Kind != app.KeyboardWindow {
			continue
		}
		window := &iosNode{kind: "Window", element: &app.Element{Bounds: windows[0].Root.Bounds}}
		window.children = []*iosNode{iosElement(w.Root)}
		root.children = append(root.children, window)
	}
	return root
}

func iosElement(e *app.Element) *iosNode {
	n := &iosNode{identifier: e.ID, label: e.Label, element: e}
	n.kind, n.traits = iosType(e)
	switch e.Kind {
	case app.Text:
		n.label, n.value = e.Text, e.Text
	case app.Button:
		n.label = e.Text
	case app.Switch:
		n.label, n.value = e.Text, zeroOrOne(e.Checked == screen.ToggleOn)
	case app.Field, app.TextArea:
		n.value = e.Text
		if e.Password {
			n.value = strings.Repeat("•", len([]rune(e.Text)))
		}
		if e.Text == "" {
			n.value = e.Hint
		}
	default:
	}
	if e.Disabled {
		n.traits = strings.TrimPrefix(n.traits+", NotEnabled", ", ")
	}
	for _, child := range e.Children {
		n.children = append(n.children, iosElement(child))
	}
	return n
}

func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// wdaJSON returns an element as WebDriverAgent's source in JSON has it.
func wdaJSON(n *iosNode) map[string]any {
	b := n.element.Bounds
	m := map[string]any{
		"type": n.kind, "rawIdentifier": textOrNull(n.identifier), "name": textOrNull(n.name()),
		"value": textOrNull(n.value), "label": textOrNull(n.label), "customActions": nil,
		"rect":      map[string]int{"x": b.Left, "y": b.Top, "width": b.Width(), "height": b.Height()},
		"frame":     fmt.Sprintf("{{%d, %d}, {%d, %d}}", b.Left, b.Top, b.Width(), b.Height()),
		"isEnabled": zeroOrOne(!n.element.Disabled), "isVisible": zeroOrOne(!n.element.Hidden),
		"isAccessible": zeroOrOne(len(n.children) == 0), "isFocused": zeroOrOne(n.element.Focused), "traits": n.traits,
	}
	if n.element.Editable {
		m["placeholderValue"] = textOrNull(n.element.Hint)
	}
	var children []any
	for _, child := range n.children {
		children = append(children, wdaJSON(child))
	}
	if children != nil {
		m["children"] = children
	}
	return m
}

// wdaXML returns an app as WebDriverAgent's source in XML has it.
func wdaXML(root *iosNode, scope string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	if scope != "" {
		fmt.Fprintf(&b, "<%s>", scope)
	}
	writeIOSNode(&b, root, 0)
	if scope != "" {
		fmt.Fprintf(&b, "</%s>", scope)
	}
	return b.String()
}

func writeIOSNode(b *strings.Builder, n *iosNode, index int) {
	kind, r := "XCUIElementType"+n.kind, n.element.Bounds
	attributes := []string{"type", kind}
	for _, a := range [][2]string{{"value", n.value}, {"name", n.name()}, {"label", n.label}} {
		if a[1] != "" {
			attributes = append(attributes, a[0], a[1])
		}
	}
	attributes = append(attributes,
		"enabled", truth(!n.element.Disabled), "visible", truth(!n.element.Hidden), "accessible", truth(len(n.children) == 0),
		"x", strconv.Itoa(r.Left), "y", strconv.Itoa(r.Top), "width", strconv.Itoa(r.Width()), "height", strconv.Itoa(r.Height()),
		"index", strconv.Itoa(index),
	)
	if n.element.Editable && n.element.Hint != "" {
		attributes = append(attributes, "placeholderValue", n.element.Hint)
	}
	fmt.Fprintf(b, "<%s", kind)
	writeAttributes(b, append(attributes, "traits", n.traits), noCharacter)
	b.WriteString(">")
	for i, child := range n.children {
		writeIOSNode(b, child, i)
	}
	fmt.Fprintf(b, "</%s>", kind)
}
