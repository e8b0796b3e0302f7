package mobile

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/trailblaze/trailblaze/pkg/act"
	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/pkg/text"
	"github.com/trailblaze/trailblaze/pkg/tool"
)

// How long fingers move.
const (
	swipeTime  = 400 * time.Millisecond
	dragTime   = time.Second
	scrollTime = 600 * time.Millisecond
)

// restTime is how long a finger that scrolls or drags is still before it is lifted, so that the content stops with it.
// Android needs 40 ms (ASSUME_POINTER_STOPPED_TIME of VelocityTracker.cpp). What iOS needs is not documented.
const restTime = 150 * time.Millisecond

// longestMove is the longest time that a call may move a finger: drivers limit the wait for the response to it.
const longestMove = 20 * time.Second

// scrollLimit is how long scrollUntilTextIsVisible scrolls when the call does not say.
const scrollLimit = 20 * time.Second

// durationProperty returns how long a finger moves when the call does not say, in an input schema.
func durationProperty(absent time.Duration) string {
	return fmt.Sprintf(`"durationMs": {"type": "integer", "minimum": 1, "maximum": %d,
		"description": "How long the finger moves", "default": %d}`, longestMove.Milliseconds(), absent.Milliseconds())
}

// durationOf returns how long the finger of a call moves.
func durationOf(a device.Arguments, absent time.Duration) time.Duration {
	return time.Duration(a.Number("durationMs", float64(absent.Milliseconds()))) * time.Millisecond
}

// scrollCommands are the commands that move fingers over the screen.
func scrollCommands(p Platform) []command {
	return []command{
		newCommand("swipe", "Moves a finger over the screen.",
			device.Enum("direction", "Where the finger moves", "DOWN", "UP", "LEFT", "RIGHT")+", "+durationProperty(swipeTime)+`,
			"swipeOnElementText": {"type": "string", "description": "A text of an element over which the finger moves"}, `+
				timeoutProperty, swipe).checkedBy(checkSwipe),
		newCommand("swipeWithRelativeCoordinates", "Moves a finger from one place of the screen to another one.",
			placeProperty("startRelative")+", "+placeProperty("endRelative")+", "+durationProperty(swipeTime),
			swipeBetween, "startRelative", "endRelative").checkedBy(checkPlaces),
		newCommand("dragByPoints", "Moves a finger slowly between two points, in pixels on Android and in points on iOS.",
			pointProperty("startX")+", "+pointProperty("startY")+", "+pointProperty("endX")+", "+pointProperty("endY")+", "+
				durationProperty(dragTime), dragByPoints, "startX", "startY", "endX", "endY"),
		dragCommand(p),
		newCommand("scroll", "Scrolls the screen.",
			device.Enum("direction", "What is brought into view", "DOWN", "UP", "LEFT", "RIGHT")+
				`, "amount": {"type": "number", "minimum": 0, "description": "Pixels on Android, points on iOS; half of the screen when absent"}`,
			scroll),
		newCommand("pinch", "Moves two fingers apart or together in the middle of the screen.",
			`"scale": {"type": "number", "minimum": 0.1, "maximum": 10, "description": "Above 1 enlarges, below 1 reduces"}`,
			pinch, "scale"),
		scrollUntilCommand(p),
	}
}

// placeProperty is a place on the screen in an input schema.
func placeProperty(name string) string {
	return `"` + name + `": {"type": "string", "description": "A place on the screen, such as 50%,90%"}`
}

// checkSwipe rejects a text without characters.
func checkSwipe(a device.Arguments) error {
	if a.Has("swipeOnElementText") && strings.TrimSpace(a.Text("swipeOnElementText")) == "" {
		return invalid("leave it out to swipe over the middle of the screen", "swipeOnElementText is empty")
	}
	return nil
}

// swipePath returns where a finger starts and ends. The numbers are those of the JVM Trailblaze.
func swipePath(p Platform, direction string) (from, to percentPoint) {
	middle, low, high := 500, 900, 100
	switch {
	case direction == "LEFT":
		return percentPoint{low, middle}, percentPoint{high, middle}
	case direction == "RIGHT":
		return percentPoint{high, middle}, percentPoint{low, middle}
	case p == IOS && direction == "UP":
		return percentPoint{middle, low}, percentPoint{middle, high}
	case p == IOS:
		return percentPoint{middle, 200}, percentPoint{middle, low}
	case direction == "UP":
		return percentPoint{middle, middle}, percentPoint{middle, high}
	}
	return percentPoint{middle, middle}, percentPoint{middle, low}
}

