package seeded

// page is an edit of a page.
func page(file, old, replacement string) []Edit { return []Edit{{file, old, replacement}} }

// Renames are renames and moves. What a user can do and sees as a result is the same; calls of the trail do not find
// their element any more, or cannot reach it.
var Renames = []Change{
	{Name: "add-reworded", Trail: "buy", Edits: page("product.html", ">Add to cart<", ">Put into basket<"), Calls: calls(click("@button Put into basket"))},
	{Name: "place-reworded", Trail: "buy", Edits: page("checkout.html", ">Place order<", ">Buy now<"), Calls: calls(click("@button Buy now"))},
	{Name: "checkout-reworded", Trail: "buy", Edits: page("cart.html", ">Check out<", ">To the checkout<"), Calls: calls(click("@link To the checkout"))},
	{Name: "checkout-spelled", Trail: "buy", Edits: page("cart.html", ">Check out<", ">Check-out …<"), Calls: calls(click("@link Check-out …"))},
	{Name: "checkout-a-button", Trail: "buy", Kept: true, Edits: page("cart.html", `<a class="button primary" href="checkout.html">Check out</a>`, `<button class="primary" onclick="location.href = 'checkout.html'">Go on</button>`),
		Calls: calls(click("@button Go on"))},
	{Name: "terms-reworded", Trail: "buy", Edits: page("checkout.html", "I have read the terms", "I accept the terms"), Calls: calls(click("@checkbox I accept the terms"))},
	{Name: "name-reworded", Trail: "buy", Edits: page("checkout.html", ">Name<", ">Full name<"), Calls: calls(call("web_type", "ref", "@textbox Full name", "text", "Ada Lovelace"))},
	{Name: "express-reworded", Trail: "buy", Edits: page("checkout.html", "Express, 4.90 €", "By courier, 4.90 €"), Calls: calls(click("@radio By courier, 4.90 €"))},
	{Name: "search-reworded", Trail: "buy", Edits: page("index.html", `aria-label="Search"`, `aria-label="Find a product"`), Calls: calls(call("web_type", "ref", "@searchbox Find a product", "text", "mug"))},
	{Name: "back-reworded", Trail: "buy", Edits: page("thanks.html", ">Back to the products<", ">Go on shopping<"), Calls: calls(click("@link Go on shopping"))},
	{Name: "colour-folded", Trail: "buy", Edits: append(page("product.html", `<div id="options" hidden>`, `<details id="options" hidden><summary>Choose</summary>`), Edit{"product.html", `<select id="option"></select>
        </div>`, `<select id="option"></select>
        </details>`}), Calls: calls(click("@group"), call("web_selectOption", "ref", "@combobox Colour", "values", []any{"Forest"}))},
	{Name: "delivery-folded", Trail: "buy", Edits: page("checkout.html", "<fieldset>", `<button type="button" onclick="this.nextElementSibling.hidden = false">How it is delivered</button><fieldset hidden>`),
		Calls: calls(click("@button How it is delivered"), click("@radio Express, 4.90 €"))},
	{Name: "cookie-banner", Trail: "buy", Edits: page("index.html", `<p class="toast" role="status"></p>`, `<p class="toast" role="status"></p>
  <div style="position: fixed; inset: 0; background: #fffc; display: grid; place-items: center" role="region" aria-label="Cookies">
    <p>Cookies? <button onclick="this.closest('div').remove()">Accept all</button></p>
  </div>`), Calls: calls(click("@button Accept all"), click("@link Enamel mug"))},
	{Name: "newsletter-dialog", Trail: "buy", Edits: page("product.html", `<p class="toast" role="status"></p>`, `<p class="toast" role="status"></p>
  <dialog id="news"><p>Would you like our letter?</p><form method="dialog"><button>No, thank you</button></form></dialog>
  <script>news.showModal()</script>`), Calls: calls(click("@button No, thank you"), call("web_type", "ref", "@spinbutton Quantity", "text", "2"))},

	{Name: "list-add-reworded", Trail: "cart", Edits: script("`Add ${name} to cart`", "`Buy ${name}`"), Calls: calls(call("web_click", "ref", "@button Buy Notebook", "count", 2))},
	{Name: "cart-folded", Trail: "one", Edits: page("shop.css", ".menu { display: none; margin-left: auto; }", ".menu { margin-left: auto; } header nav { display: none; } .menu[aria-expanded=true] + nav { display: flex; }"),
		Calls: calls(click("@button Menu"), click("@link Cart (1)"))},
	{Name: "quantity-reworded", Trail: "cart", Edits: script("`Quantity of ${name}`", "`How many of ${name}`"), Calls: calls(call("web_type", "ref", "@spinbutton How many of T-shirt, Small", "text", "2"))},
	{Name: "remove-reworded", Trail: "cart", Edits: script("`Remove ${name}`", "`Delete ${name}`"), Calls: calls(click("@button Delete Notebook"))},
	{Name: "confirm-reworded", Trail: "cart", Edits: page("cart.html", ">Remove it<", ">Yes, do<"), Calls: calls(click("@button Yes, do"))},
	{Name: "remove-folded", Trail: "cart", Edits: script("make(\"td\", {}, make(\"button\", { \"aria-label\": `Remove ${name}`, on: { click: () => ask(line) } }, \"Remove\"))",
		"make(\"td\", {}, make(\"button\", { \"aria-label\": `More for ${name}`, on: { click: (event) => (event.currentTarget.nextElementSibling.hidden = false) } }, \"…\"), make(\"div\", { hidden: \"\" }, make(\"button\", { \"aria-label\": `Remove ${name}`, on: { click: () => ask(line) } }, \"Remove\")))"),
		Calls: calls(click("@button More for Notebook"), click("@button Remove Notebook"))},
	{Name: "keep-looking-reworded", Trail: "cart", Edits: page("cart.html", ">Keep looking<", ">Go on shopping<"), Calls: calls(click("@link Go on shopping"))},
	{Name: "category-reworded", Trail: "catalogue", Edits: page("index.html", `aria-label="Category"`, `aria-label="Kind of product"`), Calls: calls(call("web_selectOption", "ref", "@combobox Kind of product", "values", []any{"Kitchen"}))},
	{Name: "link-wraps-card", Trail: "catalogue", Kept: true, Edits: script("make(\"h2\", {}, make(\"a\", { href: `product.html?sku=${sku}` }, name))", "make(\"a\", { href: `product.html?sku=${sku}`, \"aria-label\": `${name}, ${money(cents(price))}` }, make(\"h2\", {}, name))"),
		Calls: calls(click("@link Tea towel, 8.90 €"))},
	{Name: "care-reworded", Trail: "catalogue", Edits: page("product.html", `id="care">How to care for it<`, `id="care">Care<`), Calls: calls(click("@button Care"))},
	{Name: "close-reworded", Trail: "catalogue", Edits: page("product.html", ">Close<", ">Got it<"), Calls: calls(click("@button Got it"))},
}

