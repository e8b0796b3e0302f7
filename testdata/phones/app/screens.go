package app

import (
	"fmt"
	"strings"

	"github.com/trailblaze/trailblaze/pkg/screen"
)

// Lengths of the layout, in units: 3 pixels on Android, a point on iOS.
const (
	barHeight      = 56
	topInset       = 48 // below the status bar
	rowHeight      = 80
	tabsHeight     = 60
	keyboardHeight = 300
)

// windows returns what is on the screen, from the back to the front.
func (d *Device) windows() []Window {
	d.turn()
	if d.locked {
		return []Window{d.lockScreen()}
	}
	var windows []Window
	switch d.foreground {
	case ShopID:
		windows = append(windows, Window{Package: ShopID, Root: d.shop()})
		if d.ui.dialog {
			windows = append(windows, Window{ShopID, DialogWindow, d.deleteDialog(), true})
		}
	case BrowserID:
		windows = append(windows, Window{Package: BrowserID, Root: d.browser()})
	default:
		windows = append(windows, Window{Package: d.foreground, Root: d.home()})
	}
	if d.promptShown() {
		windows = append(windows, Window{d.promptID(), SystemWindow, d.permissionPrompt(), true})
	}
	if d.options.Banner && d.platform == IOS {
		windows = append(windows, Window{Package: iosHome, Kind: BannerWindow, Root: d.banner()})
	}
	if d.control.shade {
		windows = append(windows, d.shade())
	}
	if d.keyboardShown() {
		windows = append(windows, Window{Package: androidKeys, Kind: KeyboardWindow, Root: d.keyboardArea()})
	}
	return windows
}

func (d *Device) promptID() string {
	if d.platform == IOS {
		return iosHome
	}
	return androidPrompt
}

// box returns a rectangle in units of the layout. A width or height of 0 or less is counted from the right or the
// bottom of the screen.
func (d *Device) box(left, top, width, height int) screen.Rect {
	r := screen.Rect{Left: left * d.unit, Top: top * d.unit}
	r.Right, r.Bottom = r.Left+width*d.unit, r.Top+height*d.unit
	if width <= 0 {
		r.Right = d.width + width*d.unit
	}
	if height <= 0 {
		r.Bottom = d.height + height*d.unit
	}
	return r
}

// rightBox returns a rectangle whose left is counted from the right of the screen.
func (d *Device) rightBox(right, top, width, height int) screen.Rect {
	r := d.box(0, top, width, height)
	r.Left, r.Right = d.width-right*d.unit, d.width-right*d.unit+width*d.unit
	return r
}

func (d *Device) full() screen.Rect { return screen.Rect{Right: d.width, Bottom: d.height} }

func text(id, s string, bounds screen.Rect) *Element {
	return &Element{Kind: Text, ID: id, Text: s, Bounds: bounds}
}

func button(id, s string, bounds screen.Rect, tap func()) *Element {
	return &Element{Kind: Button, ID: id, Text: s, Bounds: bounds, tap: tap, States: screen.States{Clickable: true}}
}

func imageButton(id, label string, bounds screen.Rect, tap func()) *Element {
	return &Element{
		Kind: ImageButton, ID: id, Label: label, Bounds: bounds, tap: tap, States: screen.States{Clickable: true},
	}
}

// field returns a text field, which gets the focus when it is touched.
func (d *Device) field(kind Kind, id, hint string, bounds screen.Rect) *Element {
	return &Element{
		Kind: kind, ID: id, Text: d.ui.fields[id].text, Hint: hint, Bounds: bounds, tap: func() { d.focus(id) },
		States: screen.States{Clickable: true, LongClickable: true, Editable: true, Focused: d.ui.focus == id},
	}
}

// page returns the root of a screen of the shop, with its title, and with a button that goes back where that is
// possible.
func (d *Device) page(title string) *Element {
	heading := text("title", title, d.box(72, topInset, -112, barHeight))
	heading.Heading = true
	bar := (&Element{Kind: NavigationBar, ID: "toolbar", Bounds: d.box(0, topInset, 0, barHeight), Unimportant: true}).add(heading)
	if d.options.InputArea {
		bar.ID = "inputArea"
	}
	if len(d.ui.stack) > 1 {
		bar.add(imageButton("up", "Navigate up", d.box(4, topInset+4, 48, 48), func() { d.back() }))
	}
	return (&Element{ID: "content", Bounds: d.full(), Unimportant: true}).add(bar)
}

// shop returns the screen of the shop that is shown.
func (d *Device) shop() *Element {
	switch d.ui.screen() {
	case SignIn:
		return d.signInScreen()
	case Orders:
		return d.ordersScreen()
	case Order:
		return d.orderScreen()
	case Settings:
		return d.settingsScreen()
	case Animation:
		return d.animationScreen()
	case WebPage:
		return d.page("Web page").add(&Element{Kind: Web, ID: "web", Bounds: d.box(0, topInset+barHeight, 0, 0)})
	case Secure:
		return d.page("Card").add(text("card", "4000 0000 0000 0002", d.box(16, 160, -16, 40)))
	case Profile:
		return d.profileScreen()
	case EnterCode:
		return d.codeScreen()
	case Cards:
		return d.cardsScreen()
	case Catalog:
		return d.catalogScreen()
	case Unicode:
		return d.page("Unicode").add(text("characters", Characters, d.box(16, 160, -16, 200)))
	}
	return d.page("Corner Shop")
}

