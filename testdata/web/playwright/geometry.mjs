// Prints a line of JSON: the boxes of the elements with the attribute data-box, in all frames of a page, by the value of
// that attribute. Usage: node geometry.mjs BROWSER SCALE URL...
import { chromium } from "@playwright/test";

const [browser, scale, ...urls] = process.argv.slice(2);
const program = await chromium.launch({ executablePath: browser, timeout: 0 });
const page = await program.newPage({ viewport: { width: 800, height: 600 }, deviceScaleFactor: Number(scale) });
page.setDefaultTimeout(0); // who starts this program limits it
for (const url of urls) {
  await page.goto(url);
  const boxes = {};
  for (const frame of page.frames()) {
    const found = frame.locator("[data-box]");
    for (let i = 0; i < (await found.count()); i++)
      boxes[await found.nth(i).getAttribute("data-box")] = await found.nth(i).boundingBox();
  }
  console.log(JSON.stringify(boxes));
}
await program.close();