// ByID are renames of ids of elements whose recording has nothing else: no role, and no name. So nobody can tell from the
// recording which element is meant, and they are not healed.
var ByID = []Change{
	{Name: "quantity-id", Trail: "buy", Kept: true, Edits: append(page("product.html", `<label for="quantity">Quantity</label>`, `<label for="amount">Quantity</label>`),
		Edit{"product.html", `id="quantity"`, `id="amount"`}, Edit{"shop.js", `$("quantity")`, `$("amount")`}),
		Calls: calls(call("web_type", "ref", "@spinbutton Quantity", "text", "2"))},
	{Name: "cart-link-id", Trail: "buy", Kept: true, Edits: append(page("*.html", `id="cart-link"`, `id="basket"`), Edit{"shop.js", `$("cart-link")`, `$("basket")`}), Calls: calls(click("@link Cart (2)"))},
	{Name: "testid-renamed", Trail: "cart", Kept: true, Edits: script("\"data-testid\": `product-${sku}`", "\"data-testid\": `item-${sku}`"), Calls: calls(click("@button Add T-shirt to cart"))},
	{Name: "total-id", Trail: "cart", Kept: true, Edits: append(page("cart.html", `id="total"`, `id="sum-of-all"`), Edit{"shop.js", `$("total").textContent = money(cart.total());`, `$("sum-of-all").textContent = money(cart.total());`}),
		Calls: calls(call("web_verifyValue", "ref", "@cell 32.70 €", "expected", "32.70 €"))},
}
