// Prints a line of JSON: for how many milliseconds each text is visible once the page's function all() was called. Usage:
// node messages.mjs BROWSER URL TEXT...
import { chromium } from "@playwright/test";

const [browser, url, ...texts] = process.argv.slice(2);
const program = await chromium.launch({ executablePath: browser });
const page = await program.newPage();
await page.goto(url);
const seen = texts.map(async (text) => {
  const shown = page.getByText(text, { exact: true });
  await shown.waitFor();
  const began = performance.now();
  await shown.waitFor({ state: "hidden" });
  return [text, performance.now() - began];
});
await page.evaluate("void all()");
console.log(JSON.stringify(Object.fromEntries(await Promise.all(seen))));
await program.close();
