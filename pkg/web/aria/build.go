package aria

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// maxName is the maximum length of a name in UTF-16 code units. Longer names are left out.
const maxName = 900

// entry is an element of the snapshot with its children, or a text.
type entry struct {
	Line
	children []*entry
}

func (e *entry) add(text string) {
	if text != "" {
		e.children = append(e.children, &entry{Line: Line{Role: "text", Text: text}})
	}
}

// lines returns the snapshot of an element.
func (p *page) lines(root *node) []Line {
	if root == nil {
		return nil
	}
	p.turn++
	b := builder{page: p, seen: map[*node]bool{}}
	var top entry
	b.visit(&top, root)
	top.merge()
	lines := top.flatten(nil, 0)
	if p.live {
		lines = withoutIcons(lines)
	}
	return lines
}

// withoutIcons removes the characters of icon fonts from names and texts, and texts that have no others. A control that
// is then without a name gets its markup.
func withoutIcons(lines []Line) []Line {
	var out []Line
	for _, l := range lines {
		name := screen.WithoutIcons(l.Name)
		if name == "" && l.Name != "" && screen.IsControl(l.Role) && !screen.IsTextInput(l.Role) {
			l.Markup = l.node.markup()
		}
		l.Name = name
		if !screen.IsTextInput(l.Role) {
			l.Text = screen.WithoutIcons(l.Text)
		}
		if l.node != nil || l.Text != "" {
			out = append(out, l)
		}
	}
	return out
}

type builder struct {
	page *page
	seen map[*node]bool
}

// visit adds n to the content of e. The content of n is added to n, or to e if n has no role.
func (b *builder) visit(e *entry, n *node) {
	if b.seen[n] {
		return
	}
	b.seen[n] = true
	if n.tag == "" {
		if (e.Role != "textbox" || b.page.live && e.node.isEditor()) && !n.notRendered() {
			e.add(n.text)
		}
		return
	}
	if b.page.hidden(n) {
		return
	}
	if labelled := b.page.labelledEntry(n); labelled != nil {
		e.children = append(e.children, labelled)
	}
	own := b.page.entry(n)
	if own == nil {
		b.fill(e, n)
		return
	}
	e.children = append(e.children, own)
	b.fill(own, n)
	own.addProperties(n)
	own.dropImages()
	own.merge()
	if own.Role == "generic" && own.Name == "" && len(own.children) == 0 && own.Text == "" && len(own.Attributes) == 0 {
		e.children = e.children[:len(e.children)-1]
	}
	if own.onlyHolds(n) {
		e.children[len(e.children)-1] = own.children[0]
	}
	if utf16Len(own.Name) > maxName {
		own.Name = ""
	}
}

// onlyHolds reports whether what people can click is one control in n, such as a custom element around its button.
func (e *entry) onlyHolds(n *node) bool {
	return e.Role == "generic" && e.Name == "" && e.Text == "" && slices.Equal(e.Attributes, []string{"clickable"}) &&
		len(e.children) == 1 && screen.IsControl(e.children[0].Role) && !n.has("onclick") && !n.has("tabindex") &&
		!n.isDraggable()
}

// fill adds the content of n to e. Texts before and after a block are separated by a space.
func (b *builder) fill(e *entry, n *node) {
	space := ""
	if !n.inline() || n.tag == "BR" {
		space = " "
	}
	e.add(space + n.before.generatedText())
	for _, child := range n.children {
		b.visit(e, child)
	}
	for id := range strings.FieldsFuncSeq(n.attr("aria-owns"), isSpace) {
		if owned := b.page.ids[scopedID{nil, id}]; owned != nil {
			b.visit(e, owned)
		}
	}
	e.add(n.after.generatedText() + space)
}

