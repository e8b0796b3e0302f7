package mobile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// assertions are the commands that fail unless something holds.
func assertions(p Platform) []command {
	expected := `"expectedText": {"type": "string", "description": "What it shows, or what is in it that the selector names"}, ` +
		device.Enum("textMatchMode", "How expectedText is compared", "EXACT", "PREFIX", "REGEX")
	visible := func(name, description, properties string, read reader, required ...string) command {
		c := newCommand(name, description, properties, visibleHandler(read), required...)
		return c.checkedBy(func(a device.Arguments) error {
			if _, err := expectedText(a); err != nil {
				return err
			}
			return p.targetCheck(read)(a)
		})
	}
	const seen = "Fails unless an element that matches becomes visible in time."
	return []command{
		visible("assertVisible", seen, elementProperties(p)+", "+expected, elements.targetOf),
		visible("waitUntilVisible", seen, textProperty+", "+timeoutProperty, elements.core, "text"),
		visible("assertVisibleBySelector", seen, selectorProperties(p)+", "+expected, elements.recordedTarget),
		visible("assertVisibleWithText", "Fails unless a text becomes visible in time, as part of another and in any case.",
			withTextProperties("text"), readText("text", containing)),
		visible("assertVisibleWithAccessibilityText",
			"Fails unless an element becomes visible in time whose whole text, label or hint matches a regular expression.",
			withTextProperties("accessibilityText"), readText("accessibilityText", asPattern)),
		visible("assertVisibleWithResourceId", "Fails unless an element becomes visible in time whose id matches a regular expression.",
			`"resourceId": {"type": "string", "minLength": 1}, `+withTextProperties("text"), readResourceID),
		elementCommand(p, "assertNotVisibleBySelector", "Fails unless no element that matches is visible, in time.",
			selectorProperties(p), elements.recordedTarget, assertGone),
		elementCommand(p, "assertNotVisibleWithText",
			"Fails unless no element is visible, in time, whose whole text, label or hint is the text or matches it as a regular expression.",
			withTextProperties("text"), readWholeText, assertGone),
		elementCommand(p, "waitUntilNotVisible",
			"Returns true as soon as no element that matches is visible, false if one still is after the time limit.",
			selectorProperties(p), elements.recordedTarget, waitUntilGone),
	}
}

// readWholeText reads a text that is matched as it is, and as a regular expression if it is one.
func readWholeText(e elements, a device.Arguments) (target, error) {
	t, err := e.withText(a, "text", wholeText)
	if err == nil && a.Text("id") == "" && t.enabled == nil {
		t.words.Text = fmt.Sprintf("text %q", a.Text("text"))
	}
	return t, err
}

// readResourceID reads resourceId, or id.
func readResourceID(e elements, a device.Arguments) (target, error) {
	args := maps.Clone(a)
	if id := a.Text("resourceId"); id != "" {
		args["id"] = id
	}
	if args.Text("id") == "" {
		return target{}, errNoElement("give resourceId")
	}
	return e.withText(args, "text", containing)
}

func visibleHandler(read reader) handler {
	return func(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
		t, err := read(d.elements(), a)
		if err != nil {
			return tool.Result{}, err
		}
		return d.assertVisible(ctx, t, a)
	}
}

// assertVisible fails unless an element is visible in time, with the text that the call expects.
func (d *phone) assertVisible(ctx context.Context, t target, a device.Arguments) (tool.Result, error) {
	expected, err := expectedText(a)
	if err != nil {
		return tool.Result{}, err
	}
	s, want := d.searchOnScreen(t), "visible"
	s.checksText = expected == nil
	if expected != nil {
		want = "as expected"
		s.conditions = append(s.conditions, condition{Name: "with the text", Check: func(e *found) string { return expected.differs(t, e) }})
	}
	o, err := s.action(want, waitLimit(ctx, a, d.limits.Assertion), nil).Do(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	d.noteDoubt(o.Element)
	kind := ""
	if o.Element.isToast() {
		kind = ", as a toast or as a notification of any app"
	}
	if expected != nil {
		return success("%s is visible with text %s%s", d.among(o.Found, o.Count, t), expected, kind), nil
	}
	return success("%s is visible%s", o.Found, kind), nil
}

// textMatch is a text that an element has to show.
type textMatch struct {
	text  string
	mode  string          // EXACT, PREFIX or REGEX
	regex *screen.Pattern // of REGEX
}

func (m *textMatch) String() string {
	return map[string]string{"EXACT": "", "PREFIX": "beginning with ", "REGEX": "matching "}[m.mode] + fmt.Sprintf("%q", m.text)
}

// expectedText reads expectedText and textMatchMode; nil if the call does not expect a text.
func expectedText(a device.Arguments) (*textMatch, error) {
	if !a.Has("expectedText") {
		return nil, nil
	}
	m := &textMatch{text: strings.TrimSpace(a.Text("expectedText"))}
	var err error
	if m.mode, err = a.Word("textMatchMode", "EXACT", "PREFIX", "REGEX"); err != nil || m.mode != "REGEX" {
		return m, err
	}
	if err = checkPattern("expectedText", m.text); err == nil {
		m.regex, err = screen.CompilePattern(m.text, screen.NativeRules)
	}
	return m, err
}

func (m *textMatch) matches(text string) bool {
	switch text = strings.TrimSpace(text); m.mode {
	case "PREFIX":
		return strings.HasPrefix(text, m.text)
	case "REGEX":
		return m.regex.Matches(text)
	}
	return text == m.text
}

// differs returns why an element does not show the text, "" if it does.
func (m *textMatch) differs(t target, e *found) string {
	texts := textsOf(t, e)
	if slices.ContainsFunc(texts, m.matches) {
		return ""
	}
	if len(texts) == 0 {
		return "it shows no text"
	}
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = fmt.Sprintf("%q", strings.TrimSpace(text))
	}
	return fmt.Sprintf("it shows %s, not text %s", strings.Join(quoted[:min(5, len(quoted))], ", "), m)
}

