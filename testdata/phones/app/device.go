// Package app is an invented app, Corner Shop, on a simulated phone: its screens, the system around it, and what
// touches, keys and text do to them. Both simulated platforms show it.
//
// A device sees coordinates, keys and text only. A touch changes something only if it is on the topmost element at
// its point; every other touch changes nothing and is counted. Nothing happens by time: what changes by itself changes
// with the number of reads of the screen.
package app

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// Platform is the operating system of a simulated device.
type Platform int

// The platforms.
const (
	Android Platform = iota
	IOS
)

// What the app is called, and who may sign in to it.
const (
	ShopID   = "com.example.shop"
	Email    = "ada@example.com"
	Password = "apples"
)

// Other programs on the device.
const (
	BrowserID     = "com.example.browser"
	androidHome   = "com.example.launcher"
	iosHome       = "com.apple.springboard"
	androidPrompt = "com.android.permissioncontroller"
	androidKeys   = "com.example.keyboard"
)

// Notifications is the permission that the app asks for when it shows the orders.
const Notifications = "notifications"

// Finger is the path of one finger, as the device receives it.
type Finger struct {
	Path []screen.Point
	Hold time.Duration // at the first point
	// Last is how long the finger moved from the last point but one to the last one, and Rest how long it was still there
	// before it was lifted. A list moves on with the speed that follows, not at all if Last is 0.
	Last, Rest time.Duration
	Taps       int // 2 for a double tap
}

// Touch is one sequence of touch events that the device received.
type Touch struct {
	Fingers []Finger
	Kind    string // tap, double tap, long press, swipe, pinch
	// Target is the id, or else the text, of the element that it was on and that it acted on; empty when it changed
	// nothing.
	Target string
}

// Launch is one start of an app.
type Launch struct {
	App, URL  string
	Cold      bool // its process did not run
	Arguments []string
}

// Options describe a device.
type Options struct {
	// LoadingReads is how many reads of the screen the list of orders takes to load.
	LoadingReads int
	// NoPrompt leaves the prompt for notifications out.
	NoPrompt bool
	// StaysUpright keeps the app in portrait however the device is turned, as an app that declares no other orientation.
	StaysUpright bool
	// KeyboardStays says that no drag hides the keyboard of iOS, as on screens without a scroll view that has a
	// keyboardDismissMode. HidesSideways says that only a drag to the side does.
	KeyboardStays, HidesSideways bool
	// MiddleButton puts a button into the middle of the screen for signing in.
	MiddleButton bool
	// Banner shows a notification at the top of the screen of iOS, all the time.
	Banner bool
	// LoseFirstKey loses the first key that is typed into a field after it got the focus.
	LoseFirstKey bool
	// LateFocus is how many reads of the screen it takes until the focus has moved to the next field of a code, as in
	// apps whose JavaScript moves it (React Native: onChangeText, then ref.focus()).
	LateFocus int
	// HardwareKeyboard is a keyboard that is connected. The input method is active without showing anything (AOSP,
	// InputMethodService.onEvaluateInputViewShown).
	HardwareKeyboard bool
	// BackBeforeKeyboard is an app that handles the back key before the keyboard does (AOSP, View.onKeyPreIme).
	BackBeforeKeyboard bool
	// IgnoreEscape is a phone on which the key ESCAPE does nothing: neither its keyboard handles it, nor is BACK the
	// fallback for it (AOSP, data/keyboards/Virtual.kcm).
	IgnoreEscape bool
	// Dialogs says that the screens above the first one are dialogs, windows of their own, which ESCAPE closes before it
	// becomes the BACK that hides the keyboard (AOSP, android.app.Dialog.onKeyUp).
	Dialogs bool
	// MovesOn is an app that starts its next activity by itself when a text was entered: at the next key.
	MovesOn bool
	// InputArea is an app that uses Android's id of the keyboard's area for a part of its own, as miuix does in the
	// settings of HyperOS (android:id/inputArea).
	InputArea bool
}

