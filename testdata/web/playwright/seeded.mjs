// Uses the example shop as a person would, below each path of a site, and prints a line of JSON for each: the first fact
// that is wrong, and those that were not seen. Usage:
// node seeded.mjs BROWSER SITE JOURNEY:NAME...
import { chromium } from "@playwright/test";

const button = (name) => (page) => page.getByRole("button", { name, exact: true }).click();
const link = (name) => (page) => page.getByRole("link", { name, exact: true }).click();

/** Does something unless nobody could, and returns whether it did. The pages of the shop are complete once they show their content. */
async function possible(page, locator, act = (element) => element.click()) {
  await complete(page);
  const can = (await locator.isVisible()) && (await locator.isEnabled());
  if (can) await act(locator);
  return can;
}

/** Waits for the content of a page, which the shop shows when it is complete. */
const complete = (page) => page.locator("main:not([hidden])").waitFor();

async function texts(page, selector) {
  await complete(page);
  return (await page.locator(selector).allInnerTexts()).map((t) => t.trim());
}

const text = async (page, selector) => (await texts(page, selector)).join();

/** How a person does what the labels of the pages say. */
const usual = {
  arrive: () => {},
  look: () => {},
  search: (page, word) => page.getByRole("searchbox", { name: "Search" }).fill(word),
  category: (page, name) => page.getByRole("combobox", { name: "Category" }).selectOption(name),
  open: (page, name) => page.getByRole("link", { name, exact: true }).click(),
  addFromList: (page, name) => page.getByRole("button", { name: `Add ${name} to cart` }).click(),
  care: button("How to care for it"),
  close: button("Close"),
  choose: (page, colour) => page.getByLabel("Colour").selectOption(colour),
  quantity: (page, n) => possible(page, page.getByRole("spinbutton", { name: "Quantity" }), (field) => field.fill(n)),
  add: (page) => possible(page, page.getByRole("button", { name: "Add to cart" })),
  cart: (page) => page.getByRole("link", { name: /^Cart/ }).click(),
  change: (page, name, n) => page.getByLabel(`Quantity of ${name}`).fill(n),
  remove: (page, name) => page.getByRole("button", { name: `Remove ${name}` }).click(),
  confirm: (page) => possible(page, page.getByRole("button", { name: "Remove it" })),
  checkout: (page) => possible(page, page.getByRole("link", { name: "Check out" })),
  name: (page, name) => page.getByLabel("Name", { exact: true }).fill(name),
  express: (page) => possible(page, page.getByLabel("Express, 4.90 €")),
  terms: (page) => page.getByLabel("I have read the terms").check(),
  place: (page) => possible(page, page.getByRole("button", { name: "Place order" })),
  back: link("Back to the products"),
  keepLooking: (page) => possible(page, page.getByRole("link", { name: "Keep looking" })),
};

/** What a person does otherwise in a shop whose names or places are others. */
const others = {
  "add-reworded": { add: button("Put into basket") },
  "place-reworded": { place: button("Buy now") },
  "checkout-reworded": { checkout: link("To the checkout") },
  "checkout-spelled": { checkout: link("Check-out …") },
  "checkout-a-button": { checkout: button("Go on") },
  "terms-reworded": { terms: (page) => page.getByLabel("I accept the terms").check() },
  "name-reworded": { name: (page, name) => page.getByLabel("Full name").fill(name) },
  "express-reworded": { express: (page) => page.getByLabel("By courier, 4.90 €").check() },
  "search-reworded": { search: (page, word) => page.getByRole("searchbox", { name: "Find a product" }).fill(word) },
  "back-reworded": { back: link("Go on shopping") },
  "colour-folded": { look: (page) => page.getByText("Choose", { exact: true }).click() },
  "delivery-folded": {
    express: async (page) => {
      await button("How it is delivered")(page);
      await usual.express(page);
    },
  },
  "cookie-banner": { arrive: button("Accept all") },
  "newsletter-dialog": { look: button("No, thank you") },
  "list-add-reworded": { addFromList: (page, name) => button(`Buy ${name}`)(page) },
  "cart-folded": {
    cart: async (page) => {
      await button("Menu")(page);
      await usual.cart(page);
    },
  },
  "quantity-reworded": { change: (page, name, n) => page.getByLabel(`How many of ${name}`).fill(n) },
  "remove-reworded": { remove: (page, name) => page.getByRole("button", { name: `Delete ${name}` }).click() },
  "confirm-reworded": { confirm: button("Yes, do") },
  "remove-folded": {
    remove: async (page, name) => {
      await page.getByRole("button", { name: `More for ${name}` }).click();
      await usual.remove(page, name);
    },
  },
  "keep-looking-reworded": { keepLooking: link("Go on shopping") },
  "category-reworded": { category: (page, name) => page.getByRole("combobox", { name: "Kind of product" }).selectOption(name) },
  "link-wraps-card": { open: (page, name) => page.getByRole("link", { name: new RegExp(`^${name}`) }).click() },
  "care-reworded": { care: button("Care") },
  "close-reworded": { close: button("Got it") },
};

