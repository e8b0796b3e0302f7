package mobile

import (
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/device"
	"github.com/trailblaze/trailblaze/pkg/fault"
	"github.com/trailblaze/trailblaze/pkg/screen"
)

// rule returns a rule of assertWaypoint for elements of Android with a text. more are further keys and values.
func rule(text string, more ...any) any {
	r := map[string]any{"selector": byText(text)["nodeSelector"]}
	for i := 0; i < len(more); i += 2 {
		key, _ := more[i].(string)
		r[key] = more[i+1]
	}
	return r
}

func TestAssertWaypoint(t *testing.T) {
	t.Parallel()
	type args = map[string]any
	off := node("TextView", "Tea", rect(0, 3000, 100, 3100)) // which counts, as in findMatches
	f := &fake{nodes: always(node("TextView", "Orders", rect(0, 0, 100, 100)), node("TextView", "Tea", rect(0, 100, 100, 200)), off)}
	onPhone(t, f, device.Session{}, func(p *phoneTest) {
		p.does("assertWaypoint", args{"id": "orders", "required": []any{rule("Orders"), rule("Tea", "minCount", 2)}, "forbidden": []any{rule("Loading.*")}},
			`the screen is "orders", by 3 rules`)
		p.does("assertWaypoint", args{"forbidden": []any{rule("Tea", "maxCount", 3)}}, "the screen is the expected one, by 1 rule")
		p.fails("assertWaypoint", args{
			"id": "cart", "timeoutMs": 10, "required": []any{rule("Cart", "description", "title"), rule("Tea", "minCount", 3)}, "forbidden": []any{rule("Orders")},
		}, `the screen is not "cart": required "title": found 0, expected at least 1; required text "Tea": found 2, expected at least 3; `+
			`forbidden text "Orders": found 1, expected none (within 10ms; app com.example.orders)`)
		ios := args{"selector": args{"iosMaestro": args{"textRegex": "Tea"}}}
		p.fails("assertWaypoint", args{"forbidden": []any{ios}}, "the selector has the driver block iosMaestro, but this screen answers to androidAccessibility and androidMaestro")
	})
	check := waypointCommand(Android).Check
	for want, a := range map[string]args{
		"no rule says what the screen has":             {"id": "x"},
		"forbidden[0].selector.textRegex: unknown key": {"forbidden": []any{args{"selector": args{"textRegex": "x"}}}},
		"no argument says which element is meant":      {"required": []any{args{"selector": args{}}}},
	} {
		if known := fault.As(check(a)); known == nil || known.Kind != fault.InvalidArguments || known.Message != want {
			t.Errorf("%v: %v", a, known)
		}
	}
}

// TestWaypointIsAwaited has a screen on which the elements of rules follow one another before they are there at once, and
// a forbidden one that comes after an animation.
func TestWaypointIsAwaited(t *testing.T) {
	t.Parallel()
	a, b := node("TextView", "A", rect(0, 0, 100, 100)), node("TextView", "B", rect(0, 100, 100, 200))
	turns := &fake{nodes: func(_ *fake, at time.Duration) []*screen.Node {
		switch {
		case at > 3*time.Second:
			return []*screen.Node{a, b}
		case at/(200*time.Millisecond)%2 == 0:
			return []*screen.Node{a}
		}
		return []*screen.Node{b}
	}}
	both := map[string]any{"required": []any{rule("A"), rule("B")}}
	onPhone(t, turns, device.Session{}, func(p *phoneTest) {
		start := time.Now()
		p.does("assertWaypoint", both, "the screen is the expected one, by 2 rules")
		if took := time.Since(start); took < 2*time.Second {
			t.Errorf("it passed after %s, before both were there at once", took)
		}
	})
	opens := &fake{nodes: func(f *fake, at time.Duration) []*screen.Node {
		button := node("Button", "Delete", rect(0, 0, 100, 100))
		switch {
		case len(f.touched) == 0:
			return []*screen.Node{button}
		case at < time.Second:
			button.Bounds = rect(0, int(at/time.Millisecond), 100, 1000)
			return []*screen.Node{button}
		}
		return []*screen.Node{button, node("TextView", "Failed", rect(0, 1000, 1000, 1100))}
	}}
	onPhone(t, opens, device.Session{}, func(p *phoneTest) {
		p.call("tap", map[string]any{"text": "Delete"})
		p.fails("assertWaypoint", map[string]any{"timeoutMs": 0, "required": []any{rule("Delete")}, "forbidden": []any{rule("Failed")}},
			`the screen is not the expected one: forbidden text "Failed": found 1, expected none (app com.example.orders)`)
	})
}