// Device is the state of a simulated device. Its methods may be called by several goroutines.
type Device struct {
	platform      Platform
	options       Options
	width, height int
	unit          int // pixels or points of a unit of the layout

	mu          sync.Mutex
	lastEvent   time.Time
	onRead      func(read int)
	reads       int
	touches     []Touch
	wrong       int
	launches    []Launch
	keys        []string
	foreground  string
	running     map[string]bool
	permissions map[string]map[string]bool // by app
	prompt      bool
	keyboard    bool
	url         string // in the browser
	clipboard   string
	toast       string
	toastReads  int // for which toast is shown
	offline     bool
	locked      bool // the lock screen is shown
	movedOn     bool // the app has started its next activity
	asleep      bool // the screen is off
	data        shopData
	ui          shopUI
	onProcess   func(app string, change ProcessChange)
	hung        bool // the shop does not respond
	control     control
}

// New returns a device that shows its home screen, with the app installed.
func New(p Platform, o Options) *Device {
	d := &Device{platform: p, options: o, width: 1080, height: 2400, unit: 3}
	if p == IOS {
		d.width, d.height, d.unit = 390, 844, 1
	}
	d.running = map[string]bool{}
	d.permissions = map[string]map[string]bool{}
	d.foreground = d.homeID()
	d.data = newShopData()
	return d
}

// Size returns the size of the screen, in pixels on Android and points on iOS.
func (d *Device) Size() (width, height int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turn()
	return d.width, d.height
}

// OnRead sets a function that is called before each read of the screen, with the number of reads before it. It may
// call methods of the device.
func (d *Device) OnRead(f func(read int)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.onRead = f
}

// Read returns the windows on the screen from the back to the front. What moves by itself moves with it.
func (d *Device) Read() []Window {
	d.mu.Lock()
	reads, onRead := d.reads, d.onRead
	d.reads++
	d.mu.Unlock()
	if onRead != nil {
		onRead(reads)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ui.frame++
	d.passFocus()
	d.toastReads = max(0, d.toastReads-1)
	if d.ui.loading > 0 {
		d.ui.loading--
	}
	if d.ui.moving > 0 {
		d.ui.moving--
	}
	if d.ui.notice > 0 {
		d.ui.notice--
	}
	d.flingOn()
	if d.control.turning > 0 {
		d.control.turning--
	}
	return d.windows()
}

// Look returns the windows as Read does, and moves nothing. A screenshot is drawn from it.
func (d *Device) Look() []Window {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.windows()
}

// LastEvent returns when the last touch, text, key or start of an app was; zero before the first.
func (d *Device) LastEvent() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lastEvent
}

// Touches returns the sequences of touch events that the device received.
func (d *Device) Touches() []Touch {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.touches)
}

// WrongTouches returns how many touches changed nothing.
func (d *Device) WrongTouches() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.wrong
}

// Launches returns the starts of apps.
func (d *Device) Launches() []Launch {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.launches)
}

// Keys returns the names of the keys that were pressed, without typed text.
func (d *Device) Keys() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.keys)
}

// Foreground returns the id of the app in front, below prompts of the system.
func (d *Device) Foreground() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.foreground
}

// FrontWindow returns the id of the app whose window has the focus.
func (d *Device) FrontWindow() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	windows := d.windows()
	for _, w := range slices.Backward(windows) {
		if w.Kind != KeyboardWindow && (w.Kind != ShadeWindow || d.platform == IOS) {
			return w.Package
		}
	}
	return d.foreground
}

// KeyboardShown reports whether the on-screen keyboard is shown.
func (d *Device) KeyboardShown() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.keyboardShown()
}

// InputShown reports whether an input method is active, which with a hardware keyboard shows nothing.
func (d *Device) InputShown() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.inputShown()
}

// KeyboardArea returns the area of the on-screen keyboard; false when it is not shown.
func (d *Device) KeyboardArea() (screen.Rect, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.keyboardArea().Bounds, d.keyboardShown()
}

// Touch performs one sequence of touch events with fingers that are down at the same time. Taps that follow each other
// are sequences of their own.
func (d *Device) Touch(fingers ...Finger) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lastEvent = time.Now()
	t := Touch{Fingers: fingers, Kind: d.kindOf(fingers)}
	if !d.asleep {
		t.Target = d.touch(t)
	}
	if t.Target == "" {
		d.wrong++
	}
	d.touches = append(d.touches, t)
}

// longPress is how long a finger is down for a long press. Appium and others hold for half a second or more.
const longPress = 500 * time.Millisecond

