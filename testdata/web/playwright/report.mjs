// Reads a report as people do and prints, as JSON, what it found. Usage: node report.mjs BROWSER URL
import { chromium } from "@playwright/test";

const [executablePath, url] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
const complaints = [];
const found = { requests: [] };

async function open(options = {}) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 }, ...options });
  page.setDefaultTimeout(0); // who starts this program limits it
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`${error}`));
  page.on("dialog", (dialog) => complaints.push(`dialog: ${dialog.message()}`));
  page.on("request", (request) => request.url().startsWith("data:") || found.requests.push(request.url()));
  await page.goto(url);
  return page;
}
const titles = (page) => page.locator(".trail:visible h3").allTextContents();
const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

try {
  const page = await open();
  found.heading = await page.locator("h1").textContent();
  found.titles = await titles(page);
  found.opened = await page.locator(".trail[open] h3").allTextContents();
  found.light = await background(page);
  found.injected = await page.evaluate(() => ({
    ran: "hacked" in window,
    images: [...document.images].filter((image) => image.src && !image.src.startsWith("data:image/")).length,
    scripts: document.scripts.length,
    styles: document.querySelectorAll("style, [style], link[rel=stylesheet]").length,
  }));
  found.text = await page.locator(".trail").first().evaluate((trail) => trail.textContent);

  await page.getByRole("radio", { name: "failed" }).check();
  found.failed = await titles(page);
  await page.getByRole("radio", { name: "all" }).check();
  await page.getByRole("combobox", { name: "Device" }).selectOption("web:b");
  found.onDevice = await titles(page);
  await page.getByRole("combobox", { name: "Device" }).selectOption("all devices");
  await page.getByRole("searchbox", { name: "Text" }).fill("WELCOME back");
  found.withText = await titles(page);
  await page.getByRole("searchbox", { name: "Text" }).fill("nothing is like this");
  found.withNone = [await titles(page), await page.locator(".none").isVisible(), await page.getByRole("status").textContent()];
  await page.getByRole("searchbox", { name: "Text" }).fill("");

  const thumbnail = page.locator(".shot button").first();
  const dialog = page.getByRole("dialog");
  await thumbnail.click();
  found.picture = await dialog.locator("img").evaluate(async (image) => (await image.decode(), [image.naturalWidth, image.alt]));
  await page.keyboard.press("ArrowRight");
  found.nextPicture = await dialog.locator("img").getAttribute("alt");
  await page.keyboard.press("Escape");
  found.closed = [await dialog.isHidden(), await thumbnail.evaluate((button) => button === document.activeElement)];
  await page.keyboard.press("Enter");
  found.byKeyboard = await dialog.isVisible();
  await dialog.getByRole("button", { name: "Close" }).click();
  found.closedAgain = await dialog.isHidden();

  await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
  await page.setViewportSize({ width: 400, height: 800 });
  found.narrow = await page.evaluate(() => ({
    wider: Math.max(0, document.documentElement.scrollWidth - innerWidth),
    beyond: [...document.querySelectorAll("body *")]
      .filter((e) => e.checkVisibility() && !e.closest("pre, svg, .line, .vh") && e.getBoundingClientRect().right > innerWidth + 1)
      .map((e) => e.outerHTML.slice(0, 120)),
    small: [...document.querySelectorAll("summary, button, select, input[type=search]")].filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 22).length,
  }));

  found.dark = await background(await open({ colorScheme: "dark" }));
  const plain = await open({ javaScriptEnabled: false });
  await plain.locator(".trail:not([open]) > summary").first().click();
  found.withoutScript = [await plain.locator(".filter").isVisible(), await plain.locator(".trail:not([open])").count(), await plain.locator(".shot img").first().isVisible()];
  found.complaints = [...complaints]; // of what follows the browser must complain
  found.smuggled = await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.smuggled = 1";
    document.body.append(script);
    document.body.insertAdjacentHTML("beforeend", "<p style='color: rgb(1, 2, 3)' onclick='window.smuggled = 1'>");
    document.body.lastElementChild.click();
    return "smuggled" in window || getComputedStyle(document.body.lastElementChild).color === "rgb(1, 2, 3)";
  });
  console.log(JSON.stringify(found));
} finally {
  await browser.close();
}