// entry returns the entry of an element, nil if it has no role.
func (p *page) entry(n *node) *entry {
	if n.tag == "IFRAME" || n.tag == "FRAME" {
		return &entry{Line: Line{Role: "iframe", BackendNodeID: n.id, node: n}}
	}
	role := p.role(n)
	isEditor := p.live && n.boxed && n.isEditor()
	clickable := p.live && (isEditor || n.clickable()) && !screen.IsControl(role)
	switch {
	case clickable && (role == "" || screen.IsStructural(role)):
		role = "generic"
	case role == "" || role == "presentation" || role == "none":
		return nil
	}
	if role == "generic" && !clickable && n.inline() && len(n.children) == 1 && n.children[0].tag == "" {
		return nil
	}
	e := &entry{Line: Line{Role: role, Name: p.name(n), BackendNodeID: n.id, node: n}}
	e.Attributes = p.attributes(n, role)
	switch {
	case clickable && isEditor:
		e.Attributes = append(e.Attributes, "editable")
	case clickable:
		e.Attributes = append(e.Attributes, "clickable")
	}
	if p.live && e.Name == "" && screen.IsControl(role) && !screen.IsTextInput(role) {
		e.Markup = n.markup()
	}
	if n.tag == "TEXTAREA" || n.tag == "INPUT" {
		switch n.inputType() {
		case "checkbox", "radio", "file":
		default:
			e.add(n.value)
		}
	}
	return e
}

// clickable reports whether people can click or drag n although its role does not say so: the style of the mouse
// pointer says it of n, not of something around it, or n has a handler, is draggable or can be reached with the keyboard.
func (n *node) clickable() bool {
	switch {
	case !n.boxed || n.parent == nil || n.tag == "BODY" || n.tag == "LABEL":
		return false
	case n.has("onclick"), n.hasDraggable():
		return true
	case n.has("tabindex") && !strings.HasPrefix(n.attr("tabindex"), "-"):
		return true
	}
	up := n.parentOrHost()
	return n.pointer != "" && (up == nil || up.pointer != n.pointer)
}

func (n *node) isDraggable() bool {
	return n.hasDraggable() || n.pointer == "grab" || n.pointer == "move"
}

func (n *node) hasDraggable() bool { return strings.EqualFold(n.attr("draggable"), "true") }

// isEditor reports whether n is an element into which people can type because of its contenteditable.
func (n *node) isEditor() bool {
	return n.has("contenteditable") && !strings.EqualFold(n.attr("contenteditable"), "false")
}

// markup returns what of the attributes tells a control without a name from others, such as class=btn-print; "" for
// nothing.
func (n *node) markup() string {
	for _, name := range []string{"data-testid", "data-cy", "data-test", "data-qa", "id", "href"} {
		if word := lastWord(words(n.attr(name))); word != "" {
			return name + "=" + word
		}
	}
	if word := n.iconWord(); word != "" {
		return "icon=" + word
	}
	if word := lastWord(words(n.attr("class"))); word != "" {
		return "class=" + word
	}
	return ""
}

// iconWord returns what the icon in n is called by an icon font or a sprite; "" for nothing.
func (n *node) iconWord() string {
	for _, isIcon := range []func(*node) bool{isTag("USE"), isTag("I"), isTag("MAT-ICON"), (*node).isFontIcon, isTag("SVG")} {
		icon := n.find(isIcon)
		if icon == nil {
			continue
		}
		for _, name := range []string{"data-testid", "data-icon", "data-mat-icon-name", "fonticon", "href", "xlink:href"} {
			if word := lastWord(words(icon.attr(name))); word != "" {
				return word
			}
		}
		if word := cmp.Or(icon.ligature(), iconClass(words(icon.attr("class")))); word != "" {
			return word
		}
	}
	return ""
}

func isTag(name string) func(*node) bool {
	return func(n *node) bool { return strings.EqualFold(n.tag, name) }
}

// isFontIcon reports whether n is an empty span that an icon font draws, as in "pi pi-trash". The names of these fonts are
// short, as those of badges and spinners are not, or have icon in them.
func (n *node) isFontIcon() bool {
	_, font := fontClass(words(n.attr("class")))
	isFont := font != "" && len(font) <= 4 || strings.Contains(font, "icon")
	return n.tag == "SPAN" && isFont && normalize(n.textContent()) == ""
}

