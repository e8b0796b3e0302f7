package app

import "github.com/trailblaze/trailblaze/pkg/screen"

// Screens on which elements lie above each other, as apps build them. They are opened by the links shop://cards and
// shop://catalog, without signing in.
const (
	Cards   = "cards"
	Catalog = "catalog"
)

// noticeReads is how many reads of the screen the notice on the screen Cards stays.
const noticeReads = 6

// cardsScreen has a button below its own label and one below a larger text, as React Native and Compose draw them, a
// card below a layer that takes its touches, and a notice that covers a button for a while. A notice takes touches
// although it is not clickable, as a Snackbar does (BaseTransientBottomBar.java of material-components-android).
func (d *Device) cardsScreen() *Element {
	did := func(what string) func() { return func() { d.ui.result = what } }
	card := (&Element{ID: "card", Bounds: d.box(24, 200, -24, 100)}).add(
		text("card_title", "Gift card", d.box(40, 212, 160, 32)),
		text("card_price", "$20.00", d.box(40, 252, 160, 32)),
		&Element{Bounds: d.box(24, 200, -24, 100), tap: did("Opened the gift card"), States: screen.States{Clickable: true}},
	)
	terms := button("terms", "Terms", d.box(24, 680, -24, 56), did("Read the terms"))
	page := d.page("Cards").add(
		button("pay", "", d.box(24, 120, -24, 56), did("Paid")),
		text("pay_label", "Pay now", d.box(120, 132, 120, 32)),
		card,
		button("sale", "Sale", d.box(120, 330, 120, 48), did("Saw the sale")),
		text("sign", "Everything must go", d.box(24, 320, -24, 70)),
		terms,
	)
	if d.ui.notice > 0 {
		terms.Hidden = d.platform == IOS
		notice := &Element{ID: "notice", Bounds: d.box(8, 670, -8, 80), Solid: true, Dismissable: true}
		page.add(notice.add(text("notice_text", "Saved to your basket", d.box(16, 690, -16, 32))))
	}
	return d.withResult(page)
}

// withResult adds what the last touch on a page did.
func (d *Device) withResult(page *Element) *Element {
	if d.ui.result != "" {
		page.add(text("result", d.ui.result, d.box(24, 560, -24, 32)))
	}
	return page
}

// catalogScreen is a web page whose header stays above what scrolls below it, with a notice about cookies. Nothing says
// in which order the elements of a page are drawn.
func (d *Device) catalogScreen() *Element {
	link := func(id, s string, bounds screen.Rect, raised bool) *Element {
		e := button(id, s, bounds, func() { d.ui.result = "Opened " + s })
		e.Raised = raised
		return e
	}
	contact := link("contact", "Contact", d.box(24, 720, 120, 40), false)
	page := (&Element{Kind: Web, ID: "catalog", Bounds: d.box(0, topInset+barHeight, 0, 0)}).add(
		link("menu", "Menu", d.box(16, topInset+barHeight+8, 80, 40), true),
		link("shoes", "Shoes", d.box(0, topInset+barHeight, 0, 64), false),
		link("hats", "Hats", d.box(0, topInset+barHeight+64, 0, 64), false),
		contact,
	)
	if !d.ui.accepted {
		contact.Hidden = d.platform == IOS
		cookies := text("cookies", "We use cookies", d.box(0, 690, 0, 60))
		accept := link("accept", "Accept", d.box(0, 750, 0, 48), true)
		cookies.Raised, accept.tap = true, func() { d.ui.accepted = true }
		page.add(cookies, accept)
	}
	page.walk(func(e *Element) { e.Solid = true })
	return d.withResult(d.page("Catalog").add(page))
}
