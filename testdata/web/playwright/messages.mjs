// Prints a line of JSON: which texts come on a page and go again while its function all() runs. Usage:
// node messages.mjs BROWSER URL TEXT...
import { chromium } from "@playwright/test";

const [browser, url, ...texts] = process.argv.slice(2);
const program = await chromium.launch({ executablePath: browser, timeout: 0 });
const page = await program.newPage();
page.setDefaultTimeout(0); // who starts this program limits it
await page.goto(url);
const seen = Object.fromEntries(texts.map((text) => [text, false]));
const gone = [];
for (const text of texts) {
  const shown = page.getByText(text, { exact: true });
  shown.waitFor().then(() => gone.push(shown.waitFor({ state: "hidden" }).then(() => (seen[text] = true))), () => {});
}
await page.evaluate("all()");
await Promise.all(gone);
console.log(JSON.stringify(seen));
await program.close();
