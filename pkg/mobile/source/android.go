package source

import (
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// UIAutomator2 reads the page source of the UiAutomator2 server, also as Appium passes it on. The tree has the windows
// of apps, and of the system those that are above them, such as dialogs: the keyboard, the bars of the system and its
// other windows are left out, unless the screen has no others.
func UIAutomator2(data []byte, o Options) (Result, error) {
	return android(data, o, androidServer{
		"the UiAutomator2 server", "the UiAutomator2 server does not report it",
		"this version of the UiAutomator2 server or of Android does not report it", false,
	})
}

// Dump reads what uiautomator dump writes, also with the message that it prints after it. It has the window that is
// active and the nodes that are visible, with fewer properties than UIAutomator2. Selectors for the others are refused.
func Dump(data []byte, o Options) (Result, error) {
	const reason = "uiautomator dump does not report it; Appium's UiAutomator2 server does"
	return android(data, o, androidServer{"uiautomator dump", "uiautomator dump does not report it", reason, true})
}

// androidServer is what messages say about the program that wrote a source.
type androidServer struct {
	name    string
	never   string // why a property is unavailable that the program never reports
	missing string // why one is unavailable that other programs, versions or settings report
	always  bool   // it writes empty attributes for absent texts
}

func android(data []byte, o Options, server androidServer) (Result, error) {
	if len(data) > maxBytes {
		return Result{}, unreadableError(server.name, data, "it has more than %d MiB", maxBytes>>20)
	}
	root, err := parseXML(data)
	if err != nil {
		return Result{}, unreadableError(server.name, data, "%v", err)
	}
	windows := []*element{root}
	if root.name == "hierarchy" {
		windows = root.children
	}
	r := &androidReader{server: server, options: o}
	if o.Items {
		r.inLists = map[*element]*screen.Node{}
	}
	return r.read(root, windows), nil
}

// androidReader makes nodes of elements.
type androidReader struct {
	server  androidServer
	options Options
	// What some element had an attribute for. Most attributes are written for every element if at all.
	actions, dismissable, extras, headings, inputTypes, hints, items bool

	inLists map[*element]*screen.Node // the elements of lists and grids; nil unless they are requested
}

func (r *androidReader) read(root *element, windows []*element) Result {
	var out Result
	width, height := r.size(root, windows)
	kept := r.keep(windows, screen.Rect{Right: width, Bottom: height}, &out)
	nodes := make([]*screen.Node, len(kept))
	var named []screen.Window
	for i, w := range kept {
		nodes[i] = r.node(w)
		nodes[i].DrawingOrder = len(kept) - i // the topmost window comes first
		if w.name != toast {
			named = append(named, screen.Window{App: w.value("package"), Root: nodes[i]})
		}
	}
	r.identify(kept, nodes)
	top := &screen.Node{Key: "screen", Bounds: &screen.Rect{Right: width, Bottom: height}, Children: nodes}
	if len(nodes) == 1 {
		top = nodes[0]
	}
	out.Tree = screen.NewTree(top, width, height, screen.AndroidAccessibility, screen.AndroidMaestro)
	out.Tree.Unavailable, out.Tree.Windows = r.unavailable(), named
	out.Tree.Opaque = !r.actions && !r.dismissable
	if r.inLists != nil && r.items {
		out.Items = r.itemsBelow(root, []*screen.Node{})
	}
	return out
}

// itemsBelow appends the elements of lists and grids, e or below it, in the order of the source.
func (r *androidReader) itemsBelow(e *element, items []*screen.Node) []*screen.Node {
	if e.isItem() {
		items = append(items, r.inLists[e])
	}
	for _, child := range e.children {
		items = r.itemsBelow(child, items)
	}
	return items
}

// isItem reports whether e is an element of a list or a grid.
func (e *element) isItem() bool { return e.value("is-collection-item") == "true" }

// identify sets the keys in each window. Windows of an app count from the lowest, whose keys stay the same when a menu
// opens above it.
func (r *androidReader) identify(windows []*element, nodes []*screen.Node) {
	count := map[string]int{}
	for i, w := range slices.Backward(windows) {
		if !r.actions {
			guessEditable(nodes[i])
		}
		name := w.value("package")
		setKeys(nodes[i], name+"\x00"+strconv.Itoa(count[name]))
		count[name]++
	}
}

// toast is the class of the notices that the server adds after the windows. They have neither bounds nor an app.
const toast = "android.widget.Toast"

const systemUI = "com.android.systemui"

// keep returns the windows that go into the tree.
func (r *androidReader) keep(windows []*element, display screen.Rect, out *Result) []*element {
	var apps, system []*element
	for _, w := range windows {
		area, isKeyboard := r.keyboard(w)
		switch {
		case isKeyboard && !area.Empty():
			out.Keyboard = &area
		case isKeyboard: // it shows nothing
		case isBar(w, display):
			out.Bars = append(out.Bars, *bounds(w.value("bounds")))
			system = append(system, w)
		case w.value("package") == systemUI && !isAbove(w, windows):
			system = append(system, w)
		default:
			apps = append(apps, w)
		}
	}
	if !slices.ContainsFunc(apps, func(w *element) bool { return w.name != toast }) {
		return append(system, apps...)
	}
	return apps
}

// isBar reports whether a window is a bar of the system: it is narrow, unlike dialogs and the lock screen. The taskbar
// of a large screen is a window of the launcher, with ids of AOSP (Launcher3, taskbar.xml).
func isBar(w *element, display screen.Rect) bool {
	area := bounds(w.value("bounds"))
	if area == nil || area.Empty() || 6*area.Height() > display.Height() && 6*area.Width() > display.Width() {
		return false
	}
	if w.value("package") == systemUI {
		return true
	}
	atEdge := area.Left <= 0 || area.Top <= 0 || area.Right >= display.Right || area.Bottom >= display.Bottom
	return atEdge && w.contains(func(e *element) bool {
		_, id, _ := strings.Cut(e.value("resource-id"), ":id/")
		return slices.Contains([]string{"taskbar_view", "start_contextual_buttons", "end_nav_buttons"}, id)
	})
}

// isAbove reports whether a window of the system, which is not a bar, is above the apps: a dialog, which has something to
// click, or the open list of notifications. The ids of the list are those of AOSP, and it is high, unlike the bars.
func isAbove(w *element, windows []*element) bool {
	list := w.find("resource-id", systemUI+":id/notification_stack_scroller")
	if list == nil {
		return w.contains(func(e *element) bool { return e.value("clickable") == "true" && e.value("displayed") != "false" })
	}
	if list.value("displayed") == "false" {
		return false
	}
	highest := 0
	for _, other := range windows {
		if b := bounds(other.value("bounds")); b != nil {
			highest = max(highest, b.Height())
		}
	}
	area := bounds(w.value("bounds"))
	return area != nil && area.Height() > highest/2
}

// keyboard returns the area that the keyboard covers if w is its window. The window itself may be as large as the
// screen. Every input method has these ids from the platform, but apps use them too, as those of HyperOS do.
func (r *androidReader) keyboard(w *element) (area screen.Rect, found bool) {
	if known := r.options.InputMethods; known != nil && !slices.Contains(known, w.value("package")) || known == nil && w.hasOwnText() {
		return area, false
	}
	for _, id := range []string{inputArea, candidatesArea} {
		if e := w.find("resource-id", id); e != nil {
			found = true
			if b := bounds(e.value("bounds")); b != nil {
				area = union(area, *b)
			}
		}
	}
	return area, found
}

// The ids of what the window of an input method consists of.
const (
	inputArea      = "android:id/inputArea"
	candidatesArea = "android:id/candidatesArea"
	fullscreenArea = "android:id/fullscreenArea" // has the text that is edited, on a screen that is turned
)

// hasOwnText reports whether e, or what is below it, has a text outside of the areas of an input method.
func (e *element) hasOwnText() bool {
	switch e.value("resource-id") {
	case inputArea, candidatesArea, fullscreenArea:
		return false
	}
	return e.value("text") != "" || slices.ContainsFunc(e.children, (*element).hasOwnText)
}

// contains reports whether is holds of e or of something below it.
func (e *element) contains(is func(*element) bool) bool {
	return is(e) || slices.ContainsFunc(e.children, func(child *element) bool { return child.contains(is) })
}

// find returns the first element with an attribute, e or below it; nil without one.
func (e *element) find(name, value string) *element {
	if e.value(name) == value {
		return e
	}
	for _, child := range e.children {
		if found := child.find(name, value); found != nil {
			return found
		}
	}
	return nil
}

// union returns the smallest rectangle around both; one without an area does not count.
func union(a, b screen.Rect) screen.Rect {
	switch {
	case a.Empty():
		return b
	case b.Empty():
		return a
	}
	return screen.Rect{
		Left: min(a.Left, b.Left), Top: min(a.Top, b.Top), Right: max(a.Right, b.Right), Bottom: max(a.Bottom, b.Bottom),
	}
}

// size returns the size of the screen as it is turned now. The server's own numbers may lack the navigation bar.
func (r *androidReader) size(root *element, windows []*element) (width, height int) {
	width, height = number(root.value("width")), number(root.value("height"))
	var around screen.Rect
	for _, w := range windows {
		if b := bounds(w.value("bounds")); b != nil {
			around = union(around, *b)
		}
	}
	around.Right, around.Bottom = max(around.Right, width), max(around.Bottom, height)
	long, short := max(r.options.Width, r.options.Height), min(r.options.Width, r.options.Height)
	if width > 0 && around.Right != short && around.Bottom != short && around.Right != long && around.Bottom != long {
		return around.Right, around.Bottom // the phone was folded or unfolded since its size was asked for
	}
	landscape := r.options.Width > r.options.Height
	if rotation := number(root.value("rotation")); rotation == 1 || rotation == 3 {
		landscape = !landscape
	}
	if around.Right > short || around.Bottom > short {
		landscape = around.Right > around.Bottom
	}
	if landscape {
		return max(around.Right, long), max(around.Bottom, short)
	}
	return max(around.Right, short), max(around.Bottom, long)
}

func (r *androidReader) node(e *element) *screen.Node {
	n := &screen.Node{}
	for _, a := range e.attributes {
		if !r.setText(n, a) {
			r.setState(n, a)
		}
	}
	if n.Class == nil {
		n.Class = &e.name
	}
	if e.name == toast {
		n.Role = "status"
	}
	if r.inLists != nil && e.isItem() {
		r.inLists[e] = n
	}
	if n.ShowingHint && n.Text != nil && n.Hint != nil && *n.Text == *n.Hint {
		n.Text, n.ShowingHint = nil, false
	}
	if len(e.children) > 0 {
		n.Children = make([]*screen.Node, len(e.children))
	}
	for i, child := range e.children {
		n.Children[i] = r.node(child)
	}
	return n
}

// setText sets a property that is a text, a number or a rectangle. It reports whether the attribute is one.
func (r *androidReader) setText(n *screen.Node, a attribute) bool {
	switch a.name {
	case "class":
		n.Class = new(a.value)
	case "resource-id":
		n.ID = notEmpty(a.value)
	case "text":
		n.Text = notEmpty(a.value) // the server writes an empty one where an element has none
	case "content-desc":
		n.Label = new(a.value)
		if r.server.always {
			n.Label = notEmpty(a.value)
		}
	case "hint":
		n.Hint = new(a.value)
		r.hints = true
	case "pane-title":
		n.PaneTitle = new(a.value)
	case "bounds":
		n.Bounds = bounds(a.value)
	case "input-type":
		n.InputType = number(a.value)
	case "drawing-order":
		n.DrawingOrder = number(a.value)
		r.inputTypes = true // it came with input-type, which is left out where it is 0
	case "extras":
		r.setExtras(n, a.value)
	case "actions":
		r.setActions(n, a.value)
	default:
		return false
	}
	return true
}

func (r *androidReader) setState(n *screen.Node, a attribute) {
	on := a.value == "true"
	switch a.name {
	case "enabled":
		n.Disabled = a.value == "false"
	case "displayed":
		n.Hidden = a.value == "false"
	case "a11y-important":
		n.Unimportant = a.value == "false"
		r.items = true // the versions that write it write is-collection-item, too
	case "clickable":
		n.Clickable = on
	case "long-clickable":
		n.LongClickable = on
	case "checkable":
		n.Checkable = on
	case "checked":
		if on {
			n.Checked = screen.ToggleOn
		}
	case "selected":
		n.Selected = on
	case "focused":
		n.Focused = on
	case "scrollable":
		n.Scrollable = on
	case "password":
		n.Password = on
	case "dismissable":
		n.Dismissable = n.Dismissable || on
		r.dismissable = true
	case "multiline":
		n.MultiLine = on
	case "heading":
		n.Heading = on
		r.headings = true
	case "showing-hint":
		n.ShowingHint = on
		r.hints = true
	case "content-invalid":
		if on {
			n.Invalid = "true"
		}
	}
}

// setActions sets what follows from the actions that an element offers.
func (r *androidReader) setActions(n *screen.Node, actions string) {
	r.actions = true
	for action := range strings.SplitSeq(actions, ",") {
		switch strings.TrimSpace(action) {
		case "ACTION_SET_TEXT":
			n.Editable = true
		case "ACTION_COLLAPSE":
			n.Expanded = true
		case "ACTION_DISMISS": // Compose offers it without the attribute
			n.Dismissable = true
		}
	}
}

// Keys of extras.
const (
	testTagExtra = "androidx.compose.ui.semantics.testTag"
	roleExtra    = "AccessibilityNodeInfo.roleDescription"
)

// setExtras reads extras such as key=value;key=value. A semicolon in a value is not escaped.
func (r *androidReader) setExtras(n *screen.Node, extras string) {
	r.extras = true
	var key string
	found := map[string]string{}
	for part := range strings.SplitSeq(extras, ";") {
		if k, v, ok := strings.Cut(part, "="); ok {
			key = k
			found[key] = v
		} else {
			found[key] += ";" + part
		}
	}
	if tag, ok := found[testTagExtra]; ok {
		n.TestID = &tag
	}
	if role, ok := found[roleExtra]; ok {
		n.RoleDescription = &role
		if lower := strings.ToLower(role); screen.IsControl(lower) {
			n.Role = lower
		}
	}
}

// guessEditable sets Editable by class, for a source without actions.
func guessEditable(n *screen.Node) {
	n.Editable = !n.Disabled && screen.IsTextInput(screen.RoleOfClass(value(n.Class)))
	for _, child := range n.Children {
		guessEditable(child)
	}
}

// unavailable returns the keys of selectors that this source cannot answer, with the reasons.
func (r *androidReader) unavailable() map[string]string {
	out := map[string]string{}
	refuse := func(reason string, keys ...string) {
		for _, key := range keys {
			out[accessibilityKey(key)] = reason
		}
	}
	refuse(r.server.never, "labeledByTextRegex", "stateDescriptionRegex", "uniqueId")
	refuse(r.server.missing, screen.CellKeys()...) // until SetCells
	refuse(r.server.never+" for every element", "isMultiLine")
	if !r.actions {
		refuse(r.server.missing, "isEditable")
	}
	if !r.extras {
		refuse(r.server.missing, "composeTestTagRegex", "roleDescriptionRegex")
	}
	if !r.headings {
		refuse(r.server.missing, "isHeading", "paneTitleRegex")
	}
	if !r.inputTypes {
		refuse(r.server.missing, "inputType")
	}
	if !r.hints {
		refuse(r.server.missing, "hintTextRegex")
		out[string(screen.AndroidMaestro)+".hintTextRegex"] = r.server.missing
	}
	return out
}

// accessibilityKey returns a key of the block androidAccessibility as Unavailable has it.
func accessibilityKey(key string) string { return string(screen.AndroidAccessibility) + "." + key }

// bounds reads [left,top][right,bottom]; nil for anything else.
func bounds(text string) *screen.Rect {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	leftTop, rightBottom, ok := strings.Cut(text, "][")
	if !ok {
		return nil
	}
	left, top, first := point(leftTop)
	right, bottom, second := point(rightBottom)
	if !first || !second {
		return nil
	}
	return &screen.Rect{Left: left, Top: top, Right: right, Bottom: bottom}
}

func point(text string) (x, y int, ok bool) {
	first, second, _ := strings.Cut(text, ",")
	left, err := strconv.ParseInt(first, 10, 32)
	if err != nil {
		return 0, 0, false
	}
	top, err := strconv.ParseInt(second, 10, 32)
	return int(left), int(top), err == nil
}

// number returns a number, 0 for anything else.
func number(text string) int {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return int(n)
}

func notEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
