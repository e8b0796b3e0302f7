// Prints a line of JSON: how many elements of a page, in all frames, have a role and exactly a name, for each [role, name] of
// a list, or match a CSS selector, for each [selector]. Usage: node count.mjs BROWSER URL JSON
import { chromium } from "@playwright/test";

const [browser, url, list] = process.argv.slice(2);
const program = await chromium.launch({ executablePath: browser, timeout: 0 });
const page = await program.newPage();
page.setDefaultTimeout(0); // who starts this program limits it
await page.goto(url);
const counts = [];
for (const [role, name] of JSON.parse(list)) {
  let count = 0;
  for (const frame of page.frames())
    count += await (name === undefined ? frame.locator(role) : frame.getByRole(role, { name, exact: true })).count();
  counts.push(count);
}
console.log(JSON.stringify(counts));
await program.close();
