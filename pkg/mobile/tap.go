package mobile

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/lazyregexp"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// How long a finger stays down.
const (
	tapHold  = 100 * time.Millisecond
	longHold = 700 * time.Millisecond // more than the 500 ms at which both platforms recognize a long press
)

// reader reads the arguments that say which element is meant.
type reader func(e elements, a device.Arguments) (target, error)

// tapCommands are the commands that touch one place.
func tapCommands(p Platform) []command {
	const byText = "Taps the first element with a text as part of its text, label or hint, in any case, when it is ready."
	list := []command{
		elementCommand(p, "tap", "Taps an element once, when it is ready.",
			elementProperties(p)+", "+longPressProperty, elements.targetOf, tapElement),
		elementCommand(p, "mobile_doubleTap", "Taps an element twice, fast, when it is ready.",
			elementProperties(p), elements.targetOf, doubleTapElement),
		elementCommand(p, "longPress", "Presses an element and holds it, when it is ready.",
			elementProperties(p), elements.targetOf, holdElement),
		elementCommand(p, "tapOnElementBySelector", "Taps the first element that matches, when it is ready.",
			selectorProperties(p)+", "+longPressProperty, elements.recordedTarget, tapElement),
		tapOnCommand(p),
		elementCommand(p, "tapOnElementWithText", byText, withTextProperties("text")+", "+longPressProperty,
			readText("text", containing), tapElement),
		elementCommand(p, "longPressOnElementWithText", strings.Replace(byText, "Taps", "Holds", 1),
			withTextProperties("text"), readText("text", containing), holdElement),
		elementCommand(p, "tapOnElementWithAccessibilityText",
			"Taps the first element whose whole text, label or hint matches a regular expression, when it is ready.",
			withTextProperties("accessibilityText")+", "+longPressProperty, readText("accessibilityText", asPattern), tapElement),
		elementCommand(p, "longPressElementWithAccessibilityText",
			"Holds the first element whose whole text, label or hint matches a regular expression, when it is ready.",
			withTextProperties("accessibilityText"), readText("accessibilityText", asPattern), holdElement),
		newCommand("tapOnPoint", "Taps a point of the screen, in pixels on Android and in points on iOS.",
			pointProperty("x")+", "+pointProperty("y")+", "+longPressProperty, tapOnPoint, "x", "y"),
	}
	if p == Android {
		list = append(list, elementCommand(p, "tapOnAccessibilityNode",
			"Taps the first element that matches regular expressions, when it is ready.",
			`"textRegex": {"type": "string"}, "contentDescriptionRegex": {"type": "string"},
			"classNameRegex": {"type": "string"}, "resourceIdRegex": {"type": "string"}, `+longPressProperty+", "+timeoutProperty,
			readAccessibilityNode, tapElement))
	}
	return list
}

// pointProperty is a coordinate in an input schema.
func pointProperty(name string) string { return `"` + name + `": {"type": "integer", "minimum": 0}` }

// withTextProperties are the arguments of a command for a text under key.
func withTextProperties(key string) string {
	return `"` + key + `": {"type": "string"}, "id": {"type": "string", "description": "A regular expression for its id"},
		"index": {"type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9]+(\\.0+)?$", "description": "Which of several, from 0"},
		"enabled": {"type": "boolean"}, "selected": {"type": "boolean"}, ` + timeoutProperty
}

// readText returns a reader for the arguments of withTextProperties.
func readText(key string, quote func(string) string) reader {
	return func(e elements, a device.Arguments) (target, error) { return e.withText(a, key, quote) }
}

func readAccessibilityNode(e elements, a device.Arguments) (target, error) {
	block := map[string]any{}
	for _, key := range []string{"textRegex", "contentDescriptionRegex", "classNameRegex", "resourceIdRegex"} {
		if a.Text(key) == "" {
			continue
		}
		block[key] = a.Text(key)
		if err := checkPattern(key, a.Text(key)); err != nil {
			return target{}, err
		}
	}
	if block["textRegex"] == nil && block["contentDescriptionRegex"] == nil {
		return target{}, errNoElement("give textRegex or contentDescriptionRegex")
	}
	return e.node("nodeSelector", map[string]any{string(screen.AndroidAccessibility): block})
}