/** What a person does, and the facts that are to be seen. The first argument collects them. */
const journeys = {
  async catalogue(seen, page, way) {
    seen.products = await texts(page, "#products h2");
    seen.prices = (await texts(page, "#products .price")).slice(0, 3);
    await way.category(page, "Kitchen");
    seen.kitchen = await texts(page, "#products h2");
    await way.search(page, "towel");
    seen.found = await texts(page, "#products h2");
    await way.open(page, "Tea towel");
    await page.waitForURL(/product\.html/);
    seen.price = await text(page, "#price");
    await way.care(page);
    seen.care = await page.getByText("Wash at 60 degrees").isVisible();
    await way.close(page);
    await way.add(page);
    seen.count = await cartOf(page);
  },
  async cart(seen, page, way) {
    await way.addFromList(page, "T-shirt");
    await way.addFromList(page, "Notebook");
    await way.addFromList(page, "Notebook");
    seen.count = await cartOf(page);
    await way.cart(page);
    await page.waitForURL(/cart\.html/);
    seen.lines = await texts(page, "#lines td:first-child");
    seen.sums = await texts(page, "#lines td:nth-child(4)");
    seen.total = await text(page, "tfoot td:nth-child(3)");
    await way.change(page, "T-shirt, Small", "2");
    await page.keyboard.press("Tab");
    seen.more = await text(page, "tfoot td:nth-child(3)");
    await way.remove(page, "Notebook");
    if ((await way.confirm(page)) === false) await page.keyboard.press("Escape");
    seen.left = await texts(page, "#lines td:first-child");
    if ((await way.keepLooking(page)) === false) seen.products = "out of reach";
    await page.waitForURL(/index\.html/);
    seen.products = await texts(page, "#products h2");
  },
  async one(seen, page, way) {
    await way.addFromList(page, "Frying pan");
    await way.cart(page);
    await page.waitForURL(/cart\.html/);
    seen.total = (await text(page, "tfoot")).replace(/\s+/g, " ");
  },
  async buy(seen, page, way) {
    await way.search(page, "mug");
    seen.found = await texts(page, "#products h2");
    await way.open(page, "Enamel mug");
    await page.waitForURL(/product\.html/);
    await way.look(page);
    seen.price = await text(page, "#price");
    await way.choose(page, "Forest");
    await way.quantity(page, "2");
    await way.add(page);
    seen.count = await cartOf(page);
    await way.cart(page);
    await page.waitForURL(/cart\.html/);
    if ((await way.checkout(page)) === false) seen.summary = "out of reach";
    await page.waitForURL(/checkout\.html/);
    seen.summary = await texts(page, "#summary-lines li");
    await way.name(page, "Ada Lovelace");
    await page.getByLabel("Email").fill("ada@example.com");
    await page.getByLabel("Street").fill("12 Market Street");
    await page.getByLabel("City").fill("Bergen");
    const countries = await texts(page, "#country option");
    if (countries.includes("Norway")) await page.getByLabel("Country").selectOption("Norway");
    seen.country = await page.getByLabel("Country").evaluate((list) => list.selectedOptions[0].text);
    await way.express(page);
    seen.toPay = await text(page, "#total");
    await page.getByLabel("Card number").fill("4242 4242 4242 4242");
    await way.terms(page);
    const answered = page.waitForResponse(/orders$/);
    answered.catch(() => {}); // of an order that cannot be placed
    if ((await way.place(page)) === false) seen.thanks = "out of reach";
    if ((await answered).ok()) await page.waitForURL(/(thanks|index)\.html/);
    seen.thanks = await text(page, "h1");
    seen.order = await text(page, "#order");
    await way.back(page);
    await page.waitForURL(/index\.html/);
    seen.after = await cartOf(page);
  },
  async form(seen, page, way) {
    await way.addFromList(page, "Frying pan");
    await page.goto(new URL("checkout.html", page.url()).href);
    await way.place(page);
    await page.locator(".problem").first().waitFor();
    seen.alert = await text(page, "[role=alert]");
    seen.messages = await texts(page, ".problem");
    await way.name(page, "Ada Lovelace");
    await page.getByLabel("Email").fill("ada@example.com");
    await page.getByLabel("Street").fill("12 Market Street");
    await page.getByLabel("City").fill("Bergen");
    await page.getByLabel("Country").selectOption("Norway");
    await page.getByLabel("Card number").fill("4242");
    await way.terms(page);
    await way.place(page);
    seen.refused = await page.waitForFunction(() => (location.href.includes("thanks") ? "no" : document.querySelector("#card-problem") && document.querySelectorAll(".problem").length === 1 && "yes")).then((found) => found.jsonValue());
  },
};

