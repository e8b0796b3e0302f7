package app_test

import (
	"slices"
	"testing"
	"time"

	"github.com/trailblaze/trailblaze/pkg/screen"
	"github.com/trailblaze/trailblaze/testdata/phones/app"
)

// find returns the element with an id or a text in the topmost window that has one.
func find(d *app.Device, name string) *app.Element {
	for _, w := range slices.Backward(d.Look()) {
		if e := below(w.Root, name); e != nil {
			return e
		}
	}
	return nil
}

func below(e *app.Element, name string) *app.Element {
	if e.ID == name || e.Text == name || e.Label == name {
		return e
	}
	for _, child := range e.Children {
		if found := below(child, name); found != nil {
			return found
		}
	}
	return nil
}

// tap touches the middle of an element.
func tap(t *testing.T, d *app.Device, name string) {
	t.Helper()
	e := find(d, name)
	if e == nil {
		t.Fatalf("%s is not on the screen", name)
	}
	d.Touch(app.Finger{Path: []screen.Point{e.Bounds.Centre()}})
}

// swipe moves a finger up or down.
func swipe(d *app.Device, from, to int) {
	d.Touch(app.Finger{Path: []screen.Point{{X: 400, Y: from}, {X: 400, Y: to}}})
}

// want checks what the last touch acted on, and how many touches changed nothing.
func want(t *testing.T, d *app.Device, target string, wrong int) {
	t.Helper()
	touches := d.Touches()
	if last := touches[len(touches)-1]; last.Target != target || d.WrongTouches() != wrong {
		t.Errorf("the touch %+v acted on %q, %d touches changed nothing; want %q, %d", last.Fingers, last.Target, d.WrongTouches(), target, wrong)
	}
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	d := app.New(app.Android, app.Options{LoadingReads: 2})
	d.Start(app.ShopID, "shop://orders/1148")
	tap(t, d, "email")
	_ = d.Type(app.Email + "\n") // goes on to the password
	_ = d.Type("pears\n")        // signs in
	if e := find(d, "error"); e == nil || d.SignedIn() {
		t.Fatalf("error: %v, signed in: %v", e, d.SignedIn())
	}
	_ = d.SetText(app.Password)
	d.HideKeyboard()
	tap(t, d, "Sign in")
	if !d.SignedIn() || d.Screen() != app.Order || find(d, "Order 1148") == nil {
		t.Errorf("signed in: %v, screen: %s", d.SignedIn(), d.Screen())
	}
	tap(t, d, "Don't allow")
	d.Press(app.KeyBack)
	for _, loading := range []bool{false, false, true} { // the screen was not read yet
		if got := find(d, "row") != nil; got != loading {
			t.Errorf("rows: %v, want %v", got, loading)
		}
		d.Read()
	}
}

func TestTouchesReachTheTopmostElement(t *testing.T) {
	t.Parallel()
	d := app.New(app.Android, app.Options{})
	d.Show(app.Orders)
	help := find(d, "help").Bounds.Centre()
	d.Touch(app.Finger{Path: []screen.Point{help}}) // above a row
	want(t, d, "help", 0)

	d.Show(app.Orders)
	tap(t, d, "count") // only a text
	want(t, d, "", 1)
	tap(t, d, "Delete order 1148")
	want(t, d, "delete", 1)
	row := find(d, "row").Bounds.Centre()
	d.Touch(app.Finger{Path: []screen.Point{row}}) // below the dialog
	want(t, d, "", 2)
	d.Prompt()
	tap(t, d, "count") // beside the prompt
	want(t, d, "", 3)
	tap(t, d, "Allow")
	tap(t, d, "button1")
	want(t, d, "button1", 3)
	if slices.Contains(d.OrderList(), 1148) {
		t.Error("the order was not deleted")
	}
	d.Show(app.Order)
	tap(t, d, "refund") // disabled
	want(t, d, "", 4)
}

