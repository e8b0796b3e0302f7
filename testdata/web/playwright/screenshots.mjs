// Writes the pictures of the studio for the docs: somebody records in the shop, and looks back at a run that failed.
// Usage: node screenshots.mjs TRAILBLAZE BROWSER FOLDER
import { execFile, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { chromium } from "@playwright/test";

const [trailblaze, executablePath, folder] = process.argv.slice(2);
const project = await mkdtemp(path.join(tmpdir(), "studio-"));
const types = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".json": "application/json" };

/** The shop, with the prices of today. */
const server = createServer(async (request, response) => {
  const name = new URL(request.url, "http://shop").pathname.replace(/\/$/, "/index.html");
  const content = await readFile(path.join(project, "pages", name)).catch(() => null);
  response.writeHead(content ? 200 : 404, { "content-type": types[path.extname(name)] ?? "text/plain" }).end(content);
});
await new Promise((resolve) => server.listen(3000, "127.0.0.1", resolve));
const base = "http://localhost:3000/";

await mkdir(path.join(project, "trailblaze-config/targets"), { recursive: true });
await cp("../../projects/shop/pages", path.join(project, "pages"), { recursive: true });
await writeFile(path.join(project, "trailblaze.yaml"), "target: shop\nplatform: web\ndevice: { web: { viewport: 860x620 } }\n");
await writeFile(path.join(project, "trailblaze-config/targets/shop.yaml"), `id: shop\nplatforms: { web: { base_url: ${base} } }\n`);

const browser = await chromium.launch({ executablePath });
const programs = new Set();

/** Opens a studio, and returns its page and what ends it. */
async function studio(colorScheme, ...args) {
  const program = spawn(trailblaze, ["studio", "--no-open", ...args], { cwd: project, stdio: ["ignore", "pipe", "inherit"] });
  programs.add(program);
  program.once("exit", () => programs.delete(program));
  const url = await new Promise((resolve) => program.stdout.once("data", (line) => resolve(String(line).trim())));
  const page = await browser.newPage({ viewport: { width: 1360, height: 850 }, colorScheme });
  page.setDefaultTimeout(60_000);
  await page.goto(url);
  const end = async () => {
    const ended = new Promise((resolve) => program.once("exit", resolve));
    program.kill("SIGINT");
    await ended;
    await page.close();
  };
  return { page, end };
}

/** Records in the shop, up to the choice of a check, and writes a picture. */
async function record(colorScheme) {
  const { page, end } = await studio(colorScheme);
  // The same page in a browser that says where things are.
  const shop = await browser.newPage({ viewport: { width: 860, height: 620 } });
  await shop.goto(base);
  const screen = page.getByRole("img", { name: "Screen of" });
  const ready = () => page.getByRole("status", { name: "State" }).getByText("Recording").waitFor();
  const click = async (element) => {
    const { x, y, width, height } = await element.boundingBox();
    const box = await screen.boundingBox();
    const position = { x: ((x + width / 2) / 860) * box.width, y: ((y + height / 2) / 620) * box.height };
    await screen.click({ position });
  };
  const calls = (count) => page.getByRole("tree", { name: "Steps" }).getByRole("treeitem").nth(count - 1).waitFor();
  const name = async (step, next) => {
    const field = page.getByRole("textbox", { name: "Step" });
    await field.fill(step);
    await field.press("Enter");
    await field.fill(next);
    await field.blur();
  };
  await calls(2);
  await ready();
  await name("Open the shop", "Put a mug into the cart");
  await click(shop.getByRole("searchbox"));
  await ready();
  await page.keyboard.type("mug");
  await page.locator(".typing", { hasText: "mug" }).waitFor();
  await shop.getByRole("searchbox").fill("mug");
  await click(shop.getByRole("button", { name: "Add Enamel mug to cart" }));
  await shop.getByRole("button", { name: "Add Enamel mug to cart" }).click();
  await calls(5);
  await ready();
  await name("Put a mug into the cart", "Open the cart");
  await click(shop.getByRole("link", { name: "Cart (1)" }));
  await shop.getByRole("link", { name: "Cart (1)" }).click();
  await calls(7);
  await ready();
  await page.getByRole("button", { name: "Assert" }).click();
  await click(shop.getByRole("cell", { name: "Enamel mug, Cream" }).first());
  await page.getByRole("menu", { name: "Checks" }).waitFor();
  await page.screenshot({ path: path.join(folder, `studio-${colorScheme}.png`) });
  await shop.close();
  await end();
}

/** Looks back at a run that failed, because mugs have become more expensive. */
async function lookBack() {
  const call = (text) => `        - ${text}\n`;
  await mkdir(path.join(project, "trails"));
  await writeFile(
    path.join(project, "trails/buy-a-mug.trail.yaml"),
    "config: { title: Buy a mug }\ntrail:\n" +
      "  - step: Open the shop\n    recording:\n      web:\n" + call(`web_navigate: { url: ${base} }`) +
      "  - step: Put a mug into the cart\n    recording:\n      web:\n" +
      call(`web_type: { ref: 'searchbox "Search"', text: mug }`) +
      call(`web_click: { ref: 'button "Add Enamel mug to cart"' }`) +
      "  - step: Open the cart\n    recording:\n      web:\n" + call(`web_click: { ref: 'link "Cart (1)"' }`) +
      "  - verify: The cart has the total\n    recording:\n      web:\n" +
      call(`web_verifyValue: { ref: css=#total, expected: "11.90 €" }`),
  );
  const run = promisify(execFile)(trailblaze, ["run", "--trace", "on"], { cwd: project });
  await run.catch((error) => error.code === 1 || Promise.reject(error));
  const { page, end } = await studio("light", "latest");
  await page.getByRole("button", { name: "Open the trail here" }).waitFor();
  await page.locator(".film-frame img").first().waitFor();
  await page.waitForLoadState("networkidle");
  await page.screenshot({ path: path.join(folder, "studio-past.png") });
  await end();
}

try {
  await lookBack();
  await record("light");
  await record("dark");
} finally {
  for (const program of programs) program.kill("SIGINT");
  await browser.close();
  server.close();
  await rm(project, { recursive: true, force: true });
}
