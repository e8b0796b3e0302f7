package phones

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// androidNode is an element as accessibility shows it on Android.
type androidNode struct {
	element   *app.Element
	app       string
	class, id string
	text      string
	bounds    screen.Rect // clipped to the screen
	clipped   screen.Rect // clipped to what scrolls around it too
	children  []*androidNode
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

// androidNodes returns the nodes of a window. The keys of a keyboard are drawn; they are not nodes.
func androidNodes(w app.Window, width, height int) *androidNode {
	display := screen.Rect{Right: width, Bottom: height}
	var build func(e *app.Element, clip screen.Rect) *androidNode
	build = func(e *app.Element, clip screen.Rect) *androidNode {
		n := &androidNode{
			element: e, app: w.Package, class: androidClass(e.Kind), text: e.Text,
			bounds: intersect(e.Bounds, display), clipped: intersect(intersect(e.Bounds, display), clip),
		}
		if e.ID != "" {
			n.id = idPrefix(w, e) + e.ID
		}
		if e.Password {
			n.text = strings.Repeat("•", len([]rune(e.Text)))
		}
		if e.Text == "" && e.Hint != "" {
			n.text = e.Hint
		}
		if e.Scrollable {
			clip = n.clipped
		}
		for _, child := range e.Children {
			if child.Kind != app.KeyboardKey {
				n.children = append(n.children, build(child, clip))
			}
		}
		return n
	}
	return build(w.Root, display)
}

// idPrefix returns the package of a resource id. Buttons and the title of a dialog are Android's own.
func idPrefix(w app.Window, e *app.Element) string {
	if slices.Contains([]string{"button1", "button2", "alertTitle", "message", "content"}, e.ID) {
		return "android:id/"
	}
	return w.Package + ":id/"
}

// intersect does what Rect.intersect of Android does: r stays as it is where it shares nothing with other.
func intersect(r, other screen.Rect) screen.Rect {
	if common := r.Intersect(other); !common.Empty() {
		return common
	}
	return r
}

// sourceOptions are settings of the UiAutomator2 server.
type sourceOptions struct {
	invisible, multiWindow, simpleBounds, actions, ignoreUnimportant bool
}

// uiAutomatorSource returns the screen as the UiAutomator2 server writes it.
func uiAutomatorSource(windows []app.Window, width, height int, o sourceOptions) string {
	var b strings.Builder
	b.WriteString("<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n")
	fmt.Fprintf(&b, `<hierarchy index="0" class="hierarchy" rotation="0" width="%d" height="%d">`, width, height)
	shown := slices.Clone(windows)
	slices.Reverse(shown)
	if !o.multiWindow {
		shown = []app.Window{activeWindow(windows)}
	}
	for i, w := range shown {
		writeServerNode(&b, androidNodes(w, width, height), i, o)
	}
	b.WriteString("</hierarchy>")
	return b.String()
}

// activeWindow returns the window in front that can have the focus.
func activeWindow(windows []app.Window) app.Window {
	for _, w := range slices.Backward(windows) {
		if w.Kind != app.KeyboardWindow {
			return w
		}
	}
	return windows[len(windows)-1]
}

func writeServerNode(b *strings.Builder, n *androidNode, index int, o sourceOptions) {
	e := n.element
	if e.Hidden && !o.invisible {
		return
	}
	if o.ignoreUnimportant && e.Unimportant {
		for i, child := range n.children {
			writeServerNode(b, child, i, o)
		}
		return
	}
	bounds := n.clipped
	if o.simpleBounds {
		bounds = n.bounds
	}
	fmt.Fprintf(b, "<%s", n.class)
	attributes := []string{"index", strconv.Itoa(index), "package", n.app, "class", n.class, "text", n.text}
	if e.Label != "" {
		attributes = append(attributes, "content-desc", e.Label)
	}
	if n.id != "" {
		attributes = append(attributes, "resource-id", n.id)
	}
	attributes = append(attributes,
		"checkable", truth(e.Checkable), "checked", truth(e.Checked == screen.ToggleOn), "clickable", truth(e.Clickable),
		"enabled", truth(!e.Disabled), "focusable", truth(e.Editable || e.Clickable), "focused", truth(e.Focused),
		"long-clickable", truth(e.LongClickable), "password", truth(e.Password), "scrollable", truth(e.Scrollable),
		"selected", truth(e.Selected), "bounds", boundsText(bounds), "displayed", truth(!e.Hidden),
		"a11y-important", truth(!e.Unimportant), "heading", truth(e.Heading),
	)
	if e.Hint != "" {
		attributes = append(attributes, "hint", e.Hint, "showing-hint", truth(e.Text == ""))
	}
	if o.actions {
		attributes = append(attributes, "actions", strings.Join(actionsOf(e), ","))
	}
	writeAttributes(b, attributes, '?')
	b.WriteString(">")
	for i, child := range n.children {
		writeServerNode(b, child, i, o)
	}
	fmt.Fprintf(b, "</%s>", n.class)
}

func actionsOf(e *app.Element) []string {
	actions := []string{"ACTION_ACCESSIBILITY_FOCUS"}
	if e.Clickable {
		actions = append(actions, "ACTION_CLICK")
	}
	if e.LongClickable {
		actions = append(actions, "ACTION_LONG_CLICK")
	}
	if e.Editable {
		actions = append(actions, "ACTION_SET_TEXT")
	}
	return actions
}

// uiAutomatorDump returns the screen as `uiautomator dump` writes it: the active window only, fewer attributes.
func uiAutomatorDump(windows []app.Window, width, height int, compressed bool) string {
	var b strings.Builder
	b.WriteString(`<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation="0">`)
	writeDumpNode(&b, androidNodes(activeWindow(windows), width, height), 0, compressed)
	b.WriteString("</hierarchy>")
	return b.String()
}

func writeDumpNode(b *strings.Builder, n *androidNode, index int, compressed bool) {
	e := n.element
	if e.Hidden {
		return
	}
	children := func() {
		for i, child := range n.children {
			writeDumpNode(b, child, i, compressed)
		}
	}
	if compressed && e.Unimportant {
		children()
		return
	}
	b.WriteString("<node")
	writeAttributes(b, []string{
		"index", strconv.Itoa(index), "text", n.text, "resource-id", n.id, "class", n.class, "package", n.app,
		"content-desc", e.Label, "checkable", truth(e.Checkable), "checked", truth(e.Checked == screen.ToggleOn),
		"clickable", truth(e.Clickable), "enabled", truth(!e.Disabled), "focusable", truth(e.Editable || e.Clickable),
		"focused", truth(e.Focused), "scrollable", truth(e.Scrollable), "long-clickable", truth(e.LongClickable),
		"password", truth(e.Password), "selected", truth(e.Selected), "bounds", boundsText(n.clipped),
	}, '.')
	b.WriteString(">")
	children()
	b.WriteString("</node>")
}

func truth(b bool) string { return strconv.FormatBool(b) }

func boundsText(r screen.Rect) string {
	return fmt.Sprintf("[%d,%d][%d,%d]", r.Left, r.Top, r.Right, r.Bottom)
}

// noCharacter stands for leaving out what XML cannot have.
const noCharacter = -1

// writeAttributes writes names and values in turn. Instead of what XML cannot have, it writes the substitute.
func writeAttributes(b *strings.Builder, attributes []string, substitute rune) {
	for i := 0; i < len(attributes); i += 2 {
		fmt.Fprintf(b, ` %s="`, attributes[i])
		for _, r := range attributes[i+1] {
			switch {
			case r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff:
				if substitute != noCharacter {
					b.WriteRune(substitute)
				}
			case r == '&':
				b.WriteString("&amp;")
			case r == '<':
				b.WriteString("&lt;")
			case r == '>':
				b.WriteString("&gt;")
			case r == '"':
				b.WriteString("&quot;")
			case r < ' ':
				fmt.Fprintf(b, "&#%d;", r)
			default:
				b.WriteRune(r)
			}
		}
		b.WriteString(`"`)
	}
}
