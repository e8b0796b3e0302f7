// The whole shop: what is in the cart lies in localStorage, what is for sale and what was ordered comes from the server.
const $ = (id) => document.getElementById(id);
const products = await (await fetch("products.json")).json();
const query = new URLSearchParams(location.search);

/** Cents, because 0.1 + 0.2 is not 0.3. */
const cents = (price) => Number(price.replace(".", ""));
const money = (amount) => `${(amount / 100).toFixed(2)} €`;
const product = (sku) => products.find((p) => p.sku === sku);

const cart = {
  lines: JSON.parse(localStorage.getItem("cart") ?? "[]"),
  save() {
    localStorage.setItem("cart", JSON.stringify(this.lines));
    showCount();
  },
  add(sku, quantity, option) {
    const line = this.lines.find((l) => l.sku === sku && l.option === option);
    if (line) line.quantity += quantity;
    else this.lines.push({ sku, quantity, option });
    this.save();
    say(`${product(sku).name} is in your cart`);
  },
  remove(line) {
    this.lines.splice(this.lines.indexOf(line), 1);
    this.save();
  },
  total() {
    return this.lines.reduce((sum, { sku, quantity }) => sum + cents(product(sku).price) * quantity, 0);
  },
};

const title = ({ sku, option }) => product(sku).name + (option ? `, ${option}` : "");

function showCount() {
  const count = cart.lines.reduce((sum, { quantity }) => sum + quantity, 0);
  $("cart-link").textContent = count ? `Cart (${count})` : "Cart";
}

function say(text) {
  const toast = document.querySelector(".toast");
  toast.textContent = text;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => (toast.textContent = ""), 4000);
}

/** An element with its attributes, its listeners and what is in it. */
function make(tag, { on = {}, ...attributes }, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  for (const [name, listener] of Object.entries(on)) element.addEventListener(name, listener);
  element.append(...content);
  return element;
}

const pages = {
  index() {
    const card = ({ sku, name, price }) =>
      make("li", { class: "card", "data-testid": `product-${sku}` },
        make("div", { class: "picture" }, make("img", { src: `images/${sku}.svg`, alt: "" })),
        make("h2", {}, make("a", { href: `product.html?sku=${sku}` }, name)),
        make("span", { class: "price" }, money(cents(price))),
        make("button", { "aria-label": `Add ${name} to cart`, on: { click: () => cart.add(sku, 1, product(sku).choices?.[0]) } }, "Add"));
    const show = () => {
      const text = $("search").value.toLowerCase();
      const found = products.filter(
        ({ name, category }) => name.toLowerCase().includes(text) && ["", category].includes($("category").value),
      );
      $("products").replaceChildren(...found.map(card));
      $("nothing").hidden = found.length > 0;
    };
    $("search").addEventListener("input", show);
    $("category").addEventListener("change", show);
    show();
  },

  product() {
    const { sku, name, text, price, option, choices, care } = product(query.get("sku"));
    document.title = document.title.replace("Product", name);
    $("image").src = `images/${sku}.svg`;
    $("name").textContent = name;
    $("text").textContent = text;
    $("price").textContent = money(cents(price));
    $("care-text").textContent = care;
    if (choices) {
      $("option-label").textContent = option;
      $("option").append(...choices.map((choice) => make("option", {}, choice)));
      $("options").hidden = false;
    }
    $("care").addEventListener("click", () => $("care-dialog").showModal());
    $("product").addEventListener("submit", (event) => {
      event.preventDefault();
      cart.add(sku, $("quantity").valueAsNumber, choices && $("option").value);
    });
  },

  cart() {
    const row = (line) => {
      const name = title(line);
      const price = cents(product(line.sku).price);
      const change = ({ target }) => {
        line.quantity = Math.max(1, target.valueAsNumber || 1);
        cart.save();
        show();
      };
      return make("tr", {},
        make("td", {}, name),
        make("td", {},
          make("input", { type: "number", min: 1, value: line.quantity, "aria-label": `Quantity of ${name}`, on: { change } })),
        make("td", { class: "number price-of-one" }, money(price)),
        make("td", { class: "number" }, money(price * line.quantity)),
        make("td", {}, make("button", { "aria-label": `Remove ${name}`, on: { click: () => ask(line) } }, "Remove")));
    };
    const ask = (line) => {
      $("remove-title").textContent = `Remove ${title(line)}?`;
      $("remove-it").onclick = () => {
        cart.remove(line);
        show();
      };
      $("remove").showModal();
    };
    const show = () => {
      $("lines").replaceChildren(...cart.lines.map(row));
      $("total").textContent = money(cart.total());
      $("empty").hidden = cart.lines.length > 0;
      $("full").hidden = cart.lines.length === 0;
    };
    show();
  },

  checkout() {
    const form = $("checkout");
    const total = () => cart.total() + (form.delivery.value === "express" ? 490 : 0);
    const showTotal = () => ($("total").textContent = money(total()));
    $("summary-lines").append(...cart.lines.map((line) => make("li", {}, `${line.quantity} × ${title(line)}`)));
    form.addEventListener("change", showTotal);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (!valid(form)) return;
      $("place").disabled = true;
      $("place").textContent = "Placing order…";
      const { name, email, street, city, country, delivery } = Object.fromEntries(new FormData(form));
      const order = { name, email, address: { street, city, country }, express: delivery === "express", items: cart.lines };
      const answer = await fetch("orders", { method: "POST", body: JSON.stringify(order) });
      const { id } = await answer.json();
      sessionStorage.setItem("ordered", JSON.stringify({ id, name, email, total: total() }));
      cart.lines = [];
      cart.save();
      location.href = `thanks.html?order=${id}`;
    });
    showTotal();
  },

  thanks() {
    const { id, name, email, total } = JSON.parse(sessionStorage.getItem("ordered") ?? "{}");
    if (!id) return;
    $("thanks").textContent = `Thank you, ${name.split(" ")[0]}!`;
    $("order").textContent = id;
    $("email").textContent = email;
    $("total").textContent = money(total);
  },
};

/** Says below each field what is wrong with it, and how many there are above them. */
function valid(form) {
  const wrong = {
    name: "Tell us your name",
    email: "Write an address such as ada@example.com",
    street: "Tell us your street",
    city: "Tell us your city",
    country: "Choose a country",
    card: "A card number has 16 digits",
    terms: "Read the terms first",
  };
  for (const old of form.querySelectorAll(".problem")) old.remove();
  let count = 0;
  for (const [name, text] of Object.entries(wrong)) {
    const field = form.elements[name];
    const ok = field.checkValidity();
    field.setAttribute("aria-invalid", String(!ok));
    field.removeAttribute("aria-describedby");
    if (ok) continue;
    const id = `${name}-problem`;
    field.setAttribute("aria-describedby", id);
    field.closest("div").append(make("p", { class: "problem", id }, text));
    count++;
  }
  form.querySelector("[role=alert]").textContent = count ? `Please look at ${count} ${count === 1 ? "field" : "fields"} again` : "";
  return count === 0;
}

const menu = document.querySelector(".menu");
menu.addEventListener("click", () => menu.setAttribute("aria-expanded", String(menu.getAttribute("aria-expanded") !== "true")));
showCount();
pages[document.body.dataset.page]();
document.querySelector("main").hidden = false; // not before it works: a form without its listeners would send itself
