package wire

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

const declaration = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"

// UIAutomator2 writes the page source of the UiAutomator2 server 10.6: elements named by their classes, with the
// attributes that an element has, below a hierarchy with the size of the screen.
func UIAutomator2(s Screen, o Settings) []byte {
	windows := s.Windows
	if !o.EnableMultiWindows {
		windows = s.active()
	}
	w := &uiAutomator2{writer: writer{android: true}, screen: s, settings: o}
	if w.settings.SnapshotMaxDepth == 0 {
		w.settings.SnapshotMaxDepth = 70
	}
	w.WriteString(declaration + "\r\n")
	fmt.Fprintf(w, `<hierarchy index="0" class="hierarchy" rotation="%d" width="%d" height="%d">`, s.Rotation, s.Width, s.Height)
	for i, window := range windows {
		w.window = window
		w.id = 100 + i
		w.node(window.Root, i, nil)
	}
	for i, toast := range s.Toasts {
		w.WriteString("\r\n  ")
		fmt.Fprintf(w, `<android.widget.Toast index="%d" package="com.android.settings" class="android.widget.Toast"`, len(windows)+i)
		w.attribute("text", xmlText(toast, "?"))
		w.WriteString(` displayed="true" />`)
	}
	w.WriteString("\r\n</hierarchy>")
	return []byte(w.String())
}

type uiAutomator2 struct {
	writer
	screen   Screen
	settings Settings
	window   Window
	id       int // of the window
}

// node writes n and what is below it. The parents start with the root.
func (w *uiAutomator2) node(n *screen.Node, index int, parents []*screen.Node) {
	indent := "\r\n" + strings.Repeat("  ", len(parents)+1)
	tag := tagName(text(n.Class))
	w.WriteString(indent + "<" + tag)
	for _, a := range w.attributes(n, index, parents) {
		w.attribute(a[0], xmlText(a[1], "?"))
	}
	var children []int
	for i, child := range n.Children {
		if (!child.Hidden || w.settings.AllowInvisibleElements) && len(parents)+1 < w.settings.SnapshotMaxDepth {
			children = append(children, i)
		}
	}
	if len(children) == 0 {
		w.WriteString(" />")
		return
	}
	w.WriteString(">")
	below := append(slices.Clip(parents), n)
	for _, i := range children {
		w.node(n.Children[i], i, below)
	}
	w.WriteString(indent + "</" + tag + ">")
}

// tagName returns a class as the name of an element.
func tagName(class string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, class)
	if name == "" {
		return "android.view.View"
	}
	return name
}

// attributes returns the attributes in the order of the server. Absent texts are left out, except that of text.
func (w *uiAutomator2) attributes(n *screen.Node, index int, parents []*screen.Node) [][2]string {
	var out [][2]string
	add := func(name, value string) { out = append(out, [2]string{name, value}) }
	flag := func(name string, on bool) { add(name, strconv.FormatBool(on)) }
	optional := func(name string, value *string) {
		if value != nil {
			add(name, *value)
		}
	}
	empty := n.Text == nil && n.Hint != nil && n.Editable // its hint is its text
	shown := text(n.Text)
	if empty {
		shown = *n.Hint
	}
	add("index", strconv.Itoa(index))
	add("package", w.window.Package)
	add("class", text(n.Class))
	add("text", shown)
	optional("content-desc", n.Label)
	optional("resource-id", n.ID)
	flag("checkable", n.Checkable)
	flag("checked", n.Checked == screen.ToggleOn)
	flag("clickable", n.Clickable)
	flag("enabled", !n.Disabled)
	flag("focusable", n.Clickable || n.Focused || n.Editable)
	flag("focused", n.Focused)
	flag("long-clickable", n.LongClickable)
	flag("password", n.Password)
	flag("scrollable", n.Scrollable)
	flag("selected", n.Selected)
	add("bounds", shortString(w.visibleBounds(n, parents)))
	flag("displayed", !n.Hidden)
	optional("hint", n.Hint)
	if w.settings.IncludeExtrasInPageSource {
		add("extras", extras(n))
	}
	flag("a11y-important", !n.Unimportant)
	flag("screen-reader-focusable", false)
	if n.InputType != 0 {
		add("input-type", strconv.Itoa(n.InputType))
	}
	add("drawing-order", strconv.Itoa(n.DrawingOrder))
	flag("showing-hint", empty || n.ShowingHint || n.Hint != nil && n.Text != nil && *n.Text == *n.Hint)
	flag("text-entry-key", false)
	flag("dismissable", n.Dismissable)
	flag("a11y-focused", false)
	flag("heading", n.Heading)
	add("live-region", "0")
	flag("context-clickable", false)
	flag("content-invalid", n.Invalid != "")
	optional("pane-title", n.PaneTitle)
	if w.settings.IncludeA11yActionsInPageSource {
		add("actions", strings.Join(actions(n), ","))
	}
	add("window-id", strconv.Itoa(w.id))
	if n.Row != nil {
		flag("is-collection-item", true)
	}
	return out
}