func (d *Device) signInScreen() *Element {
	password := d.field(Field, "password", "Password", d.box(24, 260, -24, 56))
	password.Password = true
	page := d.page("Corner Shop").add(
		d.field(Field, "email", "Email", d.box(24, 180, -24, 56)),
		password,
		// The keyboard covers the button.
		button("sign_in", "Sign in", d.box(24, 600, -24, 56), d.signIn),
	)
	if d.options.MiddleButton {
		page.add(button("forgot", "Forgot the password?", d.box(24, 396, -24, 56), func() { d.ui.error = "A new password was sent" }))
	}
	if d.ui.error != "" {
		page.add(text("error", d.ui.error, d.box(24, 330, -24, 32)))
	}
	return page
}

func (d *Device) listArea() screen.Rect { return d.box(0, topInset+barHeight, 0, -tabsHeight) }

func (d *Device) ordersScreen() *Element {
	page := d.page("Orders")
	page.Children[0].add(imageButton("settings", "Settings", d.rightBox(52, topInset+4, 48, 48), func() { d.push(Settings) }))
	if d.ui.loading != 0 {
		return page.add(&Element{Kind: Spinner, ID: "loading", Label: "Loading", Bounds: d.box(160, 380, 48, 48)})
	}
	tabs := &Element{Kind: TabBar, ID: "tabs", Bounds: d.box(0, d.height/d.unit-tabsHeight, 0, tabsHeight), Unimportant: true}
	top := d.height/d.unit - tabsHeight
	tabs.add(text("count", countText(len(d.data.orders)), d.box(16, top+16, 200, 28)))
	// It lies above the list, and covers part of what is there.
	help := imageButton("help", "Help", d.rightBox(72, top-72, 56, 56), func() { d.start(BrowserID, "https://shop.example.com/help", nil) })
	return page.add(d.orderList(), tabs, help)
}

func countText(n int) string {
	if n == 1 {
		return "1 order"
	}
	return fmt.Sprintf("%d orders", n)
}

// orderList returns the list with its rows. Android has those on the screen and one more on each side, iOS has all.
func (d *Device) orderList() *Element {
	area := d.listArea()
	list := &Element{Kind: List, ID: "orders", Bounds: area, scroll: d.scrollBy, States: screen.States{Scrollable: true}}
	for i, n := range d.data.orders {
		top := area.Top - d.ui.scrolled + i*rowHeight*d.unit
		row := d.orderRow(i, n, top)
		seen := !row.Bounds.Intersect(area).Empty()
		near := row.Bounds.Bottom > area.Top-rowHeight*d.unit && row.Bounds.Top < area.Bottom+rowHeight*d.unit
		if !seen {
			row.walk(func(e *Element) { e.Hidden = true })
		}
		if near || d.platform == IOS {
			list.add(row)
		}
	}
	return list
}

func (d *Device) orderRow(i, n, top int) *Element {
	at := func(left, down, width, height int) screen.Rect {
		r := d.box(left, 0, width, height)
		r.Top, r.Bottom = top+down*d.unit, top+(down+height)*d.unit
		return r
	}
	remove := imageButton("delete", deleteText(n), at(0, 16, 48, 48), func() { d.askToDelete(n) })
	remove.Bounds.Left, remove.Bounds.Right = d.width-64*d.unit, d.width-16*d.unit
	row := &Element{
		Kind: Row, ID: "row", Bounds: at(0, 0, 0, rowHeight), Row: &i,
		States: screen.States{Clickable: true, LongClickable: true},
		tap:    func() { d.showOrder(n) }, hold: func() { d.data.archived[n] = true },
	}
	state := customer(n)
	if d.data.archived[n] {
		state = "Archived"
	}
	return row.add(
		text("number", orderName(n), at(16, 12, 160, 28)),
		text("customer", state, at(16, 44, 160, 24)),
		text("price", price(n), at(190, 26, 80, 28)),
		remove,
	)
}

func (d *Device) orderScreen() *Element {
	n := d.ui.order
	picture := &Element{
		Kind: Image, ID: "picture", Label: "Picture of the parcel", Bounds: d.box(24, 120, 120, 120),
		States: screen.States{Clickable: true}, pinch: func() { d.ui.zoomed = true }, double: func() { d.ui.zoomed = true },
	}
	if d.ui.zoomed {
		picture.Label += ", zoomed"
	}
	disabled := button("refund", "Refund", d.box(24, 520, 150, 56), nil)
	disabled.Disabled = true
	return d.page(orderName(n)).add(
		picture,
		text("customer", customer(n), d.box(160, 120, -24, 32)),
		text("price", price(n), d.box(160, 160, -24, 32)),
		d.field(TextArea, "note", "Note", d.box(24, 260, -24, 120)),
		button("save", "Save note", d.box(24, 400, 150, 56), d.saveNote),
		disabled,
		button("delete", "Delete", d.box(24, 600, -24, 56), func() { d.askToDelete(n) }),
	)
}

