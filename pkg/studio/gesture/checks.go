package gesture

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/trailblaze/trailblaze/pkg/live"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/text"
)

// Check is a check that fits an element, or the screen.
type Check struct {
	Label string  `json:"label"` // such as Is visible, or Text is "Total 30 €"
	Call  NewCall `json:"call"`
}

// NewCall is a call that a person chooses.
type NewCall struct {
	Tool   string         `json:"tool"`
	Args   map[string]any `json:"args"`
	SaveAs string         `json:"saveAs,omitempty"`
}

// Checks returns the checks that fit an element; those of the whole screen for a location without candidates, such as a
// text that nobody can refer to. All hold now, except the last one for an element, that it is not there. root is around
// all elements of the screen; nil if that is not known. A check of a text fails now, too, where only a label has that name,
// as that of an icon: a screen does not tell.
func Checks(d Device, at live.Location, root *live.Element) []Check {
	c := &checks{device: d, element: at.Element, selector: Target{at}.nodeSelector()}
	if c.selector == nil {
		c.addShown(shownText(at.Element, root))
		c.addCall("The screen looks as it does now", "verifyScreenshot", map[string]any{"name": "screen"})
		return c.list
	}
	if isFolded(at.Element) {
		c.addStates()
		return c.list
	}
	c.add("Is visible", c.tool("web_verifyElementVisible", "assertVisibleBySelector"), nil)
	c.addTexts(root)
	c.addStates()
	if d.isWeb() {
		c.addCount(at.Candidates[0])
	}
	c.add("Looks as it does now", "verifyScreenshot", map[string]any{"name": pictureName(at.Element)})
	c.add("Is not there (now it is)", c.tool("web_verifyElementNotVisible", "assertNotVisibleBySelector"), nil)
	return c.list
}

// isFolded reports whether an element is an option of a list that is closed.
func isFolded(e live.Element) bool { return e.Role == "option" && e.Bounds == nil }

// checks is the list of checks of one element.
type checks struct {
	device   Device
	element  live.Element
	selector map[string]any
	list     []Check
}

// tool returns the tool for web pages, or the one for phones.
func (c *checks) tool(web, phone string) string {
	if c.device.isWeb() {
		return web
	}
	return phone
}

// add adds a check of the element, with further arguments.
func (c *checks) add(label, tool string, args map[string]any) {
	all := map[string]any{"nodeSelector": c.selector}
	maps.Copy(all, args)
	c.addCall(label, tool, all)
}

// addCall adds a check, if the device has its tool.
func (c *checks) addCall(label, tool string, args map[string]any) {
	if c.device.has(tool) {
		c.list = append(c.list, Check{Label: label, Call: NewCall{Tool: tool, Args: args}})
	}
}

func (c *checks) is(state string) bool { return slices.Contains(c.element.States, state) }

// addTexts adds checks of what the element holds, or shows.
func (c *checks) addTexts(root *live.Element) {
	e := c.element
	switch {
	case e.Kind == "password":
	case len(e.Options) > 0:
		c.addText("Choice", chosen(e.Options))
	case IsTextField(e) && e.Content == "":
		if c.device.isWeb() && e.Kind != "contenteditable" {
			c.add("Is empty", "web_verifyState", map[string]any{"state": "empty"})
		}
	case IsTextField(e) || e.Role == "textbox" || isNumeric(e.Role):
		c.addText("Value", e.Content)
	default:
		shown := shownText(e, root)
		c.addText("Text", shown)
		c.addShown(shown)
	}
}

// isNumeric reports whether elements of a role have a number, which they may show as a bar.
func isNumeric(role string) bool {
	return slices.Contains([]string{"meter", "progressbar", "scrollbar", "slider", "spinbutton"}, role)
}

// addShown adds a check that a text is anywhere on the screen.
func (c *checks) addShown(shown string) {
	if shown != "" {
		tool := c.tool("web_verifyTextVisible", "assertVisibleWithText")
		c.addCall("The screen shows "+quoted(shown), tool, map[string]any{"text": shown})
	}
}

// addText adds checks of a text: all of it, and what in it is expected to last. The tools fold white space.
func (c *checks) addText(what, shown string) {
	if shown == "" {
		return
	}
	part := lasting(shown)
	whole, some := what+" is "+quoted(shown), what+" contains "+quoted(part)
	if c.device.isWeb() {
		c.add(whole, "web_verifyValue", map[string]any{"expected": shown})
	} else {
		c.add(whole, "assertVisibleBySelector", map[string]any{"expectedText": shown})
	}
	switch {
	case part == "":
	case c.device.isWeb():
		c.add(some, "web_verifyValue", map[string]any{"contains": part})
	default:
		pattern := ".*" + regexp.QuoteMeta(part) + ".*"
		c.add(some, "assertVisibleBySelector", map[string]any{"expectedText": pattern, "textMatchMode": "REGEX"})
	}
}

// chosen returns the labels of the options that are selected.
func chosen(options []live.Option) string {
	var labels []string
	for _, o := range options {
		if o.Selected {
			labels = append(labels, o.Label)
		}
	}
	return strings.Join(labels, ", ")
}

