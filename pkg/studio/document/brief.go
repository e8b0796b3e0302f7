package document

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/trail"
)

// The lengths in characters of a provisional text, and of what it quotes from a call.
const (
	maxProvisional = 60
	maxQuoted      = 40
)

// phrase is what calls of a tool do, in words. {element} is the element of a call, other names in braces are its
// arguments, and {=name} is one without quotes.
type phrase struct {
	brief    string
	sentence string // in the text of a step; empty for the same
}

// phrases returns the phrases for tools, and for a tool with a value that makes it another one (see variant).
var phrases = sync.OnceValue(func() map[string]phrase { //nolint:gochecknoglobals // a table that nothing changes
	const visible, hidden = "check {element} is visible", "check {element} is not visible"
	shown, gone := phrase{visible, "check that {element} is shown"}, phrase{hidden, "check that {element} is not shown"}
	textShown := phrase{"check {text} is visible", "check that {text} is shown"}
	tap, press, typing := phrase{brief: "tap {element}"}, phrase{brief: "press and hold {element}"}, phrase{"type {text} into {element}", "type into {element}"}
	return map[string]phrase{
		"web_click": {brief: "click {element}"}, "click": {brief: "click {element}"},
		"web_click 2": {brief: "double click {element}"}, "web_click RIGHT": {brief: "right click {element}"},
		"web_click MIDDLE": {brief: "middle click {element}"}, "web_hover": {brief: "hover over {element}"},
		"web_type": typing, "web_fillSecret": {brief: "type a secret into {element}"},
		"fill":             {"type {value} into {element}", "type into {element}"},
		"web_selectOption": {brief: "choose {values} in {element}"}, "web_setChecked": {brief: "check {element}"},
		"web_setChecked false": {brief: "uncheck {element}"}, "web_uploadFile": {brief: "choose {files} for {element}"},
		"web_dragTo": {brief: "drag {from} to {to}"}, "dragTo": {brief: "drag {from} to {to}"},
		"web_pressKey": {brief: "press {=key}{text}"}, "web_scroll": {brief: "scroll {=direction}"}, "scroll": {brief: "scroll {=direction}"},
		"web_navigate": {brief: "open {=url}"}, "navigate": {brief: "open {=url}"}, "openUrl": {brief: "open {=url}"},
		"web_navigate BACK": {brief: "go back"}, "web_navigate FORWARD": {brief: "go forward"},
		"web_resize": {brief: "resize the page to {=width} x {=height}"}, "web_getText": {brief: "read {element}"},
		"web_handleDialog": {brief: "accept dialogs"}, "web_handleDialog DISMISS": {brief: "dismiss dialogs"},
		"web_waitForTab": {brief: "wait for a new tab"}, "web_switchTab": {brief: "switch to another tab"}, "web_closeTab": {brief: "close the tab"},
		"web_waitForDownload": {brief: "wait for the download {=fileName}"}, "web_waitForUrl": {brief: "wait for the URL {=pattern}"},
		"web_verifyTextVisible": textShown, "assertVisibleWithText": textShown, "waitUntilVisible": textShown,
		"web_verifyTextNotVisible": {"check {text} is not visible", "check that {text} is not shown"},
		"assertNotVisibleWithText": {"check {text} is not visible", "check that {text} is not shown"},
		"web_verifyElementVisible": shown, "assertVisible": shown, "assertVisibleBySelector": shown,
		"web_verifyElementNotVisible": gone, "assertNotVisibleBySelector": gone, "waitUntilNotVisible": gone,
		"web_verifyValue":       {"check {element} is {expected}", "check that {element} is {expected}"},
		"web_verifyState":       {"check {element} is {=state}", "check that {element} is {=state}"},
		"web_verifyCount":       {"check there are {=count} of {element}", "check that there are {=count} of {element}"},
		"web_verifyListVisible": {"check {element} shows {items}", "check that {element} shows {items}"},
		"web_verifyUrl":         {"check the URL has {pattern}", "check that the URL has {pattern}"},
		"web_verifyTitle":       {"check the title has {pattern}", "check that the title has {pattern}"},
		"web_verifyDialog":      {"check a dialog says {message}", "check that a dialog says {message}"},
		"assertWaypoint":        {brief: "check the screen {=id}"},
		"verifyScreenshot":      {"compare the picture {=name}", "check the picture {=name}"},
		"assertEquals":          {"check {actual} is {expected}", "check that {actual} is {expected}"},
		"tap":                   tap, "tapOn": tap, "tapOnElementBySelector": tap, "tapOnElementWithText": tap,
		"tapOnElementWithAccessibilityText": tap, "tapOnAccessibilityNode": tap, "mobile_doubleTap": {brief: "double tap {element}"},
		"tapOnPoint": {brief: "tap the point {=x}, {=y}"}, "longPress": press, "tapOnElementBySelector true": press,
		"longPressOnElementWithText": press, "inputText": {"type {text}", "type {text}"}, "eraseText": {brief: "erase text"},
		"clearText": {brief: "clear the field"}, "hideKeyboard": {brief: "hide the keyboard"}, "pressKey": {brief: "press {=keyCode}"},
		"pressBack": {brief: "go back"}, "pressHome": {brief: "go to the home screen"}, "swipe": {brief: "swipe {=direction}"}, "swipeWithRelativeCoordinates": {brief: "swipe"},
		"scrollUntilTextIsVisible": {brief: "scroll to {text}"}, "launchApp": {brief: "start the app {=appId}"},
		"stopApp": {brief: "stop the app {=appId}"}, "web_wait": {brief: "wait {=seconds} s"}, "wait": {brief: "wait {=seconds} s"},
		"rememberValue": {brief: "remember {=name}"}, "rememberText": {brief: "remember {=variable}"}, "rememberNumber": {brief: "remember {=variable}"},
		"web_requestDetails":     {brief: "look up the request {=url}"},
		"web_assertNetworkEvent": {brief: "check {=url} was requested", sentence: "check that {=url} was requested"},
	}
})

