package app

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The screens of the shop.
const (
	SignIn    = "sign-in"
	Orders    = "orders"
	Order     = "order"
	Settings  = "settings"
	Animation = "animation"
	WebPage   = "web page"
	Secure    = "secure"
	Unicode   = "unicode"
	Profile   = "profile"
	EnterCode = "code"
)

// The orders, the first one on top of the list.
const (
	FirstOrder = 1149
	orderCount = 30
)

// Characters is the text of the screen Unicode: several scripts, both directions, emoji of several code points,
// combining marks, white space, what XML and JSON escape, and characters that XML cannot have.
const Characters = "Grüße, Ελλάδα, Привет, 日本語, 한국어, नमस्ते, שלום, مرحبا 👩‍👩‍👧‍👦🏳️‍🌈👍🏽 e\u0301 \u00a0\u200b\u200f" +
	"\ttab\nline & <b> \"quoted\" 'single' ]]> \\ \u0001\u001b\ufffe"

// shopData is what the shop has stored.
type shopData struct {
	signedIn      bool
	notifications bool // the switch in the settings
	orders        []int
	archived      map[int]bool
	notes         map[int]string

	phone, name, pin string // of the profile
}

func newShopData() shopData {
	data := shopData{archived: map[int]bool{}, notes: map[int]string{}, pin: firstPIN}
	for i := range orderCount {
		data.orders = append(data.orders, FirstOrder-i)
	}
	return data
}

// shopUI is what the running shop shows.
type shopUI struct {
	stack    []string // of screens; the last one is shown
	fields   map[string]*field
	focus    string // the id of the field that has the focus
	next     string // the one that gets it after nextIn reads
	nextIn   int
	error    string // on the sign-in screen and that of the code
	order    int    // on the order screen
	pending  string // URL that is opened after signing in
	dialog   bool   // asks whether to delete the order
	scrolled int    // of the list, in the unit of the bounds
	zoomed   bool   // the picture of the order
	loading  int    // reads until the list is loaded
	frame    int    // of the animation
	moving   int    // reads until the animation stops; -1 for never
	went     bool   // Continue was pressed on the animation screen
	notice   int    // reads until the notice on the screen Cards is gone
	accepted bool   // the cookies of the screen Catalog
	result   string // of the last touch on the screens Cards and Catalog
	fling    int    // how far the list still moves by itself, in the unit of the bounds
}

func (d *Device) startShop(cold bool, url string) {
	if cold {
		d.ui = shopUI{fields: map[string]*field{}, moving: -1}
		d.ui.fields["email"] = &field{enter: d.focusNext}
		d.ui.fields["password"] = &field{enter: d.signIn}
		d.ui.fields["note"] = &field{}
		d.addFields()
		if d.data.signedIn {
			d.showOrders()
		} else {
			d.ui.stack = []string{SignIn}
		}
	}
	if url == "" {
		return
	}
	switch {
	case d.data.signedIn, url == "shop://"+Cards, url == "shop://"+Catalog:
		d.openLink(url)
	case url == "shop://code":
		d.push(EnterCode)
	default:
		d.ui.pending = url
	}
}

func (d *Device) openLink(url string) {
	number, found := strings.CutPrefix(url, "shop://orders/")
	n, err := strconv.Atoi(number)
	if found && err == nil && slices.Contains(d.data.orders, n) {
		d.showOrder(n)
	} else if screen, found := strings.CutPrefix(url, "shop://"); found && slices.Contains([]string{Settings, Profile, Cards, Catalog}, screen) {
		d.push(screen)
	}
}

// Show starts the app anew, signed in, and shows one of its screens, as if somebody had gone there. No prompt is shown.
func (d *Device) Show(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if name != SignIn && name != EnterCode {
		d.data.signedIn = true
	}
	d.stop(ShopID)
	d.start(ShopID, "", nil)
	d.prompt = false
	switch name {
	case SignIn, EnterCode:
		d.data.signedIn = false
		d.ui.stack = []string{name}
	case Orders:
	case Order:
		d.showOrder(FirstOrder)
	default:
		d.push(name)
	}
}

// Screen returns which screen of the shop is shown; empty when it does not run.
func (d *Device) Screen() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ui.screen()
}

func (u *shopUI) screen() string {
	if len(u.stack) == 0 {
		return ""
	}
	return u.stack[len(u.stack)-1]
}