// shownText returns the text of an element, or of the only one in it; "" if it has none or several. Only a label names a
// check box, a picture and a field.
func shownText(e live.Element, root *live.Element) string {
	if inside := find(root, e.Ref); inside != nil {
		e.Children = inside.Children
	}
	for e.Content == "" && e.Name == "" && len(e.Children) == 1 {
		e = *e.Children[0]
	}
	if e.Content != "" || isToggle(e.Role) || e.Role == "img" || e.Role == "listbox" || screen.IsTextInput(e.Role) {
		return e.Content
	}
	return e.Name
}

// find returns the element with a reference below another one; nil if it is not there.
func find(in *live.Element, ref string) *live.Element {
	if in == nil || ref == "" || in.Ref == ref {
		return in
	}
	for _, child := range in.Children {
		if found := find(child, ref); found != nil {
			return found
		}
	}
	return nil
}

// leastLasting is how many letters a part of a text must have to be worth a check.
const leastLasting = 3

// lasting returns the longest run of words in which nothing may change from one replay to the next, such as a number or
// an amount of money; "" if that is all of the text, or too little.
func lasting(shown string) string {
	if screen.MayChange(shown) == "" {
		return ""
	}
	longest, run := "", []string{}
	for _, word := range append(strings.Fields(shown), "0") {
		if screen.MayChange(word) == "" {
			run = append(run, word)
			continue
		}
		if part := strings.Join(run, " "); letters(part) > letters(longest) {
			longest = part
		}
		run = run[:0]
	}
	if letters(longest) < leastLasting {
		return ""
	}
	return longest
}

func letters(s string) (count int) {
	for _, r := range s {
		if unicode.IsLetter(r) {
			count++
		}
	}
	return count
}

// longestLabel is the number of characters of a text in a label.
const longestLabel = 60

func quoted(s string) string { return strconv.Quote(text.Shorten(s, longestLabel)) }

// addStates adds checks of the states that the element is in.
func (c *checks) addStates() {
	if !c.device.isWeb() {
		c.addFlags()
		return
	}
	state := func(label, state string) { c.add(label, "web_verifyState", map[string]any{"state": state}) }
	if isToggle(c.element.Role) && !c.is("checked=mixed") {
		if c.is("checked") {
			state("Is checked", "checked")
		} else {
			state("Is not checked", "unchecked")
		}
	}
	switch {
	case c.is("disabled"):
		state("Is disabled", "disabled")
	case screen.IsControl(c.element.Role):
		state("Is enabled", "enabled")
	}
	if c.is("expanded") {
		state("Is expanded", "expanded")
	}
	if c.is("selected") {
		state("Is selected", "selected")
	}
	if c.element.Focused || c.is("focused") {
		state("Has the focus", "focused")
	}
}

// isToggle reports whether elements of a role are checked or not.
func isToggle(role string) bool {
	return slices.Contains([]string{"checkbox", "menuitemcheckbox", "menuitemradio", "radio", "switch"}, role)
}

// addCount adds a check of how many elements are like this one. An index would choose one of them.
func (c *checks) addCount(best live.Candidate) {
	selector := maps.Clone(best.Selector)
	delete(selector, "index")
	if block, ok := selector["web"].(map[string]any); ok {
		block = maps.Clone(block)
		delete(block, "nthIndex")
		selector["web"] = block
	}
	label := "Is there once"
	if best.Matches != 1 {
		label = fmt.Sprintf("Is there %d times", best.Matches)
	}
	c.addCall(label, "web_verifyCount", map[string]any{"nodeSelector": selector, "count": best.Matches})
}

// flags are the names of states in the blocks of selectors for phones: checked, enabled and selected; "" for one that a
// block does not have.
func flags() map[string][3]string {
	return map[string][3]string{
		string(screen.AndroidAccessibility): {"isChecked", "isEnabled", "isSelected"},
		string(screen.AndroidMaestro):       {"checked", "enabled", "selected"},
		string(screen.IOSMaestro):           {"", "", "selected"},
		string(screen.IOSAxe):               {"", "enabled", ""},
	}
}

// addFlags adds checks of the states that an element of a phone is in: it is visible with a selector that demands them.
func (c *checks) addFlags() {
	for dialect, names := range flags() {
		block, ok := c.selector[dialect].(map[string]any)
		if !ok {
			continue
		}
		flag := func(label, name string, on bool) {
			if name == "" {
				return
			}
			selector, with := maps.Clone(c.selector), maps.Clone(block)
			with[name] = on
			selector[dialect] = with
			c.addCall(label, "assertVisibleBySelector", map[string]any{"nodeSelector": selector})
		}
		if isToggle(c.element.Role) && !c.is("checked=mixed") {
			flag(map[bool]string{true: "Is checked", false: "Is not checked"}[c.is("checked")], names[0], c.is("checked"))
		}
		if c.is("disabled") || screen.IsControl(c.element.Role) {
			flag(map[bool]string{true: "Is disabled", false: "Is enabled"}[c.is("disabled")], names[1], !c.is("disabled"))
		}
		if c.is("selected") {
			flag("Is selected", names[2], true)
		}
	}
}

// pictureName returns the name of a picture of an element: its role and the words of its name.
func pictureName(e live.Element) string {
	isGap := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }
	words := strings.FieldsFunc(strings.ToLower(e.Role+" "+e.Name), isGap)
	return strings.Join(words[:min(len(words), pictureWords)], "-")
}

// pictureWords is how many words the name of a picture has.
const pictureWords = 5
