package phones

import (
	"slices"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
	"github.com/trailblaze/trailblaze/testdata/phones/wire"
)

// androidScreen returns what accessibility shows of windows on Android: not those of an app behind a dialog of the same
// app, which takes all touches of its task.
func androidScreen(windows []app.Window, width, height int) wire.Screen {
	s := wire.Screen{Width: width, Height: height}
	if width > height {
		s.Rotation = 1
	}
	modal := map[string]bool{} // by app
	for _, w := range slices.Backward(windows) {
		if modal[w.Package] {
			continue
		}
		modal[w.Package] = w.Modal
		root := androidNode(w, w.Root)
		if w.Kind == app.KeyboardWindow { // its keys are drawn, they are not views
			id := "android:id/inputArea"
			root.ID, root.Children = &id, nil
		}
		s.Windows = append(s.Windows, wire.Window{Package: w.Package, Root: root, Keyboard: w.Kind == app.KeyboardWindow})
	}
	return s
}

func androidNode(w app.Window, e *app.Element) *screen.Node {
	class := androidClass(e.Kind)
	n := &screen.Node{
		Class: &class, Text: notEmpty(shownText(e)), Label: notEmpty(e.Label), Hint: notEmpty(e.Hint), Bounds: &e.Bounds,
		States: e.States,
	}
	n.Unimportant, n.Row, n.Dismissable = e.Unimportant, e.Row, e.Dismissable
	if e.Placeholder != "" && e.Text == "" {
		shown := e.Hint + ", " + e.Placeholder
		n.Text, n.ShowingHint = &shown, true
	}
	if e.ID != "" {
		id := idPrefix(w, e) + e.ID
		n.ID = &id
	}
	for i, child := range e.Children {
		c := androidNode(w, child)
		if e.Kind != app.Web { // what is in a page is not a view
			c.DrawingOrder = i + 1
		}
		n.Children = append(n.Children, c)
	}
	return n
}

// shownText returns the text of an element, with a point for each character of a password.
func shownText(e *app.Element) string {
	if e.Password {
		return strings.Repeat("•", len([]rune(e.Text)))
	}
	return e.Text
}

func notEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// valueOf returns what s points to, "" for nil.
func valueOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// androidClass returns the class of a kind of element.
func androidClass(k app.Kind) string {
	switch k {
	case app.Text:
		return "android.widget.TextView"
	case app.Button:
		return "android.widget.Button"
	case app.ImageButton:
		return "android.widget.ImageButton"
	case app.Field, app.TextArea:
		return "android.widget.EditText"
	case app.Switch:
		return "android.widget.Switch"
	case app.List:
		return "androidx.recyclerview.widget.RecyclerView"
	case app.Row:
		return "android.view.ViewGroup"
	case app.Image:
		return "android.widget.ImageView"
	case app.Web:
		return "android.webkit.WebView"
	case app.Spinner:
		return "android.widget.ProgressBar"
	default:
		return "android.widget.FrameLayout"
	}
}

// idPrefix returns the package of a resource id. Buttons and the title of a dialog are Android's own.
func idPrefix(w app.Window, e *app.Element) string {
	if slices.Contains([]string{"button1", "button2", "alertTitle", "message", "content", "inputArea"}, e.ID) {
		return "android:id/"
	}
	return w.Package + ":id/"
}

// withoutUnimportant removes the nodes that are not important for accessibility; their children take their place.
func withoutUnimportant(nodes []*screen.Node) []*screen.Node {
	var kept []*screen.Node
	for _, n := range nodes {
		n.Children = withoutUnimportant(n.Children)
		if n.Unimportant {
			kept = append(kept, n.Children...)
		} else {
			kept = append(kept, n)
		}
	}
	return kept
}

// iosScreen returns the active app with its windows, as XCTest shows them. An alert of the system is in an app of its
// own.
func iosScreen(windows []app.Window, front app.Window, width, height int) wire.Screen {
	name := iosAppName(front.Package)
	full := screen.Rect{Right: width, Bottom: height}
	root := iosNode("Application", &app.Element{Label: name, Bounds: full})
	for _, w := range windows {
		if w.Package == front.Package || w.Kind == app.KeyboardWindow {
			window := iosNode("Window", &app.Element{Bounds: full})
			window.Children = append(window.Children, iosNode("", w.Root))
			root.Children = append(root.Children, window)
		}
	}
	return wire.Screen{Width: width, Height: height, Windows: []wire.Window{{Package: front.Package, Root: root}}}
}

// iosAppName returns the name of an app; a blank for the system, as on iOS.
func iosAppName(id string) string {
	switch id {
	case app.ShopID:
		return "Corner Shop"
	case app.BrowserID:
		return "Browser"
	}
	return " "
}

// iosNode returns the node of an element, whose type is that of its kind if none is given.
func iosNode(kind string, e *app.Element) *screen.Node {
	if kind == "" {
		kind = iosType(e)
	}
	n := &screen.Node{Class: &kind, ID: notEmpty(e.ID), Label: notEmpty(e.Label), Bounds: &e.Bounds, States: e.States}
	switch {
	case e.Editable:
		n.Value, n.Hint = notEmpty(shownText(e)), notEmpty(e.Hint)
	case e.Text != "":
		n.Label = &e.Text
	}
	for _, child := range e.Children {
		n.Children = append(n.Children, iosNode("", child))
	}
	return n
}

// iosType returns the type of an element.
func iosType(e *app.Element) string {
	switch e.Kind {
	case app.NavigationBar:
		return "NavigationBar"
	case app.TabBar:
		return "TabBar"
	case app.Text:
		return "StaticText"
	case app.Button, app.ImageButton:
		return "Button"
	case app.Field:
		if e.Password {
			return "SecureTextField"
		}
		return "TextField"
	case app.TextArea:
		return "TextView"
	case app.Switch:
		return "Switch"
	case app.List:
		return "Table"
	case app.Row:
		return "Cell"
	case app.Image:
		return "Image"
	case app.Web:
		return "WebView"
	case app.Spinner:
		return "ActivityIndicator"
	case app.Dialog:
		return "Alert"
	case app.Keyboard:
		return "Keyboard"
	case app.KeyboardKey:
		return "Key"
	default:
		return "Other"
	}
}

// activeWindow returns the window in front that can have the focus.
func activeWindow(windows []app.Window) app.Window {
	for _, w := range slices.Backward(windows) {
		if w.Kind != app.KeyboardWindow {
			return w
		}
	}
	return app.Window{}
}