func (d *Device) kindOf(fingers []Finger) string {
	if len(fingers) > 1 {
		return "pinch"
	}
	if len(fingers) == 0 || len(fingers[0].Path) == 0 {
		return "tap"
	}
	path := fingers[0].Path
	for _, p := range path {
		if max(abs(p.X-path[0].X), abs(p.Y-path[0].Y)) > slop*d.unit {
			return "swipe"
		}
	}
	if fingers[0].Taps == 2 {
		return "double tap"
	}
	if fingers[0].Hold >= longPress {
		return "long press"
	}
	return "tap"
}

// touch does what a touch causes, and returns the target.
func (d *Device) touch(t Touch) string {
	if len(t.Fingers) == 0 || len(t.Fingers[0].Path) == 0 {
		return ""
	}
	path := t.Fingers[0].Path
	start, end := path[0], path[len(path)-1]
	if d.platform == IOS && t.Kind == "swipe" && start.X < 20 && end.X-start.X > 100 {
		return d.back()
	}
	if t.Kind == "swipe" && d.opensNotifications(start, end) {
		d.control.shade = true
		return "notifications"
	}
	w, ok := windowAt(d.windows(), start)
	if !ok {
		return ""
	}
	if t.Kind == "swipe" {
		return d.swipe(w, t.Fingers[0])
	}
	if e := w.Root.scrollerAt(start); e != nil && d.ui.fling != 0 { // the touch stops the list, and does nothing else
		d.ui.fling = 0
		return ""
	}
	hit := w.Root.at(start)
	if hit == nil || hit.Disabled {
		return ""
	}
	act := map[string]func(){"tap": hit.tap, "double tap": hit.double, "long press": hit.hold, "pinch": hit.pinch}[t.Kind]
	if act == nil {
		return ""
	}
	if !d.hung || w.Package != ShopID {
		act()
	}
	return hit.Name()
}

func (d *Device) swipe(w Window, f Finger) string {
	start, end := f.Path[0], f.Path[len(f.Path)-1]
	if d.platform == IOS && d.keyboardShown() && w.Kind != KeyboardWindow {
		return d.dragBesideKeyboard(w, start, end)
	}
	e := w.Root.scrollerAt(start)
	if e == nil {
		return ""
	}
	e.scroll(d.beyondSlop(end.Y - start.Y))
	d.ui.fling = d.flingOf(f)
	return e.Name()
}

// controlReach is how far, in points, a finger may leave a control of iOS and still press it (UIControl, touchUpInside).
const controlReach = 70

// dragBesideKeyboard does what a drag on the page does while the keyboard of iOS is shown: the page, which bounces,
// takes it, and hides the keyboard. A control that is not in something that scrolls takes a short one as a tap.
func (d *Device) dragBesideKeyboard(w Window, start, end screen.Point) string {
	near := max(abs(end.X-start.X), abs(end.Y-start.Y)) < controlReach
	if hit := w.Root.at(start); near && hit != nil && hit.tap != nil && w.Root.scrollerAt(start) == nil {
		hit.tap()
		return hit.Name()
	}
	sideways := abs(end.X-start.X) > abs(end.Y-start.Y)
	if !d.options.KeyboardStays && sideways == d.options.HidesSideways {
		d.blur()
	}
	return "page"
}

// Name returns the id, or else the text or the label.
func (e *Element) Name() string {
	for _, s := range []string{e.ID, e.Text, e.Label} {
		if s != "" {
			return s
		}
	}
	return "element"
}

// ErrNoFocus is returned for text without a field that has the focus.
var ErrNoFocus = errors.New("no field has the focus")

// Type types text at the end of the field that has the focus, as a keyboard does.
func (d *Device) Type(text string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lastEvent = time.Now()
	f := d.focused()
	if f == nil {
		return ErrNoFocus
	}
	for _, r := range text {
		d.typeRune(r)
	}
	return nil
}

func (d *Device) typeRune(r rune) {
	f := d.focused()
	switch {
	case f == nil:
	case r == '\n' && f.enter != nil:
		f.enter()
	case r == '\b':
		runes := []rune(f.text)
		f.put(string(runes[:max(0, len(runes)-1)]))
	case f.fresh && d.options.LoseFirstKey:
		f.fresh = false
	default:
		f.fresh = false
		f.put(f.text + string(r))
	}
}