const expected = {
  catalogue: {
    products: ["Enamel mug", "Frying pan", "Tea towel", "T-shirt", "Wool socks", "Notebook"],
    prices: ["12.50 €", "34.95 €", "8.90 €"],
    kitchen: ["Enamel mug", "Frying pan", "Tea towel"],
    found: ["Tea towel"],
    price: "8.90 €",
    care: true,
    count: "Cart (1)",
  },
  cart: {
    count: "Cart (3)",
    lines: ["T-shirt, Small", "Notebook"],
    sums: ["19.90 €", "12.80 €"],
    total: "32.70 €",
    more: "52.60 €",
    left: ["T-shirt, Small"],
    products: ["Enamel mug", "Frying pan", "Tea towel", "T-shirt", "Wool socks", "Notebook"],
  },
  one: { total: "Total 34.95 €" },
  buy: {
    found: ["Enamel mug"],
    price: "12.50 €",
    count: "Cart (2)",
    summary: ["2 × Enamel mug, Forest"],
    country: "Norway",
    toPay: "29.90 €",
    thanks: "Thank you, Ada!",
    order: "A-1",
    after: "Cart",
  },
  form: {
    alert: "Please look at 7 fields again",
    messages: [
      "Tell us your name", "Write an address such as ada@example.com", "Tell us your street", "Tell us your city", "Choose a country",
      "A card number has 16 digits", "Read the terms first",
    ],
    refused: "yes",
  },
};

/** What the link to the cart says, whether or not it is folded away. */
async function cartOf(page) {
  await complete(page);
  return page.locator("nav a").last().textContent();
}

/** Collects facts, up to the first that is wrong. */
class Facts {
  seen = {};

  constructor(expected) {
    this.left = Object.keys(expected);
    this.facts = new Proxy(this.seen, {
      set: (seen, fact, value) => {
        seen[fact] = value;
        this.left = this.left.filter((other) => other !== fact);
        if (JSON.stringify(value) === JSON.stringify(expected[fact])) return true;
        this.wrong = fact;
        throw new Error(`${fact} is wrong`);
      },
    });
  }
}

async function judge(program, site, journey, name) {
  const context = await program.newContext();
  const page = await context.newPage();
  const facts = new Facts(expected[journey]);
  let stopped = "";
  try {
    await page.goto(`${site}/${name}/index.html`);
    const way = { ...usual, ...others[name] };
    await way.arrive(page);
    await journeys[journey](facts.facts, page, way);
  } catch (error) {
    stopped = error.message.split("\n")[0];
  }
  await context.close();
  return { name, wrong: facts.wrong ?? "", left: facts.left, stopped, seen: facts.seen };
}

const [browser, site, ...which] = process.argv.slice(2);
const program = await chromium.launch({ executablePath: browser });
const left = which.map((one) => one.split(":"));
await Promise.all(
  Array.from({ length: 4 }, async () => {
    for (let next = left.shift(); next; next = left.shift()) console.log(JSON.stringify(await judge(program, site, ...next)));
  }),
);
await program.close();