// extras returns the entries of the bundle that the server prints.
func extras(n *screen.Node) string {
	var out []string
	if n.TestID != nil {
		out = append(out, "androidx.compose.ui.semantics.testTag="+*n.TestID)
	}
	if n.RoleDescription != nil {
		out = append(out, "AccessibilityNodeInfo.roleDescription="+*n.RoleDescription)
	}
	return strings.Join(out, ";")
}

// actions returns the actions that a view with these properties offers.
func actions(n *screen.Node) []string {
	out := []string{"ACTION_SELECT", "ACTION_CLEAR_SELECTION", "ACTION_ACCESSIBILITY_FOCUS", "ACTION_SHOW_ON_SCREEN"}
	for _, action := range []struct {
		offered bool
		name    string
	}{
		{n.Focused, "ACTION_CLEAR_FOCUS"},
		{!n.Focused && (n.Clickable || n.Editable), "ACTION_FOCUS"},
		{n.Clickable, "ACTION_CLICK"},
		{n.LongClickable, "ACTION_LONG_CLICK"},
		{n.Scrollable, "ACTION_SCROLL_FORWARD"},
		{n.Expanded, "ACTION_COLLAPSE"},
		{n.Dismissable, "ACTION_DISMISS"},
		{n.Editable, "ACTION_SET_TEXT"},
	} {
		if action.offered {
			out = append(out, action.name)
		}
	}
	return out
}

// visibleBounds returns the bounds as the server clips them: to the display and the window, and unless
// simpleBoundsCalculation is on to the next scrollable parent, too.
func (w *uiAutomator2) visibleBounds(n *screen.Node, parents []*screen.Node) screen.Rect {
	if n.Bounds == nil {
		return screen.Rect{}
	}
	out := intersect(*n.Bounds, screen.Rect{Right: w.screen.Width, Bottom: w.screen.Height})
	if w.window.Root.Bounds != nil {
		out = intersect(out, *w.window.Root.Bounds)
	}
	if w.settings.SimpleBoundsCalculation {
		return out
	}
	for i, parent := range slices.Backward(parents) {
		if parent.Scrollable {
			return intersect(out, w.visibleBounds(parent, parents[:i]))
		}
	}
	return out
}

// intersect is Rect.intersect of Android: it changes nothing when the rectangles do not overlap.
func intersect(r, other screen.Rect) screen.Rect {
	if both := r.Intersect(other); r.Left < other.Right && other.Left < r.Right && r.Top < other.Bottom && other.Top < r.Bottom {
		return both
	}
	return r
}

// shortString is Rect.toShortString of Android.
func shortString(r screen.Rect) string {
	return fmt.Sprintf("[%d,%d][%d,%d]", r.Left, r.Top, r.Right, r.Bottom)
}

// Dump writes the file of uiautomator dump: the active window without its invisible nodes.
func Dump(s Screen) []byte {
	w := &writer{android: true}
	w.WriteString(declaration)
	fmt.Fprintf(w, `<hierarchy rotation="%d">`, s.Rotation)
	for _, window := range s.active() {
		dumpNode(w, s, window, window.Root, 0)
	}
	w.WriteString("</hierarchy>")
	return []byte(w.String())
}

func dumpNode(w *writer, s Screen, window Window, n *screen.Node, index int) {
	add := func(name, value string) { w.attribute(name, xmlText(value, ".")) }
	flag := func(name string, on bool) { add(name, strconv.FormatBool(on)) }
	w.WriteString("<node")
	shown := text(n.Text)
	if n.Text == nil && n.Editable {
		shown = text(n.Hint)
	}
	if n.Clickable && !n.Disabled && shown == "" && text(n.Label) == "" && len(n.Children) == 0 {
		flag("NAF", true) // not accessibility friendly
	}
	add("index", strconv.Itoa(index))
	add("text", shown)
	add("resource-id", text(n.ID))
	add("class", text(n.Class))
	add("package", window.Package)
	add("content-desc", text(n.Label))
	flag("checkable", n.Checkable)
	flag("checked", n.Checked == screen.ToggleOn)
	flag("clickable", n.Clickable)
	flag("enabled", !n.Disabled)
	flag("focusable", n.Clickable || n.Focused || n.Editable)
	flag("focused", n.Focused)
	flag("scrollable", n.Scrollable)
	flag("long-clickable", n.LongClickable)
	flag("password", n.Password)
	flag("selected", n.Selected)
	var area screen.Rect
	if n.Bounds != nil {
		area = intersect(*n.Bounds, screen.Rect{Right: s.Width, Bottom: s.Height})
	}
	add("bounds", shortString(area))
	children := 0
	for i, child := range n.Children {
		if child.Hidden {
			continue
		}
		if children++; children == 1 {
			w.WriteString(">")
		}
		dumpNode(w, s, window, child, i)
	}
	if children == 0 {
		w.WriteString(" />")
		return
	}
	w.WriteString("</node>")
}
