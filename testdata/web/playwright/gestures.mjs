// Does what a person does with mouse and keyboard, in the page of each case of a file, and prints its state() as a line
// of JSON. A case has the URL of a page and acts, as pkg/studio/gesture has them; an answer is that to the popup of the
// field a.
// Usage: node gestures.mjs BROWSER FILE
import { readFileSync } from "node:fs";
import { chromium } from "@playwright/test";

const [browser, file] = process.argv.slice(2);
const program = await chromium.launch({ executablePath: browser, timeout: 0 });

const acts = {
  click: async (page, a) => {
    for (const key of a.modifiers ?? []) await page.keyboard.down(key);
    await page.mouse.click(a.x, a.y);
    for (const key of a.modifiers ?? []) await page.keyboard.up(key);
  },
  doubleClick: (page, a) => page.mouse.dblclick(a.x, a.y),
  middleClick: (page, a) => page.mouse.click(a.x, a.y, { button: "middle" }),
  rightClick: (page, a) => page.mouse.click(a.x, a.y, { button: "right" }),
  drag: async (page, a) => {
    await page.mouse.move(a.x, a.y);
    await page.mouse.down();
    await page.mouse.move(a.toX, a.toY, { steps: 10 });
    await page.mouse.up();
  },
  wheel: async (page, a) => {
    await page.mouse.move(a.x, a.y);
    await page.mouse.wheel(a.dx, a.dy);
    await page.waitForFunction("wasScrolled");
  },
  key: (page, a) => page.keyboard.press([...(a.modifiers ?? []), a.key].join("+")),
  text: (page, a) => page.keyboard.insertText(a.text),
  select: (page, a) => page.locator("#a").selectOption(a.values),
  date: (page, a) => page.locator("#a").fill(a.values[0]),
};

const page = await program.newPage({ viewport: { width: 800, height: 600 } });
page.setDefaultTimeout(0); // who starts this program limits it
for (const { url, acts: list } of JSON.parse(readFileSync(file, "utf8"))) {
  await page.goto(url);
  for (const a of list) await acts[a.answer ?? a.kind](page, a);
  console.log(JSON.stringify(await page.evaluate("state()")));
}
await program.close();