// elementCommand returns a command for the element that read reads.
func elementCommand(
	p Platform, name, description, properties string, read reader,
	run func(ctx context.Context, d *phone, t target, a device.Arguments) (tool.Result, error),
) command {
	handle := func(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
		t, err := read(d.elements(), a)
		if err != nil {
			return tool.Result{}, err
		}
		return run(ctx, d, t, a)
	}
	return newCommand(name, description, properties, handle).checkedBy(p.targetCheck(read))
}

func tapElement(ctx context.Context, d *phone, t target, a device.Arguments) (tool.Result, error) {
	o := touchOptions{hold: tapHold, verb: "tapped", want: "ready to be tapped"}
	if a.Flag("longPress", false) {
		return holdElement(ctx, d, t, a)
	}
	return d.touch(ctx, t, o, waitLimit(ctx, a, d.limits.Action))
}

func holdElement(ctx context.Context, d *phone, t target, a device.Arguments) (tool.Result, error) {
	o := touchOptions{hold: longHold, verb: "held", want: "ready to be held"}
	return d.touch(ctx, t, o, waitLimit(ctx, a, d.limits.Action))
}

func doubleTapElement(ctx context.Context, d *phone, t target, a device.Arguments) (tool.Result, error) {
	o := touchOptions{hold: tapHold, taps: 2, verb: "tapped twice", want: "ready to be tapped"}
	return d.touch(ctx, t, o, waitLimit(ctx, a, d.limits.Action))
}

// touchOptions say how an element is touched.
type touchOptions struct {
	hold       time.Duration
	taps       int // 0 for one
	verb, want string
	where      func(*found) (screen.Point, string) // the middle of what is visible when nil
}

// touch touches an element once, when it is ready.
func (d *phone) touch(ctx context.Context, t target, o touchOptions, limit time.Duration) (tool.Result, error) {
	if o.where == nil {
		o.where = centre
	}
	seen, err := d.withElement(ctx, t, o.want, limit, o.where, func(ctx context.Context, e *found) error {
		return d.driver.Touch(ctx, Finger{Path: []screen.Point{e.point}, Hold: o.hold, Taps: o.taps})
	})
	if err != nil {
		return tool.Result{}, err
	}
	return success("%s %s", o.verb, seen), nil
}

// withElement acts once on an element, when it is ready to be touched. It returns the element in words.
func (d *phone) withElement(
	ctx context.Context, t target, want string, limit time.Duration, where func(*found) (screen.Point, string),
	perform func(context.Context, *found) error,
) (string, error) {
	s := d.searchOnScreen(t, d.touchable(where)...)
	s.stable = true
	o, err := s.action(want, limit, perform).Do(ctx)
	if err != nil {
		return "", err
	}
	d.noteDoubt(o.Element)
	if over := o.Element.over; over != nil {
		d.notes = append(d.notes, fmt.Sprintf("%s lies above it, and may have received the touch", over))
	}
	return d.among(o.Found, o.Count, t), nil
}

// noteDoubt notes that an element was taken as visible which iOS does not report as such.
func (d *phone) noteDoubt(e *found) {
	if e.doubted {
		d.notes = append(d.notes, "iOS reports that it is not visible; it is on the screen, and nothing else is in its place")
	}
}

// among returns an element in words. If it is the first of several, it says so and notes it.
func (d *phone) among(found string, count int, t target) string {
	if count < 2 || t.words.Indexed {
		return found
	}
	note := "the first of " + strconv.Itoa(count) + " that match"
	d.notes = append(d.notes, note)
	return found + ", " + note
}

// tapOnCommand describes tapOn, which taps a place in the only element that matches.
func tapOnCommand(p Platform) command {
	c := newCommand("tapOn", "Taps the only element that matches, when it is ready.",
		`"selector": `+screen.SelectorSchema(p.dialects()...)+`, "relativePoint": {"type": "string",
		"description": "The place in the element, such as 50%,50%"}, `+longPressProperty+", "+timeoutProperty, tapOn, "selector")
	return c.checkedBy(func(a device.Arguments) error {
		if _, err := readTapOn(elements{platform: p}, a); err != nil {
			return err
		}
		_, err := relativePoint(a, "relativePoint")
		return err
	})
}

