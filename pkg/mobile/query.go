package mobile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// queries are the commands that return a value. An element that is not found is a result, not an error. Those that look
// once first wait until the screen has come to rest after an action.
func queries(p Platform) []command {
	return []command{
		elementCommand(p, "isVisible", "Returns true if an element is visible now or within timeoutMs, else false.",
			coreProperties()+", "+timeoutProperty, elements.core, isVisible),
		newCommand("hasText", "Returns true if a text is visible, else false.",
			`"text": {"type": "string", "minLength": 1, "description": "Any part of a text that can be seen, in any case"}`,
			hasText, "text").checkedBy(checkText),
		elementCommand(p, "getElementText", "Returns the text of the element with an id, null if it is not there.",
			idProperty, elements.core, getElementText),
		getTextCommand(p),
		elementCommand(p, "getElementCount", "Returns the number of visible elements with a text or an id.",
			coreProperties(), elements.core, getElementCount),
		elementCommand(p, "findMatches", "Returns the elements that match, now or within timeoutMs; an empty list if none does.",
			`"selector": `+screen.SelectorSchema(p.dialects()...)+", "+timeoutProperty, readMatches, findMatches),
		newCommand("waitForChange", "Waits until the screen has changed and then stays the same.",
			`"timeoutMs": {"type": "integer", "minimum": 0, "maximum": 600000, "default": 8000},
			"quietWindowMs": {"type": "integer", "minimum": 0, "maximum": 60000, "default": 300},
			"requireChange": {"type": "boolean", "default": true, "description": "false: only that it stays the same"}`,
			waitForChange),
	}
}

func isVisible(ctx context.Context, d *phone, t target, a device.Arguments) (tool.Result, error) {
	s := d.search(t)
	s.settle = true
	_, err := s.action("visible", timeoutOf(a, 0), nil).Do(ctx)
	if err != nil && !isNotFound(err) {
		return tool.Result{}, err
	}
	return queryResult(err == nil)
}

func checkText(a device.Arguments) error {
	if strings.TrimSpace(a.Text("text")) == "" {
		return invalid("", "text is empty, and every screen has that")
	}
	return nil
}