func swipe(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	direction, err := a.Word("direction", "DOWN", "UP", "LEFT", "RIGHT")
	if err != nil {
		return tool.Result{}, err
	}
	from, to := swipePath(d.options.Platform, direction)
	move := durationOf(a, swipeTime)
	text := a.Text("swipeOnElementText")
	if text == "" {
		return success("swiped %s", strings.ToLower(direction)), d.swipe(ctx, from, to, move)
	}
	t, err := d.elements().maestro(map[string]any{"textRegex": containing(text)})
	if err != nil {
		return tool.Result{}, err
	}
	seen, err := d.withElement(ctx, t, "ready to be swiped", waitLimit(ctx, a, d.limits.Action), centre,
		func(ctx context.Context, e *found) error {
			end, start := to.placeIn(d.area()), e.point
			if from.x == to.x { // up or down from the element, else along its row
				end.X = start.X
			} else {
				start.X, end.Y = from.placeIn(d.area()).X, start.Y
			}
			return d.driver.Touch(ctx, Finger{Path: []screen.Point{start, end}, Move: move})
		})
	if err != nil {
		return tool.Result{}, err
	}
	return success("swiped %s over %s", strings.ToLower(direction), seen), nil
}

// area is the screen, as it was turned when it was read last.
func (d *phone) area() screen.Rect {
	if t := d.driver.last.Load(); t != nil && t.Width > 0 && t.Height > 0 {
		return screen.Rect{Right: t.Width, Bottom: t.Height}
	}
	info := d.driver.Info()
	return screen.Rect{Right: info.Width, Bottom: info.Height}
}

// areaNow is area after a read of the screen if an action may have turned it since the last one.
func (d *phone) areaNow(ctx context.Context) (screen.Rect, error) {
	if d.driver.lastAfter.Load() != d.driver.actions.Load() {
		if _, err := d.driver.Read(ctx); err != nil {
			return screen.Rect{}, err
		}
	}
	return d.area(), nil
}

// swipe moves a finger between two places of the screen.
func (d *phone) swipe(ctx context.Context, from, to percentPoint, move time.Duration) error {
	area, err := d.areaNow(ctx)
	if err != nil {
		return err
	}
	return d.driver.Touch(ctx, Finger{Path: []screen.Point{from.placeIn(area), to.placeIn(area)}, Move: move})
}

// checkPlaces checks startRelative and endRelative.
func checkPlaces(a device.Arguments) error {
	for _, key := range []string{"startRelative", "endRelative"} {
		if _, err := relativePoint(a, key); err != nil {
			return err
		}
	}
	return nil
}

func swipeBetween(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	if err := checkPlaces(a); err != nil {
		return tool.Result{}, err
	}
	from, _ := relativePoint(a, "startRelative") // checked
	to, _ := relativePoint(a, "endRelative")
	move := durationOf(a, swipeTime)
	return success("swiped from %s to %s", a.Text("startRelative"), a.Text("endRelative")), d.swipe(ctx, *from, *to, move)
}

func dragByPoints(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	from, err := d.pointOf(ctx, a, "startX", "startY")
	if err != nil {
		return tool.Result{}, err
	}
	to, err := d.pointOf(ctx, a, "endX", "endY")
	if err != nil {
		return tool.Result{}, err
	}
	move := durationOf(a, dragTime)
	done := success("dragged from %d,%d to %d,%d", from.X, from.Y, to.X, to.Y)
	return done, d.driver.Touch(ctx, Finger{Path: []screen.Point{from, to}, Move: move, Rest: restTime})
}

func scroll(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	direction, err := a.Word("direction", "DOWN", "UP", "LEFT", "RIGHT")
	if err != nil {
		return tool.Result{}, err
	}
	return success("scrolled %s", strings.ToLower(direction)), d.scroll(ctx, direction, a.Number("amount", 0), percentPoint{500, 500})
}