func TestScrolling(t *testing.T) {
	t.Parallel()
	d := app.New(app.Android, app.Options{})
	d.Show(app.Orders)
	list := find(d, "orders").Bounds
	swipe(d, 1800, 1800-264) // a list follows after 24 pixels
	want(t, d, "orders", 0)
	if top := find(d, "Order 1149"); top == nil || top.Bounds.Top >= list.Top || !top.Hidden {
		t.Errorf("the first row is one row above the list: %+v", top)
	}
	swipe(d, 1800, 700)
	if find(d, "Order 1149") != nil {
		t.Error("rows far above the list are still there")
	}
	swipe(d, 700, 2200)
	swipe(d, 700, 2200)
	if top := find(d, "row").Bounds.Top; top != list.Top {
		t.Errorf("scrolled beyond the begin: %d", top)
	}
	for range 10 {
		swipe(d, 2100, 400)
	}
	if last := find(d, "Order 1120"); last == nil || last.Hidden {
		t.Errorf("the last row is not visible: %+v", last)
	}
	swipe(d, 2300, 2000) // on the bar below the list
	want(t, d, "", 1)
}

// A list goes on as fast as the finger was that left it, unless the finger was still before.
func TestListsGoOnByThemselves(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		platform         app.Platform
		length           int
		last, rest       time.Duration
		atLeast, atMost  int // how far the list has moved
		touched, stopped bool
	}{
		"Android":                        {app.Android, 1200, 600 * time.Millisecond, 0, 1456, 1476, false, false},
		"Android, a finger that rests":   {app.Android, 1200, 600 * time.Millisecond, 150 * time.Millisecond, 1176, 1176, false, false},
		"Android, one that rests little": {app.Android, 1200, 600 * time.Millisecond, 30 * time.Millisecond, 1456, 1476, false, false},
		"Android, a slow one":            {app.Android, 1200, 3 * time.Second, 0, 1177, 1196, false, false},
		"Android, a very slow one":       {app.Android, 300, 3 * time.Second, 0, 276, 276, false, false},
		"Android, touched meanwhile":     {app.Android, 1200, 600 * time.Millisecond, 0, 1177, 1376, true, true},
		"iOS":                            {app.IOS, 422, 600 * time.Millisecond, 0, 757, 772, false, false},
		"iOS, a finger that rests":       {app.IOS, 422, 600 * time.Millisecond, 150 * time.Millisecond, 414, 414, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := app.New(tt.platform, app.Options{})
			d.Show(app.Orders)
			width, height := d.Size()
			path := []screen.Point{{X: width / 2, Y: height * 3 / 4}, {X: width / 2, Y: height*3/4 - tt.length}}
			before := find(d, "Order 1142").Bounds.Top
			d.Touch(app.Finger{Path: path, Last: tt.last, Rest: tt.rest})
			d.Read()
			if tt.touched {
				tap(t, d, "Order 1142")
			}
			d.Settle()
			if moved := before - find(d, "Order 1142").Bounds.Top; moved < tt.atLeast || moved > tt.atMost {
				t.Errorf("the list moved by %d, want %d to %d", moved, tt.atLeast, tt.atMost)
			}
			if stopped := d.WrongTouches() == 1 && d.Screen() == app.Orders; stopped != tt.stopped {
				t.Errorf("a touch stopped the list: %t", stopped)
			}
		})
	}
}

// What is drawn above others takes their touches, unless it takes none.
func TestTouchesOfWhatLiesAboveEachOther(t *testing.T) {
	t.Parallel()
	for _, platform := range []app.Platform{app.Android, app.IOS} {
		d := app.New(platform, app.Options{})
		d.Show(app.Cards)
		tap(t, d, "pay_label")
		want(t, d, "pay", 0)
		tap(t, d, "card_title")
		if e := find(d, "result"); e == nil || e.Text != "Opened the gift card" {
			t.Errorf("the touch below the layer: %+v", e)
		}
		tap(t, d, "terms")
		want(t, d, "", 1)
		for range 6 {
			d.Read()
		}
		tap(t, d, "terms")
		want(t, d, "terms", 1)
		d.Show(app.Catalog)
		tap(t, d, "menu")
		want(t, d, "menu", 1)
		tap(t, d, "contact")
		want(t, d, "", 2)
		tap(t, d, "accept")
		tap(t, d, "contact")
		want(t, d, "contact", 2)
	}
}