// variant returns the tool of a call with the value that makes it another one, if one does.
func variant(c trail.Call) string {
	for _, key := range []string{"count", "button", "checked", "action", "longPress"} {
		if value, given := c.Args[key]; given {
			name := c.Tool + " " + strings.ToUpper(fmt.Sprint(value))
			if value, isBool := value.(bool); isBool {
				name = fmt.Sprint(c.Tool, " ", value)
			}
			if _, known := phrases()[name]; known {
				return name
			}
		}
	}
	return c.Tool
}

// Brief returns what a call does in a few words, such as click button "Save".
func Brief(c trail.Call) string {
	p, known := phrases()[variant(c)]
	if !known {
		return strings.TrimSuffix(c.Tool+" "+elementOf(c.Args).brief(), " ")
	}
	return p.fill(p.brief, c, true)
}

// sentence returns what a call does for the text of a step, such as click Save.
func sentence(c trail.Call) string {
	p, known := phrases()[variant(c)]
	if !known {
		return "call " + c.Tool
	}
	return p.fill(cmp.Or(p.sentence, p.brief), c, false)
}

// ofElement is the end of a phrase that a call without an element does not have.
var ofElement = lazyregexp.New(` (for|in|into|of|over) \{element\}$`)

var placeholder = lazyregexp.New(`\{(=?)(\w+)\}`)

// fill replaces the names in braces. quoted says that values are quoted, and elements named with their role.
func (p phrase) fill(template string, c trail.Call, quoted bool) string {
	if elementOf(c.Args) == (element{}) {
		template = ofElement().ReplaceAllString(template, "")
	}
	filled := placeholder().ReplaceAllStringFunc(template, func(name string) string {
		plain, key := strings.HasPrefix(name, "{="), strings.Trim(name, "{=}")
		switch inner, isElement := c.Args[key].(map[string]any); {
		case key == "element":
			return elementOf(c.Args).in(quoted)
		case isElement:
			return elementOf(inner).in(quoted)
		}
		value := valueText(c.Args, key)
		if quoted && !plain && value != "" {
			return `"` + value + `"`
		}
		return value
	})
	return strings.Join(strings.Fields(filled), " ")
}

// valueText returns an argument on one line. A check of a value may have another argument in place of one.
func valueText(args map[string]any, key string) string {
	switch key {
	case "expected", "text":
		for _, other := range []string{"contains", "pattern", "accessibilityText", "textRegex", "id"} {
			if args[key] == nil && args[other] != nil {
				key = other
			}
		}
	case "direction":
		if args[key] == nil {
			return "down"
		}
		return strings.ToLower(fmt.Sprint(args[key]))
	}
	var value string
	switch v := args[key].(type) {
	case nil:
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, fmt.Sprint(item))
		}
		value = strings.Join(items, ", ")
	default:
		value = fmt.Sprint(v)
	}
	return shortName(value)
}

// element is what names an element in a call.
type element struct{ role, name, other string }