// scroll scrolls by an amount, or by half of the screen if that is 0. The finger moves around a place, in the other
// direction, and stays on the screen.
func (d *phone) scroll(ctx context.Context, direction string, amount float64, around percentPoint) error {
	area, err := d.areaNow(ctx)
	if err != nil {
		return err
	}
	length := area.Height()
	if direction == "LEFT" || direction == "RIGHT" {
		length = area.Width()
	}
	if amount == 0 {
		amount = float64(length) / 2
	}
	half := min(int(amount), length*8/10) / 2
	start, end := around.placeIn(area), around.placeIn(area)
	switch direction {
	case "DOWN":
		start.Y, end.Y = start.Y+half, end.Y-half
	case "UP":
		start.Y, end.Y = start.Y-half, end.Y+half
	case "RIGHT":
		start.X, end.X = start.X+half, end.X-half
	case "LEFT":
		start.X, end.X = start.X-half, end.X+half
	}
	return d.driver.Touch(ctx, Finger{Path: []screen.Point{start, end}, Move: scrollTime, Rest: restTime})
}

func pinch(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	scale := a.Number("scale", 1)
	area, err := d.areaNow(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	middle := area.Centre()
	far := float64(min(area.Width(), area.Height())) * 4 / 10 // from the middle
	from, to := far/max(scale, 1), far*min(scale, 1)
	if scale < 1 {
		from = far
	} else {
		to = far
	}
	finger := func(side int) Finger {
		at := func(distance float64) screen.Point {
			return screen.Point{X: middle.X + side*max(1, int(distance)), Y: middle.Y}
		}
		return Finger{Path: []screen.Point{at(from), at(to)}, Move: scrollTime}
	}
	return success("pinched with scale %v", scale), d.driver.Touch(ctx, finger(-1), finger(1))
}

// scrollUntilCommand describes scrollUntilTextIsVisible.
func scrollUntilCommand(p Platform) command {
	return newCommand("scrollUntilTextIsVisible", "Scrolls until an element is visible.",
		`"text": {"type": "string", "description": "A part of its text, label or hint"},
		"textRegex": {"type": "string", "description": "A regular expression for the whole of it"},
		"id": {"type": "string", "description": "A regular expression for its id"},
		"index": {"type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9]+(\\.0+)?$", "description": "Which of several, from 0"},
		"enabled": {"type": "boolean"}, "selected": {"type": "boolean"},
		"visibilityPercentage": {"type": "integer", "minimum": 0, "maximum": 100, "default": 100},
		"centerElement": {"type": "boolean", "default": false, "description": "Scroll until it is near the middle"}, `+
			device.Enum("direction", "What is brought into view", "DOWN", "UP", "LEFT", "RIGHT")+", "+
			device.Enum("scrollStartPosition", "Where the finger moves", "CENTER", "TOP", "BOTTOM")+", "+timeoutProperty,
		scrollUntilVisible).checkedBy(p.targetCheck(readScrolled))
}

func readScrolled(e elements, a device.Arguments) (target, error) {
	if a.Text("textRegex") != "" {
		return e.withText(a, "textRegex", asPattern)
	}
	return e.withText(a, "text", containing)
}

// centred is how many scrolls centerElement may add.
const centred = 4

// notCentred is the reason for an element that is visible, but not where it should be.
const notCentred = "it is not near the middle"

// scrolling is a search that scrolls between its looks.
type scrolling struct {
	*search
	direction, start string
	visible          float64 // part of the element that has to be visible, from 0 to 1
	centre           bool

	scrolls, centring int
	shown             string // the screen before the last scroll
}

func scrollUntilVisible(ctx context.Context, d *phone, a device.Arguments) (tool.Result, error) {
	t, err := readScrolled(d.elements(), a)
	if err != nil {
		return tool.Result{}, err
	}
	return d.scrollTo(ctx, t, a)
}

// scrollTo scrolls until an element is visible, with the arguments of scrollUntilTextIsVisible.
func (d *phone) scrollTo(ctx context.Context, t target, a device.Arguments) (result tool.Result, err error) {
	s := &scrolling{visible: a.Number("visibilityPercentage", 100) / 100, centre: a.Flag("centerElement", false)}
	if s.direction, err = a.Word("direction", "DOWN", "UP", "LEFT", "RIGHT"); err != nil {
		return tool.Result{}, err
	}
	if s.start, err = a.Word("scrollStartPosition", "CENTER", "TOP", "BOTTOM"); err != nil {
		return tool.Result{}, err
	}
	s.search = d.searchOnScreen(t, condition{Name: "inside the screen", Check: s.outside})
	s.settle = true // the content may move on by itself after a scroll
	action := s.action("visible", waitLimit(ctx, a, scrollLimit), nil)
	action.Screen = s
	o, err := action.Do(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	d.noteDoubt(o.Element)
	return success("%s is visible after %s", o.Found, text.Count(s.scrolls, "scroll")), nil
}

// outside returns why an element is not visible enough, "" if it is.
func (s *scrolling) outside(e *found) string {
	if e.node.Bounds == nil {
		return "" // a toast, which is visible as a whole
	}
	all, whole := s.phone.area(), *e.node.Bounds
	most := min(whole.Width(), all.Width()) * min(whole.Height(), all.Height()) // of one that is larger than the screen
	if part := float64(e.part.Width()*e.part.Height()) / float64(most); part < s.visible {
		return fmt.Sprintf("%.0f%% of it is visible, %.0f%% are needed", 100*part, 100*s.visible)
	}
	if s.centre && s.centring < centred && !s.nearCentre(e) {
		return notCentred
	}
	return ""
}

// nearCentre reports whether an element is in the middle half of the screen, in the direction of scrolling.
func (s *scrolling) nearCentre(e *found) bool {
	all, at := s.phone.area(), e.part.Centre()
	if s.direction == "LEFT" || s.direction == "RIGHT" {
		return 4*at.X > all.Width() && 4*at.X < 3*all.Width()
	}
	return 4*at.Y > all.Height() && 4*at.Y < 3*all.Height()
}

// Observe implements act.Screen. It scrolls once if the element is not visible enough.
func (s *scrolling) Observe(ctx context.Context, wait time.Duration) (act.Observation[*found], error) {
	o, err := s.look(ctx)
	if err != nil || o.Ready {
		return o, err
	}
	shown := signature(s.last.Tree)
	if shown == s.shown && o.Reason == notCentred {
		s.centring = centred // it is as near as it can be
		return s.look(ctx)
	}
	if shown == s.shown && o.Count == 0 {
		o.Missing = fmt.Sprintf("%s was not found; the screen does not scroll further %s", s.target.words, strings.ToLower(s.direction))
	}
	if shown == s.shown || wait == 0 {
		return o, nil // more may be loaded
	}
	o.Waited = true
	if s.last.Keyboard != nil && !s.hid { // the finger would touch its keys
		s.hid = true
		return o, s.phone.tryHideKeyboard(ctx)
	}
	s.shown = shown
	s.scrolls++
	if o.Reason == notCentred {
		s.centring++
		return o, s.phone.scrollBand(ctx, s.towardsCentre(o.Element), s.start)
	}
	return o, s.phone.scrollBand(ctx, s.direction, s.start)
}

// towardsCentre returns the direction in which an element comes nearer to the middle.
func (s *scrolling) towardsCentre(e *found) string {
	middle, at := s.phone.area().Centre(), e.part.Centre()
	horizontal := s.direction == "LEFT" || s.direction == "RIGHT"
	switch {
	case horizontal && at.X < middle.X:
		return "LEFT"
	case horizontal:
		return "RIGHT"
	case at.Y < middle.Y:
		return "UP"
	}
	return "DOWN"
}

// scrollBand scrolls with the finger in the middle of the screen, or in a band in its upper or lower part.
func (d *phone) scrollBand(ctx context.Context, direction, start string) error {
	vertical := direction == "DOWN" || direction == "UP"
	switch {
	case start == "TOP" && vertical:
		return d.scroll(ctx, direction, float64(d.area().Height())/4, percentPoint{500, 275}) // 15 to 40 %
	case start == "BOTTOM" && vertical:
		return d.scroll(ctx, direction, float64(d.area().Height())/4, percentPoint{500, 725}) // 60 to 85 %
	case start == "TOP":
		return d.scroll(ctx, direction, 0, percentPoint{500, 275})
	case start == "BOTTOM":
		return d.scroll(ctx, direction, 0, percentPoint{500, 725})
	}
	return d.scroll(ctx, direction, 0, percentPoint{500, 500})
}