// SetText replaces the text of the field that has the focus, as accessibility services do.
func (d *Device) SetText(text string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lastEvent = time.Now()
	f := d.focused()
	if f == nil {
		return ErrNoFocus
	}
	f.set(text)
	return nil
}

// FocusedText returns the text of the field that has the focus.
func (d *Device) FocusedText() (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.focused()
	if f == nil {
		return "", ErrNoFocus
	}
	return f.text, nil
}

// The keys.
const (
	KeyBack      = "back"
	KeyHome      = "home"
	KeyEnter     = "enter"
	KeyBackspace = "backspace"
	KeyTab       = "tab"
	KeyEscape    = "escape"
	KeyPaste     = "paste"
)

// Press presses a key. Keys that the device does not know change nothing.
func (d *Device) Press(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lastEvent = time.Now()
	if d.asleep || d.locked {
		return
	}
	d.keys = append(d.keys, key)
	if d.options.MovesOn {
		d.movedOn = true
		d.blur()
		return
	}
	switch key {
	case KeyBack:
		d.pressBack()
	case KeyEscape:
		if d.options.Dialogs && len(d.ui.stack) > 1 {
			d.keyboard = false
		}
		if !d.options.IgnoreEscape {
			d.back()
		}
	case KeyPaste:
		if f := d.focused(); f != nil {
			f.set(f.text + d.clipboard)
		}
	case KeyHome:
		d.goHome()
	case KeyEnter:
		d.typeRune('\n')
	case KeyBackspace:
		d.typeRune('\b')
	case KeyTab:
		d.focusNext()
	}
}

// MovedOn reports whether the app has started its next activity, which shows the same.
func (d *Device) MovedOn() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.movedOn
}

// FocusedWindow returns the number of the window that has the focus, which a dialog has of its own.
func (d *Device) FocusedWindow() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.options.Dialogs {
		return 1
	}
	return len(d.ui.stack)
}

// HideKeyboard hides the on-screen keyboard, and reports whether one was shown.
func (d *Device) HideKeyboard() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lastEvent = time.Now()
	shown := d.keyboardShown()
	d.keyboard = false
	return shown
}

func (d *Device) homeID() string {
	if d.platform == IOS {
		return iosHome
	}
	return androidHome
}

func (d *Device) goHome() {
	d.foreground, d.keyboard, d.control.shade = d.homeID(), false, false
}

// pressBack does what the key does, which some apps handle before the keyboard gets it.
func (d *Device) pressBack() {
	if d.options.BackBeforeKeyboard {
		d.keyboard = false
	}
	d.back()
}

// back does what the back button does, and returns what it did it to.
func (d *Device) back() string {
	switch {
	case d.keyboardShown():
		d.keyboard = false
		return "keyboard"
	case d.control.shade:
		d.control.shade = false
		return "notifications"
	case d.promptShown():
		d.answerPrompt(false)
		return "prompt"
	case d.foreground == ShopID && d.ui.dialog:
		d.ui.dialog = false
		return "dialog"
	case d.foreground == ShopID && len(d.ui.stack) > 1:
		d.ui.stack = d.ui.stack[:len(d.ui.stack)-1]
		d.blur()
		return "screen"
	case d.foreground == d.homeID():
		return ""
	}
	if d.platform == IOS { // the edge swipe does not leave an app
		return ""
	}
	d.goHome()
	return "app"
}

// Start starts an app, or brings it to the front when it runs. url may be empty.
func (d *Device) Start(app, url string, arguments ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.start(app, url, arguments)
}

func (d *Device) start(app, url string, arguments []string) {
	d.lastEvent = time.Now()
	cold := !d.running[app]
	d.launches = append(d.launches, Launch{app, url, cold, arguments})
	d.foreground, d.running[app], d.keyboard = app, true, false
	switch app {
	case BrowserID:
		d.url = url
	case ShopID:
		d.startShop(cold, url)
	}
	if cold {
		d.processChanged(app, ProcessStarted)
	}
}

// Open opens a URL, in the app that handles it. It reports whether one does.
func (d *Device) Open(url string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	app := HandlerOf(url)
	if app != "" {
		d.start(app, url, nil)
	}
	return app != ""
}

// HandlerOf returns the app that opens a URL; empty without one.
func HandlerOf(url string) string {
	scheme, _, _ := strings.Cut(url, ":")
	switch scheme {
	case "shop":
		return ShopID
	case "http", "https":
		return BrowserID
	}
	return ""
}