func (e element) in(quoted bool) string {
	if quoted {
		return e.brief()
	}
	return cmp.Or(e.name, e.role, e.other)
}

func (e element) brief() string {
	switch {
	case e.name != "" && e.role != "":
		return e.role + ` "` + e.name + `"`
	case e.name != "":
		return `"` + e.name + `"`
	}
	return cmp.Or(e.role, e.other)
}

var roleAndName = lazyregexp.New(`^([a-z]+) "(.*)"$`)

// elementOf returns the element that arguments name.
func elementOf(args map[string]any) element {
	for _, key := range []string{"nodeSelector", "selector"} {
		switch selector := args[key].(type) {
		case map[string]any:
			return selected(selector)
		case string:
			return element{other: selector}
		}
	}
	ref, _ := args["ref"].(string)
	if found := roleAndName().FindStringSubmatch(ref); found != nil {
		return element{role: found[1], name: shortName(found[2])}
	}
	if strings.Contains(ref, "=") {
		return element{other: ref}
	}
	for _, key := range []string{"text", "accessibilityText", "textRegex", "contentDescriptionRegex"} {
		if name, _ := args[key].(string); ref == "" && name != "" {
			return element{name: shortName(name)}
		}
	}
	id, _ := args["id"].(string)
	return element{name: shortName(ref), other: id}
}

// selected returns the element that a selector selects.
func selected(selector map[string]any) element {
	for _, dialect := range screen.Dialects() {
		block, ok := selector[string(dialect)].(map[string]any)
		if !ok {
			continue
		}
		return fromBlock(block, dialect.Rules())
	}
	if e := fromBlock(selector, screen.MaestroRules); e != (element{}) { // the older form
		return e
	}
	for _, relation := range []string{"containsChild", "below", "above", "leftOf", "rightOf", "childOf"} {
		if other, ok := selector[relation].(map[string]any); ok {
			return selected(other)
		}
	}
	return element{}
}

func fromBlock(block map[string]any, rules screen.Rules) element {
	of := func(keys ...string) string {
		for _, key := range keys {
			if value, _ := block[key].(string); value != "" {
				return value
			}
		}
		return ""
	}
	e := element{role: of("ariaRole", "role")}
	name := of("ariaNameRegex", "textRegex", "contentDescriptionRegex", "labeledByTextRegex", "hintTextRegex", "accessibilityTextRegex",
		"label", "labelRegex", "ariaDescriptorRegex")
	e.name = shortName(meaning(name, rules))
	e.other = meaning(of("dataTestId", "resourceIdRegex", "composeTestTagRegex", "uniqueId", "cssSelector", "classNameRegex"), rules)
	return e
}

// meaning returns the text that a pattern matches, else the pattern.
func meaning(pattern string, rules screen.Rules) string {
	p, err := screen.CompilePattern(pattern, rules)
	if err != nil {
		return pattern
	}
	if literal, ok := p.Literal(); ok {
		return literal
	}
	if part, ok := p.Contained(); ok {
		return part
	}
	return pattern
}

func shortName(name string) string {
	return text.Shorten(strings.Join(strings.Fields(name), " "), maxQuoted)
}

// provisionalText returns the text of a step that has none, made from its calls.
func provisionalText(kind string, calls []trail.Call) string {
	var parts []string
	for _, c := range calls {
		if part := sentence(c); !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		if kind == trail.KindVerify {
			return "New check"
		}
		return "New step"
	}
	for i := range parts[1:] {
		if strings.HasPrefix(parts[0], "check that ") {
			parts[i+1] = strings.TrimPrefix(parts[i+1], "check ")
		}
	}
	words, last := list(parts), parts[len(parts)-1]
	for n := len(parts) - 2; n >= 0 && utf8.RuneCountInString(words) > maxProvisional; n-- {
		words = last // what a step ends with says the most
		if n > 0 {
			words = strings.Join(parts[:n], ", ") + " … " + last
		}
	}
	first, size := utf8.DecodeRuneInString(words)
	return text.Shorten(string(unicode.ToUpper(first))+words[size:], maxProvisional)
}

// list returns parts as a list in a sentence: a, b and c.
func list(parts []string) string {
	last := len(parts) - 1
	if last == 0 {
		return parts[0]
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

var checks = lazyregexp.New(`^(web_)?(verify|assert|expect)|^(web_)?waitUntil(Not)?Visible$`)

// isCheck reports whether a call checks what is there, and does nothing.
func isCheck(c trail.Call) bool { return checks().MatchString(c.Tool) }