// ligature returns the word that an icon font draws as an icon, such as delete; "" without one.
func (n *node) ligature() string {
	text := normalize(n.textContent())
	if list := words(text); len(list) == 1 && list[0] == text {
		return lastWord(list)
	}
	return ""
}

// iconClass returns the class with the name of an icon: that of a font, else the last one. Classes with -- are variants,
// and icon is a class of all icons.
func iconClass(classes []string) string {
	classes = slices.DeleteFunc(classes, func(c string) bool { return c == "icon" || strings.Contains(c, "--") })
	name, _ := fontClass(classes)
	return cmp.Or(name, lastWord(classes))
}

// fontClass returns the class that begins with the name of the icon font, which is a class, too, as in
// "fa fa-trash fa-lg"; "" without one.
func fontClass(classes []string) (best, font string) {
	for _, c := range classes {
		for _, other := range classes {
			if strings.HasPrefix(c, other+"-") && len(other) > len(font) && len(c) <= maxWord {
				best, font = c, other
			}
		}
	}
	return best, font
}

// words returns the words of letters, - and _ in an attribute. The page can put nothing else into the snapshot.
func words(attribute string) []string {
	return strings.FieldsFunc(attribute, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '_'
	})
}

const minWord, maxWord = 3, 30 // letters

// lastWord returns the last word that is neither short nor long: the last class, or the end of an address.
func lastWord(list []string) string {
	for _, word := range slices.Backward(list) {
		if len(word) >= minWord && len(word) <= maxWord {
			return word
		}
	}
	return ""
}

// labelledEntry returns the entry of the hidden check box or radio button of a label, nil if there is none or the
// snapshot is one without them.
func (p *page) labelledEntry(label *node) *entry {
	if !p.withLabelled || label.tag != "LABEL" {
		return nil
	}
	n := p.control(label)
	if n == nil || !p.hidden(n) {
		return nil
	}
	role := p.role(n)
	if role != "checkbox" && role != "radio" && role != "switch" {
		return nil
	}
	e := &entry{Line: Line{Role: role, Name: normalize(label.textContent()), BackendNodeID: n.id, node: n}}
	e.Attributes = p.attributes(n, role)
	return e
}

func (e *entry) addProperties(n *node) {
	switch {
	case e.Role == "link" && n.has("href"):
		url := n.attr("href")
		if strings.HasPrefix(url, "data:") {
			if comma := strings.IndexByte(url, ','); comma >= 0 {
				url = url[:comma+1] + "…"
			}
		}
		e.Properties = append(e.Properties, Property{"url", url})
	case e.Role == "textbox" && n.has("placeholder") && n.attr("placeholder") != e.Name:
		e.Properties = append(e.Properties, Property{"placeholder", n.attr("placeholder")})
	}
}

// dropImages removes images without a name from what people can click although it has no role, if nothing but texts is
// left: such an element is known by its text.
func (e *entry) dropImages() {
	if e.Role != "generic" || !slices.Contains(e.Attributes, "clickable") {
		return
	}
	var texts []*entry
	for _, h := range e.children {
		isImage := h.Role == "img" && h.Name == "" && h.Text == "" && len(h.children) == 0
		switch {
		case isImage:
			texts = append(texts, &entry{Line: Line{Role: "text", Text: " "}})
		case h.node != nil:
			return
		default:
			texts = append(texts, h)
		}
	}
	if slices.ContainsFunc(texts, func(h *entry) bool { return normalize(h.Text) != "" }) {
		e.children = texts
	}
}

// merge joins adjacent texts. A single text becomes the text of the element, unless it is equal to its name.
func (e *entry) merge() {
	var merged []*entry
	var text strings.Builder
	flush := func() {
		if joined := normalize(text.String()); joined != "" {
			merged = append(merged, &entry{Line: Line{Role: "text", Text: joined}})
		}
		text.Reset()
	}
	for _, h := range e.children {
		if h.node == nil {
			text.WriteString(h.Text)
			continue
		}
		flush()
		merged = append(merged, h)
	}
	flush()
	e.children = merged
	if e.node != nil && len(merged) == 1 && merged[0].node == nil {
		e.children = nil
		if merged[0].Text != e.Name {
			e.Text = merged[0].Text
		}
	}
}