// Stop ends an app, and reports whether it ran.
func (d *Device) Stop(app string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stop(app)
}

func (d *Device) stop(app string) bool { return d.end(app, ProcessEnded) }

// end ends the process of an app, and reports whether it ran.
func (d *Device) end(app string, how ProcessChange) bool {
	ran := d.running[app]
	delete(d.running, app)
	if ran {
		d.processChanged(app, how)
	}
	if app == ShopID {
		d.ui, d.prompt, d.hung = shopUI{}, false, false
	}
	if d.foreground == app {
		d.goHome()
	}
	return ran
}

// Running reports whether an app runs.
func (d *Device) Running(app string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.running[app]
}

// Clear ends an app and removes what it has stored, its permissions too.
func (d *Device) Clear(app string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop(app)
	delete(d.permissions, app)
	if app == ShopID {
		d.data = newShopData()
	}
}

// SetPermission allows or denies an app a permission, without asking. The names are the app's.
func (d *Device) SetPermission(app, permission string, allowed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.setPermission(app, permission, allowed)
}

func (d *Device) setPermission(app, permission string, allowed bool) {
	if d.permissions[app] == nil {
		d.permissions[app] = map[string]bool{}
	}
	d.permissions[app][permission] = allowed
	if app == ShopID && permission == Notifications {
		d.prompt = false
	}
}

// ResetPermission makes the system ask again.
func (d *Device) ResetPermission(app, permission string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.permissions[app], permission)
}

// Permissions returns what an app was allowed or denied.
func (d *Device) Permissions(app string) map[string]bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.permissions[app])
}

// Prompt shows the system's prompt for notifications above the app, as if the app had asked now.
func (d *Device) Prompt() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.prompt = true
}

func (d *Device) promptShown() bool { return d.prompt && d.foreground == ShopID }

func (d *Device) answerPrompt(allowed bool) {
	d.setPermission(ShopID, Notifications, allowed)
}

// Alert returns the message and the buttons of the alert or the prompt in front; false without one.
func (d *Device) Alert() (message string, buttons []string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	dialog := d.frontDialog()
	if dialog == nil {
		return "", nil, false
	}
	var texts []string
	dialog.walk(func(e *Element) {
		switch e.Kind {
		case Text:
			texts = append(texts, e.Text)
		case Button:
			buttons = append(buttons, e.Text)
		default:
		}
	})
	return strings.Join(texts, "\n"), buttons, true
}

// AnswerAlert presses the button of the alert in front, and reports whether it has one. An empty button stands for the
// last one, which accepts, or for the first one, which does not.
func (d *Device) AnswerAlert(button string, accept bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lastEvent = time.Now()
	dialog := d.frontDialog()
	if dialog == nil {
		return false
	}
	var chosen *Element
	dialog.walk(func(e *Element) {
		if e.Kind != Button {
			return
		}
		if e.Text == button || button == "" && (accept || chosen == nil) {
			chosen = e
		}
	})
	if chosen == nil {
		return false
	}
	chosen.tap()
	return true
}

func (d *Device) frontDialog() *Element {
	for _, w := range slices.Backward(d.windows()) {
		if w.Kind == DialogWindow || w.Kind == SystemWindow {
			return w.Root
		}
	}
	return nil
}

func (e *Element) walk(visit func(*Element)) {
	visit(e)
	for _, child := range e.Children {
		child.walk(visit)
	}
}

// Clipboard returns the text on the clipboard.
func (d *Device) Clipboard() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.clipboard
}

// SetClipboard replaces the text on the clipboard.
func (d *Device) SetClipboard(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clipboard = text
}

// Notify shows a notification of another app for some reads of the screen. Accessibility reports it as it reports a toast.
func (d *Device) Notify(text string, reads int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.toast, d.toastReads = text, reads
}

// Toasts returns the notices that are shown.
func (d *Device) Toasts() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.toastReads == 0 {
		return nil
	}
	return []string{d.toast}
}

// Connected reports whether the device is connected to a network.
func (d *Device) Connected() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.offline
}

// SetConnected connects the device to its networks, or disconnects it.
func (d *Device) SetConnected(connected bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.offline = !connected
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