func (d *Device) deleteDialog() *Element {
	dialog := &Element{Kind: Dialog, ID: "dialog", Bounds: d.box(32, 300, -32, 180)}
	return dialog.add(
		text("alertTitle", deleteText(d.ui.order)+"?", d.box(56, 320, -56, 32)),
		text("message", "This cannot be undone.", d.box(56, 360, -56, 28)),
		button("button2", "Cancel", d.box(56, 416, 100, 48), func() { d.ui.dialog = false }),
		button("button1", "Delete", d.rightBox(156, 416, 100, 48), d.deleteOrder),
	)
}

func (d *Device) permissionPrompt() *Element {
	prompt := &Element{Kind: Dialog, ID: "grant_dialog", Bounds: d.box(24, 280, -24, 240)}
	ask, yes, no := "Allow Corner Shop to send you notifications?", "Allow", "Don't allow"
	if d.platform == IOS {
		ask, no = "“Corner Shop” Would Like to Send You Notifications", "Don’t Allow"
	}
	deny := button("permission_deny_button", no, d.box(48, 400, -48, 48), func() { d.answerPrompt(false) })
	allow := button("permission_allow_button", yes, d.box(48, 456, -48, 48), func() { d.answerPrompt(true) })
	return prompt.add(text("permission_message", ask, d.box(48, 300, -48, 80)), deny, allow)
}

func (d *Device) banner() *Element {
	return button("NotificationShortLookView", "Your parcel is on its way", d.box(8, 8, -8, 84), func() {})
}

func (d *Device) keyboardArea() *Element {
	top := d.height/d.unit - keyboardHeight
	keyboard := &Element{Kind: Keyboard, ID: "keyboard", Bounds: d.box(0, top, 0, 0)}
	for row, keys := range []string{"qwertyuiop", "asdfghjkl", "zxcvbnm"} {
		for column, key := range strings.Split(keys, "") {
			bounds := d.box(8+column*34, top+16+row*60, 32, 52)
			keyboard.add(&Element{Kind: KeyboardKey, Label: key, Bounds: bounds})
		}
	}
	if d.platform == IOS {
		keyboard.add(button("Return", "return", d.rightBox(108, top+196, 100, 52), func() { d.typeRune('\n') }))
	}
	return keyboard
}

func (d *Device) settingsScreen() *Element {
	page := d.page("Settings")
	page.add(&Element{
		Kind: Switch, ID: "notify", Text: "Order updates", Bounds: d.box(16, 120, -16, 56),
		tap:    func() { d.data.notifications = !d.data.notifications },
		States: screen.States{Clickable: true, Checkable: true, Checked: toggle(d.data.notifications)},
	})
	for i, name := range []string{Animation, WebPage, Secure, Unicode, Profile} {
		id := strings.ReplaceAll(name, " ", "_")
		page.add(button(id, strings.ToUpper(name[:1])+name[1:], d.box(16, 200+i*64, -16, 56), func() { d.push(name) }))
	}
	return page.add(
		button("sign_out", "Sign out", d.box(16, 544, -16, 56), d.signOut),
		button("freeze", "Freeze", d.box(16, 676, -16, 56), d.freeze),
		button("crash", "Crash", d.box(16, 738, -16, 56), d.crash),
	)
}

func toggle(on bool) screen.Toggle {
	if on {
		return screen.ToggleOn
	}
	return screen.ToggleOff
}

// animationScreen has a spinner and a button that move with each read of the screen, until the animation is stopped.
func (d *Device) animationScreen() *Element {
	shift := 0
	if d.ui.moving != 0 {
		shift = d.ui.frame % 8 * 20
	}
	page := d.page("Animation").add(
		&Element{Kind: Spinner, ID: "progress", Label: "Working", Bounds: d.box(20+shift, 160, 48, 48)},
		button("continue", "Continue", d.box(24, 300+shift, 160, 56), func() { d.ui.went = true }),
	)
	if d.ui.went {
		page.add(text("result", "Continued", d.box(24, 660, -24, 32)))
	}
	return page
}

func (d *Device) home() *Element {
	root := &Element{ID: "workspace", Bounds: d.full()}
	return root.add(
		button("icon", "Corner Shop", d.box(24, 600, 90, 90), func() { d.start(ShopID, "", nil) }),
		button("icon", "Browser", d.box(140, 600, 90, 90), func() { d.start(BrowserID, "", nil) }),
	)
}

func (d *Device) browser() *Element {
	root := &Element{ID: "browser", Bounds: d.full()}
	return root.add(
		text("address", d.url, d.box(16, topInset, -16, barHeight)),
		&Element{Kind: Web, ID: "page", Bounds: d.box(0, topInset+barHeight, 0, 0)},
	)
}