func hasText(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	if err := checkText(a); err != nil {
		return tool.Result{}, err
	}
	now, err := d.readSettled(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	wanted := strings.ToLower(strings.Join(strings.Fields(a.Text("text")), " "))
	return queryResult(slices.ContainsFunc(now.Tree.Nodes(), func(n *screen.Node) bool {
		return isShown(now, n) && slices.ContainsFunc(nodeTexts(n), func(text string) bool {
			return strings.Contains(strings.ToLower(strings.Join(strings.Fields(text), " ")), wanted)
		})
	}))
}

// isShown reports whether a node is visible.
func isShown(s Screen, n *screen.Node) bool { return hiddenBecause(&found{node: n, screen: s}) == "" }

// find returns the elements of a target on a screen that is at rest, in the order of the screen.
func (d *phone) find(ctx context.Context, t target) ([]*found, error) {
	s := d.search(t)
	s.settle = true
	list, err := s.find(ctx)
	list = slices.DeleteFunc(list, func(e *found) bool { return hiddenBecause(e) != "" })
	slices.SortStableFunc(list, byPlace)
	return list, err
}

func getElementText(ctx context.Context, d *phone, t target, _ device.Arguments) (tool.Result, error) {
	list, err := d.find(ctx, t)
	if err != nil {
		return tool.Result{}, err
	}
	if len(list) == 0 {
		return queryResult(nil)
	}
	texts := nodeTexts(list[0].node)
	return queryResult(append(texts, "")[0])
}

// getTextCommand describes mobile_getText.
func getTextCommand(p Platform) command {
	c := elementCommand(p, "mobile_getText", "Returns the text that an element shows, as soon as it shows one.",
		`"pattern": {"type": "string", "minLength": 1, "description": "Return only what this regular expression matches, or its first group"}, `+
			elementProperties(p), elements.targetOf, getText)
	named := c.Check
	c.Check = func(args map[string]any) error {
		_, err := readPattern(args)
		return errors.Join(err, named(args))
	}
	return c
}

// readPattern returns the expression of the argument pattern, one for whole texts without it.
func readPattern(a device.Arguments) (*regexp.Regexp, error) {
	if !a.Has("pattern") {
		return regexp.MustCompile(`(?s).+`), nil
	}
	expression, err := regexp.Compile(a.Text("pattern"))
	switch {
	case err != nil:
		return nil, invalid("", "pattern: %v", err)
	case expression.MatchString(""):
		return nil, invalid("", "pattern %q matches an empty text, so it matches every text", expression)
	}
	return expression, nil
}

func getText(ctx context.Context, d *phone, t target, a device.Arguments) (tool.Result, error) {
	pattern, err := readPattern(a)
	if err != nil {
		return tool.Result{}, err
	}
	var read string
	s := d.search(t)
	s.conditions = append(s.conditions, condition{Name: "with a text", Check: func(e *found) string {
		texts := textsOf(t, e)
		for _, text := range texts {
			if groups := pattern.FindStringSubmatch(strings.TrimSpace(text)); groups != nil {
				read = groups[min(1, len(groups)-1)]
				return ""
			}
		}
		if len(texts) == 0 {
			return "it shows no text"
		}
		return fmt.Sprintf("it shows %q, which does not match %q", texts[0], pattern)
	}})
	if _, err := s.action("as expected", waitLimit(ctx, a, d.limits.Action), nil).Do(ctx); err != nil {
		return tool.Result{}, err
	}
	return queryResult(read)
}

func getElementCount(ctx context.Context, d *phone, t target, _ device.Arguments) (tool.Result, error) {
	list, err := d.find(ctx, t)
	if err != nil {
		return tool.Result{}, err
	}
	return queryResult(len(list))
}

func readMatches(e elements, a device.Arguments) (target, error) {
	if !a.Has("selector") {
		return target{}, errNoElement("give selector")
	}
	return e.node("selector", a["selector"])
}

// findMatches returns all elements that match, whether or not they are visible.
func findMatches(ctx context.Context, d *phone, t target, a device.Arguments) (tool.Result, error) {
	for end := time.Now().Add(timeoutOf(a, 0)); ; {
		matches, err := d.matches(ctx, t)
		switch {
		case err == nil && (len(matches) > 0 || time.Now().After(end)):
			return tool.Result{
				OK: true, Text: string(marshal(matches)), Structured: marshal(map[string]any{"matches": matches}),
			}, nil
		case err != nil && !errors.Is(err, act.ErrChanged):
			return tool.Result{}, err
		}
		if err := act.Pause(ctx, d.limits.Poll); err != nil {
			return tool.Result{}, err
		}
	}
}

// matches returns the elements of a target on a screen that is at rest, for programs.
func (d *phone) matches(ctx context.Context, t target) ([]map[string]any, error) {
	now, err := d.read(ctx, true, t)
	if err == nil {
		err = now.Tree.Check(t.selector)
	}
	if err != nil {
		return nil, err
	}
	list := []map[string]any{}
	for _, n := range now.Tree.Resolve(t.selector).Nodes {
		list = append(list, matchOf(now, n))
	}
	return list, nil
}

// matchOf describes an element for programs.
func matchOf(s Screen, n *screen.Node) map[string]any {
	m := map[string]any{"role": n.RoleName(), "visible": isShown(s, n), "enabled": !n.Disabled}
	if n.Bounds != nil {
		at := n.Bounds.Centre()
		m["bounds"], m["centerX"], m["centerY"] = n.Bounds, at.X, at.Y
	}
	for key, text := range map[string]*string{"text": n.Text, "label": n.Label, "hint": n.Hint, "id": n.ID, "class": n.Class} {
		if text != nil && (key != "text" || !n.Password) {
			m[key] = *text
		}
	}
	return m
}

func waitForChange(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	limit := time.Duration(a.Number("timeoutMs", 8000)) * time.Millisecond
	quiet := time.Duration(a.Number("quietWindowMs", 300)) * time.Millisecond
	before := d.driver.last.Load() // perhaps of the call that caused the change
	now, err := d.driver.Read(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	shown, since := signature(now.Tree), time.Now()
	end := since.Add(limit)
	changed := !a.Flag("requireChange", true) || before != nil && signature(before) != shown
	for {
		switch {
		case changed && time.Since(since) >= quiet:
			return success("the screen has come to rest"), nil
		case time.Now().After(end) && changed:
			return tool.Result{}, fault.New(fault.ToolFailed, "", "the screen still changes after %s", limit)
		case time.Now().After(end):
			return tool.Result{}, fault.New(fault.ToolFailed, "give requireChange: false if it may have changed before",
				"the screen did not change within %s", limit)
		}
		if err := act.Pause(ctx, d.limits.Poll); err != nil {
			return tool.Result{}, err
		}
		if now, err = d.driver.Read(ctx); err != nil {
			return tool.Result{}, err
		}
		if current := signature(now.Tree); current != shown {
			changed, shown, since = true, current, time.Now()
		}
	}
}

// queryResult returns the result of a query: v as text for people and trails, and {"value": v} for programs.
func queryResult(v any) (tool.Result, error) {
	text := "null"
	switch v := v.(type) {
	case string:
		text = v
	case bool:
		text = strconv.FormatBool(v)
	case int:
		text = strconv.Itoa(v)
	}
	return tool.Result{OK: true, Text: text, Structured: marshal(map[string]any{"value": v})}, nil
}

// marshal returns a value as JSON.
func marshal(value any) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // these values can always be encoded
	return bytes.TrimSpace(b.Bytes())
}