// flatten appends the content of e as lines.
func (e *entry) flatten(lines []Line, depth int) []Line {
	for _, h := range e.children {
		h.Depth = depth
		lines = append(lines, h.Line)
		lines = h.flatten(lines, depth+1)
	}
	return lines
}

// attributes returns the states of an element as they are written in brackets, in Playwright's order.
func (p *page) attributes(n *node, role string) []string {
	var out []string
	add := func(name, value string) {
		switch value {
		case "", "false":
		case "true":
			out = append(out, name)
		default:
			out = append(out, name+"="+value)
		}
	}
	add("checked", n.checkedState(role))
	if withDisabled.has(role) && (n.nativelyDisabled() || n.ariaDisabled()) {
		add("disabled", "true")
	}
	if withExpanded.has(role) && (n.tag == "DETAILS" && n.has("open") || n.tag != "DETAILS" && n.attrIsTrue("aria-expanded")) {
		add("expanded", "true")
	}
	add("invalid", n.invalidState(role))
	if l := n.level(role); l > 0 {
		add("level", strconv.Itoa(l))
	}
	if pressed := strings.ToLower(n.attr("aria-pressed")); role == "button" &&
		(pressed == "true" || pressed == "mixed") {
		add("pressed", pressed)
	}
	if n.selectedState(role) {
		add("selected", "true")
	}
	return out
}

func (n *node) checkedState(role string) string {
	if !withChecked.has(role) {
		return ""
	}
	if n.tag == "INPUT" {
		if n.mixed {
			return "mixed"
		}
		if t := n.inputType(); t == "checkbox" || t == "radio" {
			return strconv.FormatBool(n.checked)
		}
	}
	if checked := strings.ToLower(n.attr("aria-checked")); checked == "true" || checked == "mixed" {
		return checked
	}
	return ""
}

func (n *node) nativelyDisabled() bool {
	switch n.tag {
	case "BUTTON", "INPUT", "SELECT", "TEXTAREA", "OPTION", "OPTGROUP":
	default:
		return false
	}
	if n.has("disabled") {
		return true
	}
	disabled := func(tag string) *node {
		return n.closest(func(e *node) bool { return e.tag == tag && e.has("disabled") })
	}
	if n.tag == "OPTION" && disabled("OPTGROUP") != nil {
		return true
	}
	set := disabled("FIELDSET")
	if set == nil {
		return false
	}
	legend := set.child("LEGEND")
	return legend == nil || n.closest(func(e *node) bool { return e == legend }) == nil
}

// ariaDisabled reports whether aria-disabled is true at the nearest element that has it, from n upwards.
func (n *node) ariaDisabled() bool {
	for e := n; e != nil; e = e.parentOrHost() {
		switch strings.ToLower(e.attr("aria-disabled")) {
		case "true":
			return true
		case "false":
			return false
		}
	}
	return false
}

func (n *node) invalidState(role string) string {
	if !withInvalid.has(role) {
		return ""
	}
	switch invalid := strings.ToLower(n.attr("aria-invalid")); {
	case invalid == "grammar" || invalid == "spelling":
		return invalid
	case trim(invalid) == "" || invalid == "false":
		return ""
	}
	return "true"
}

func (n *node) level(role string) int {
	if !withLevel.has(role) {
		return 0
	}
	if len(n.tag) == 2 && n.tag[0] == 'H' && n.tag[1] >= '1' && n.tag[1] <= '6' {
		return int(n.tag[1] - '0')
	}
	return level(n.attr("aria-level"))
}

func (n *node) selectedState(role string) bool {
	if !withSelected.has(role) {
		return false
	}
	if n.tag == "OPTION" {
		return n.selected
	}
	return n.attrIsTrue("aria-selected")
}