func readTapOn(e elements, a device.Arguments) (target, error) {
	t, err := e.node("selector", a["selector"])
	t.unique = true
	return t, err
}

func tapOn(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	t, err := readTapOn(d.elements(), a)
	if err != nil {
		return tool.Result{}, err
	}
	place, err := relativePoint(a, "relativePoint")
	if err != nil {
		return tool.Result{}, err
	}
	o := touchOptions{hold: tapHold, verb: "tapped", want: "ready to be tapped", where: place.placeInElement}
	if a.Flag("longPress", false) {
		o.hold, o.verb, o.want = longHold, "held", "ready to be held"
	}
	return d.touch(ctx, t, o, waitLimit(ctx, a, d.limits.Action))
}

// percentPoint is a place in an area, in tenths of a percent from its top left corner; nil for its middle.
type percentPoint struct{ x, y int }

var percents = lazyregexp.New(`^\s*(\d{1,3}(?:\.\d+)?)%\s*,\s*(\d{1,3}(?:\.\d+)?)%\s*$`)

// relativePoint reads an argument such as 50%,12.5%. It is nil when the argument is absent.
func relativePoint(a device.Arguments, key string) (*percentPoint, error) {
	if !a.Has(key) {
		return nil, nil
	}
	match := percents().FindStringSubmatch(a.Text(key))
	var tenths [2]int
	for i := range tenths {
		percent := math.Inf(1)
		if match != nil {
			percent, _ = strconv.ParseFloat(match[i+1], 64) // the pattern allows only numbers
		}
		if percent > 100 {
			return nil, invalid("write it like 50%,12.5%", "%s: %q is not a place", key, a.Text(key))
		}
		tenths[i] = int(math.Floor(percent*10 + 0.5))
	}
	return &percentPoint{tenths[0], tenths[1]}, nil
}

// placeIn returns the place in an area. It is inside the area, unless that is empty.
func (p percentPoint) placeIn(r screen.Rect) screen.Point {
	along := func(from, length, tenths int) int { return from + min((length*tenths+500)/1000, max(0, length-1)) }
	return screen.Point{X: along(r.Left, r.Width(), p.x), Y: along(r.Top, r.Height(), p.y)}
}

// placeInElement returns the place in an element, or why it cannot be touched.
func (p *percentPoint) placeInElement(e *found) (screen.Point, string) {
	if p == nil {
		return centre(e)
	}
	at := p.placeIn(*e.node.Bounds)
	if !e.part.Contains(at) {
		return at, "the place in it is outside of the screen, or scrolled out of view"
	}
	return at, ""
}

func tapOnPoint(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	at, err := d.pointOf(ctx, a, "x", "y")
	if err != nil {
		return tool.Result{}, err
	}
	hold, verb := tapHold, "tapped"
	if a.Flag("longPress", false) {
		hold, verb = longHold, "held"
	}
	if err := d.driver.Touch(ctx, Finger{Path: []screen.Point{at}, Hold: hold}); err != nil {
		return tool.Result{}, err
	}
	return success("%s %d,%d", verb, at.X, at.Y), nil
}

// pointOf reads a point, which must be on the screen.
func (d *phone) pointOf(ctx context.Context, a device.Arguments, x, y string) (screen.Point, error) {
	at := screen.Point{X: int(a.Number(x, 0)), Y: int(a.Number(y, 0))}
	all := d.area()
	if !all.Contains(at) {
		var err error
		if all, err = d.areaNow(ctx); err != nil {
			return at, err
		}
	}
	if !all.Empty() && !all.Contains(at) {
		return at, invalid("", "%s %d, %s %d is outside of the screen, which is %d wide and %d high", x, at.X, y, at.Y,
			all.Width(), all.Height())
	}
	return at, nil
}
