package seeded

import "github.com/trailblaze/trailblaze/testdata/models"

// script is an edit of the shop's code.
func script(old, replacement string) []Edit { return []Edit{{"shop.js", old, replacement}} }

func call(name string, pairs ...any) models.Call {
	args := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		args[pairs[i].(string)] = pairs[i+1]
	}
	return models.Call{Name: name, Args: args}
}

func click(ref string) models.Call { return call("web_click", "ref", ref) }

func calls(list ...models.Call) []models.Call { return list }

// Faults are faults of the shop. What a user sees is wrong, or cannot be done. The calls of the last ones are what would
// turn their trails green, or look as if they did.
var Faults = []Change{
	{Name: "price-in-list", Trail: "catalogue", Fact: "prices", Edits: script(`make("span", { class: "price" }, money(cents(price)))`, `make("span", { class: "price" }, money(cents(price) + 100))`)},
	{Name: "price-on-page", Trail: "buy", Fact: "price", Edits: script(`$("price").textContent = money(cents(price))`, `$("price").textContent = money(cents(price) * 10)`)},
	{Name: "currency", Trail: "catalogue", Fact: "prices", Edits: script(".toFixed(2)} €`", ".toFixed(2)} $`")},
	{Name: "order-of-products", Trail: "catalogue", Fact: "products", Edits: script(`...found.map(card)`, `...found.map(card).reverse()`)},
	{Name: "category-ignored", Trail: "catalogue", Fact: "kitchen", Edits: script(` && ["", category].includes($("category").value)`, ``)},
	{Name: "search-ignored", Trail: "buy", Fact: "found", Edits: script(`$("search").addEventListener("input", show);`, ``)},
	{Name: "sum-of-line", Trail: "cart", Fact: "sums", Edits: script(`money(price * line.quantity)`, `money(price)`)},
	{Name: "total-without-quantity", Trail: "cart", Fact: "total", Edits: script(`cents(product(sku).price) * quantity, 0)`, `cents(product(sku).price), 0)`)},
	{Name: "total-stale", Trail: "buy", Fact: "toPay", Edits: script(`form.addEventListener("change", showTotal);`, ``)},
	{Name: "express-free", Trail: "buy", Fact: "toPay", Edits: script(`"express" ? 490 : 0`, `"express" ? 0 : 0`)},
	{Name: "not-added", Trail: "buy", Fact: "count", Edits: script(`else this.lines.push({ sku, quantity, option });`, ``)},
	{Name: "added-twice", Trail: "cart", Fact: "count", Edits: script(`else this.lines.push({ sku, quantity, option });`, `else this.lines.push({ sku, quantity: 2 * quantity, option });`)},
	{Name: "row-twice", Trail: "cart", Fact: "lines", Edits: script(`const line = this.lines.find((l) => l.sku === sku && l.option === option);`, `const line = undefined;`)},
	{Name: "count-of-lines", Trail: "cart", Fact: "count", Edits: script(`cart.lines.reduce((sum, { quantity }) => sum + quantity, 0);`, `cart.lines.length;`)},
	{Name: "quantity-ignored", Trail: "buy", Fact: "count", Edits: script(`$("quantity").valueAsNumber`, `1`)},
	{Name: "option-ignored", Trail: "buy", Fact: "summary", Edits: script(`choices && $("option").value`, `choices?.[0]`)},
	{Name: "removes-another", Trail: "cart", Fact: "left", Edits: script(`this.lines.splice(this.lines.indexOf(line), 1);`, `this.lines.splice(0, 1);`)},
	{Name: "cart-lost", Trail: "cart", Fact: "lines", Edits: script(`JSON.parse(localStorage.getItem("cart") ?? "[]")`, `[]`), Calls: calls(click("@link See the products"))},
	{Name: "wrong-name", Trail: "buy", Fact: "thanks", Edits: script(`name.split(" ")[0]`, `name.split(" ")[1]`)},
	{Name: "wrong-page", Trail: "buy", Fact: "thanks", Edits: script("location.href = `thanks.html?order=${id}`", "location.href = `index.html`")},
	{Name: "order-refused", Trail: "buy", Fact: "thanks", Orders: 500, Edits: script(`const { id } = await answer.json();`, `if (!answer.ok) throw new Error("it broke"); const { id } = await answer.json();`)},
	{Name: "any-card", Trail: "form", Fact: "refused", Edits: []Edit{{"checkout.html", ` pattern="[0-9 ]{16,19}"`, ``}}},
	{Name: "message-missing", Trail: "form", Fact: "messages", Edits: script(`country: "Choose a country"`, `country: ""`)},
	{Name: "fields-not-counted", Trail: "form", Fact: "alert", Edits: script("count ? `Please look at", "false ? `Please look at")},

	// From here on an element is missing, or does something else.
	{Name: "remove-missing", Trail: "cart", Fact: "left", Edits: []Edit{{"cart.html", `<button class="primary" id="remove-it">Remove it</button>`, `<i hidden id="remove-it"></i>`}},
		Calls: calls(click("@button Keep it"))},
	{Name: "place-disabled", Trail: "buy", Fact: "thanks", Edits: []Edit{{"checkout.html", `id="place"`, `id="place" disabled`}},
		Calls: calls(call("web_pressKey", "key", "Enter"))},
	{Name: "checkout-missing", Trail: "buy", Fact: "summary", Edits: []Edit{{"cart.html", `<a class="button primary" href="checkout.html">Check out</a>`, ``}},
		Calls: calls(call("web_navigate", "url", "/checkout-missing/checkout.html"))},
	{Name: "checkout-empties", Trail: "buy", Fact: "summary", Edits: []Edit{{"cart.html", `<a class="button primary" href="checkout.html">Check out</a>`, `<a class="button primary" href="index.html" onclick="localStorage.clear()">Empty the cart</a>`}},
		Calls: calls(click("@link Empty the cart"))},
	{Name: "express-missing", Trail: "buy", Fact: "toPay", Edits: []Edit{{"checkout.html", `<label class="choice"><input type="radio" name="delivery" value="express"> Express, 4.90 €</label>`, ``}},
		Calls: calls(click("@radio Standard, free"))},
	{Name: "sold-out", Trail: "buy", Fact: "count", Edits: []Edit{{"product.html", `<button class="primary">Add to cart</button>`, `<button type="button" class="primary">Tell me when it is back</button>`}},
		Calls: calls(click("@button Tell me when it is back"))},
	{Name: "quantity-missing", Trail: "buy", Fact: "count", Edits: []Edit{{"product.html", `<label for="quantity">Quantity</label>`, ``}, {"product.html", `<input id="quantity" type="number"`, `<input hidden id="quantity" type="number"`}},
		Calls: calls(click("@button Add to cart"))},
	{Name: "country-missing", Trail: "buy", Fact: "country", Edits: []Edit{{"checkout.html", `<option value="NO">Norway</option>`, ``}},
		Calls: calls(call("web_selectOption", "ref", "@combobox Country", "values", []any{"Germany"}))},
	{Name: "total-missing", Trail: "one", Fact: "total", Edits: append(script(`$("total").textContent = money(cart.total());`, ``), Edit{"cart.html", `<tr><td colspan="2">Total</td><td class="price-of-one"></td><td class="number" id="total"></td><td></td></tr>`, ``}),
		Calls: calls(call("web_verifyValue", "ref", "@cell 34.95 €", "expected", "34.95 €"))},
	{Name: "saved-for-later", Trail: "buy", Fact: "thanks", Edits: []Edit{{"checkout.html", `<button class="primary" id="place">Place order</button>`, `<button type="button" class="primary">Save for later</button>`}},
		Calls: calls(click("@button Save for later"))},

	{Name: "keep-looking-missing", Trail: "cart", Fact: "products", Edits: []Edit{{"cart.html", `<a class="button" href="index.html">Keep looking</a>`, ``}},
		Calls: calls(click("@link Tin & Thread"))},
	{Name: "wrong-size", Trail: "cart", Fact: "lines", Edits: script("(option ? `, ${option}` : \"\")", "(option ? `, ${product(sku).choices.at(-1)}` : \"\")"),
		Calls: calls(call("web_type", "ref", "@spinbutton Quantity of T-shirt, Large", "text", "2"))},

	// Somebody who does again what was done before gets on.
	{Name: "first-add-ignored", Trail: "one", Fact: "total", Edits: script(`on: { click: () => cart.add(sku, 1, product(sku).choices?.[0]) } }, "Add")`, `on: { click: ({ target }) => (target.name ? cart.add(sku, 1, product(sku).choices?.[0]) : (target.name = "again")) } }, "Add")`),
		Calls: calls(click("@button Add Frying pan to cart"), click("@link Cart (1)"))},
	{Name: "form-cleared", Trail: "buy", Fact: "thanks", Edits: script(`form.addEventListener("change", showTotal);`, `form.addEventListener("change", showTotal);
    form.addEventListener("input", ({ target }) => {
      if (target === $("country")) $("full-name").value = "";
      $("place").disabled = $("full-name").value === "";
    });`), Calls: calls(call("web_type", "ref", "@textbox Name", "text", "Ada Lovelace"), click("@button Place order"))},
	{Name: "cart-lost-once", Trail: "buy", Fact: "summary", Edits: script(`  cart() {
    const row`, `  cart() {
    if (!sessionStorage.lost) {
      sessionStorage.lost = "yes";
      cart.lines = [];
      cart.save();
    }
    const row`), Calls: calls(click("@link See the products"), click("@link Enamel mug"), call("web_selectOption", "ref", "@combobox Colour", "values", []any{"Forest"}),
		call("web_type", "ref", "@spinbutton Quantity", "text", "2"), click("@button Add to cart"), click("@link Cart (2)"), click("@link Check out"))},
}