// textsOf returns the texts with which an expected text is compared: those of the children and descendants that the
// selector names, else those of the element itself, else those of what is in it.
func textsOf(t target, e *found) []string {
	if named := namedInside(t.selector, e); len(named) > 0 {
		var texts []string
		for _, n := range named {
			texts = append(texts, nodeTexts(n)...)
		}
		return texts
	}
	if own := nodeTexts(e.node); len(own) > 0 {
		return own
	}
	var texts []string
	for _, n := range e.screen.Tree.Descendants(e.node) {
		texts = append(texts, nodeTexts(n)...)
	}
	return texts
}

// namedInside returns the children and descendants of an element that its selector names.
func namedInside(s *screen.Selector, e *found) []*screen.Node {
	if s == nil || e.match.Tree == nil {
		return nil
	}
	var out []*screen.Node
	tree := e.match.Tree
	add := func(inner *screen.Selector, candidates []*screen.Node) {
		rest := *inner
		rest.Index, rest.ChildOf = nil, nil
		for _, n := range tree.ResolveNative(&rest) {
			if slices.Contains(candidates, n) {
				out = append(out, n)
			}
		}
	}
	if s.ContainsChild != nil {
		var children []*screen.Node
		for _, n := range tree.Descendants(e.node) {
			if tree.Parent(n) == e.node {
				children = append(children, n)
			}
		}
		add(s.ContainsChild, children)
	}
	for _, inner := range s.ContainsDescendants {
		add(inner, tree.Descendants(e.node))
	}
	return out
}

// nodeTexts returns what a node shows: its content, its text and its label, without blank ones. The content of a
// password field is left out.
func nodeTexts(n *screen.Node) []string {
	var texts []string
	for _, text := range []*string{n.Value, n.Text, n.Label} {
		if text != nil && strings.TrimSpace(*text) != "" && !n.Password && !slices.Contains(texts, *text) {
			texts = append(texts, *text)
		}
	}
	return texts
}

func assertGone(ctx context.Context, d *phone, t target, a device.Arguments) (tool.Result, error) {
	if err := d.waitUntilGone(ctx, t, waitLimit(ctx, a, d.limits.Assertion)); err != nil {
		return tool.Result{}, err
	}
	return success("%s is not visible", t.words), nil
}

func waitUntilGone(ctx context.Context, d *phone, t target, a device.Arguments) (tool.Result, error) {
	err := d.waitUntilGone(ctx, t, waitLimit(ctx, a, d.limits.Assertion))
	if err != nil && !isNotFound(err) {
		return tool.Result{}, err
	}
	return queryResult(err == nil)
}

// waitUntilGone waits until no element of a target is visible. The error is that of an assertion, or about a selector
// that could never match here.
func (d *phone) waitUntilGone(ctx context.Context, t target, limit time.Duration) error {
	s := &gone{search: d.searchOnScreen(t)}
	s.settle = true // what an action brings may not be there yet
	a := s.action("gone", limit, nil)
	a.Screen = s
	_, err := a.Do(ctx)
	if isNotFound(err) && s.blank {
		d.notes = append(d.notes, "the screen showed nothing to accessibility meanwhile, so "+t.words.String()+" may be there")
		return nil
	}
	return err
}

// gone is a search that is ready when nothing is found on a screen that shows something.
type gone struct {
	*search
	blank bool // nothing on the screen had a name or a content
}

// Observe implements act.Screen.
func (s *gone) Observe(ctx context.Context, _ time.Duration) (act.Observation[*found], error) {
	o, err := s.look(ctx)
	if err != nil {
		return o, err
	}
	s.blank = isBlank(s.last.Tree)
	if !o.Ready {
		return act.Observation[*found]{Ready: !s.blank, Missing: "the screen shows nothing to accessibility"}, nil
	}
	o.Ready, o.Reason, o.Held = false, "it is visible", nil
	if o.Element.doubted {
		o.Reason = "it is on the screen and nothing else is in its place, although iOS reports that it is not visible"
	}
	return o, nil
}