func TestLongPressAndPinch(t *testing.T) {
	t.Parallel()
	d := app.New(app.IOS, app.Options{})
	d.Show(app.Orders)
	at := find(d, "Order 1149").Bounds.Centre()
	d.Touch(app.Finger{Path: []screen.Point{at}, Hold: 600 * time.Millisecond})
	if e := find(d, "Archived"); e == nil {
		t.Error("the long press did nothing")
	}
	d.Show(app.Order)
	middle := find(d, "picture").Bounds.Centre()
	d.Touch(
		app.Finger{Path: []screen.Point{middle, {X: middle.X - 50, Y: middle.Y}}},
		app.Finger{Path: []screen.Point{middle, {X: middle.X + 50, Y: middle.Y}}},
	)
	if find(d, "Picture of the parcel, zoomed") == nil {
		t.Errorf("touches: %+v", d.Touches())
	}
	swipeBack := []screen.Point{{X: 2, Y: 400}, {X: 300, Y: 400}}
	d.Touch(app.Finger{Path: swipeBack})
	if d.Screen() != app.Orders {
		t.Errorf("screen: %s", d.Screen())
	}
}

func TestAppsAndTheirData(t *testing.T) {
	t.Parallel()
	d := app.New(app.Android, app.Options{NoPrompt: true})
	d.Show(app.Settings)
	tap(t, d, "notify")
	d.Press(app.KeyHome)
	d.Start(app.ShopID, "")
	if d.Screen() != app.Settings {
		t.Errorf("brought to the front at %s", d.Screen())
	}
	d.Stop(app.ShopID)
	if d.Foreground() == app.ShopID || d.Running(app.ShopID) || d.Screen() != "" {
		t.Error("the app runs")
	}
	d.Start(app.ShopID, "")
	if d.Screen() != app.Orders {
		t.Errorf("started anew at %s", d.Screen())
	}
	d.SetPermission(app.ShopID, "camera", true)
	d.Clear(app.ShopID)
	d.Start(app.ShopID, "")
	if d.Screen() != app.SignIn || len(d.Permissions(app.ShopID)) != 0 {
		t.Errorf("cleared, and started at %s with %v", d.Screen(), d.Permissions(app.ShopID))
	}
	if cold := d.Launches(); len(cold) != 4 || cold[1].Cold || !cold[2].Cold {
		t.Errorf("launches: %+v", cold)
	}
}

func TestTyping(t *testing.T) {
	t.Parallel()
	d := app.New(app.Android, app.Options{LoseFirstKey: true})
	if err := d.Type("x"); err == nil {
		t.Error("typed without a field")
	}
	d.Show(app.Order)
	tap(t, d, "note")
	_ = d.Type("abc\nd")
	d.Press(app.KeyBackspace)
	if text, _ := d.FocusedText(); text != "bc\n" {
		t.Errorf("text: %q", text)
	}
	_ = d.SetText(app.Characters)
	tap(t, d, "save")
	if d.Note(app.FirstOrder) != app.Characters || d.KeyboardShown() {
		t.Errorf("note: %q", d.Note(app.FirstOrder))
	}
}

func TestBackHidesTheKeyboardFirst(t *testing.T) {
	t.Parallel()
	d := app.New(app.Android, app.Options{})
	d.Show(app.Order)
	tap(t, d, "note")
	tap(t, d, "delete") // below the keyboard
	want(t, d, "", 1)
	d.Press(app.KeyBack)
	if d.KeyboardShown() || d.Screen() != app.Order {
		t.Errorf("keyboard: %v, screen: %s", d.KeyboardShown(), d.Screen())
	}
	d.Press(app.KeyBack)
	d.Press(app.KeyBack)
	if d.Foreground() == app.ShopID || d.Screen() != app.Orders {
		t.Errorf("in front: %s, screen: %s", d.Foreground(), d.Screen())
	}
}

func TestMovingStopsAfterReads(t *testing.T) {
	t.Parallel()
	d := app.New(app.Android, app.Options{})
	d.Show(app.Animation)
	d.StopMoving(2)
	d.Read()
	before := find(d, "continue").Bounds
	d.Read()
	after := find(d, "continue").Bounds
	d.Read()
	if before == after || find(d, "continue").Bounds != after || d.Moving() {
		t.Errorf("from %v to %v to %v", before, after, find(d, "continue").Bounds)
	}
}

func TestOnRead(t *testing.T) {
	t.Parallel()
	d := app.New(app.Android, app.Options{NoPrompt: true})
	d.Show(app.Orders)
	d.OnRead(func(read int) {
		if read == 1 {
			d.Prompt()
		}
	})
	for _, windows := range []int{1, 2, 2} {
		if shown := d.Read(); len(shown) != windows {
			t.Errorf("%d windows, want %d", len(shown), windows)
		}
	}
}