// SignedIn reports whether somebody is signed in to the shop.
func (d *Device) SignedIn() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.data.signedIn
}

// OrderList returns the numbers of the orders in the list.
func (d *Device) OrderList() []int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.data.orders)
}

// Note returns the note of an order.
func (d *Device) Note(order int) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.data.notes[order]
}

// StopMoving stops the animation after some reads of the screen.
func (d *Device) StopMoving(reads int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ui.moving = reads
}

func (d *Device) push(name string) {
	d.blur()
	d.ui.stack = append(d.ui.stack, name)
	d.ui.result, d.ui.notice = "", noticeReads
}

func (d *Device) showOrders() {
	d.blur()
	d.ui.stack = []string{Orders}
	d.ui.loading = d.options.LoadingReads
	if _, asked := d.permissions[ShopID][Notifications]; !asked && !d.options.NoPrompt {
		d.prompt = true
	}
}

func (d *Device) showOrder(n int) {
	d.push(Order)
	d.ui.order, d.ui.zoomed = n, false
	d.ui.fields["note"].text = d.data.notes[n]
}

func (d *Device) signIn() {
	if d.ui.fields["email"].text != Email || d.ui.fields["password"].text != Password {
		d.ui.error = "Wrong email or password"
		d.keyboard = false
		return
	}
	d.data.signedIn, d.ui.error = true, ""
	d.showOrders()
	if d.ui.pending != "" {
		d.openLink(d.ui.pending)
		d.ui.pending = ""
	}
}

func (d *Device) signOut() {
	d.data.signedIn = false
	d.blur()
	for _, f := range d.ui.fields {
		f.text = ""
	}
	d.ui.stack = []string{SignIn}
}

func (d *Device) deleteOrder() {
	d.data.orders = slices.DeleteFunc(d.data.orders, func(n int) bool { return n == d.ui.order })
	d.ui.dialog = false
	d.ui.stack = []string{Orders}
	d.scrollBy(0)
	d.blur()
}

func (d *Device) askToDelete(order int) {
	d.blur()
	d.ui.order, d.ui.dialog = order, true
}

func (d *Device) saveNote() {
	d.data.notes[d.ui.order] = d.ui.fields["note"].text
	d.blur()
}

// scrollBy moves the list with the finger, as far as it goes.
func (d *Device) scrollBy(dy int) {
	area := d.listArea()
	longest := max(0, len(d.data.orders)*rowHeight*d.unit-area.Height())
	d.ui.scrolled = min(max(0, d.ui.scrolled-dy), longest)
}

func (d *Device) focus(id string) {
	d.ui.focus, d.ui.nextIn, d.keyboard = id, 0, true
	d.ui.fields[id].fresh = true
}

// blur takes the focus away and hides the keyboard.
func (d *Device) blur() { d.ui.focus, d.ui.nextIn, d.keyboard = "", 0, false }

func (d *Device) focusNext() {
	switch {
	case d.ui.screen() == SignIn && d.ui.focus == "email":
		d.focus("password")
	case d.ui.screen() == SignIn:
		d.focus("email")
	case d.ui.screen() == Order:
		d.focus("note")
	}
}

// focused returns the field that has the focus, nil without one.
func (d *Device) focused() *field {
	if d.foreground != ShopID || d.ui.dialog || d.promptShown() || d.locked || d.asleep {
		return nil
	}
	return d.ui.fields[d.ui.focus]
}

func (d *Device) keyboardShown() bool { return d.inputShown() && !d.options.HardwareKeyboard }

// inputShown reports whether an input method is active, with or without a keyboard on the screen.
func (d *Device) inputShown() bool { return d.keyboard && d.focused() != nil }

func orderName(n int) string { return fmt.Sprintf("Order %d", n) }

func deleteText(n int) string { return fmt.Sprintf("Delete order %d", n) }

// customer returns who ordered.
func customer(n int) string {
	names := []string{"Ada Lovelace", "Grace Hopper", "Alan Turing", "Edsger Dijkstra", "Barbara Liskov"}
	return names[n%len(names)]
}

func price(n int) string { return fmt.Sprintf("$%d.%02d", n%90+5, n*7%100) }

// Moving reports whether an animation runs, so that the screen is never idle.
func (d *Device) Moving() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.foreground == ShopID && (d.ui.screen() == Animation && d.ui.moving != 0 || d.ui.loading > 0)
}
