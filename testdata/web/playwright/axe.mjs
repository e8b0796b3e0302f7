// Prints a line of JSON for each page: the rules that do not hold by @axe-core/playwright, each with its elements. Usage:
// node axe.mjs BROWSER LEVEL-TAG,… URL...
import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "@playwright/test";

// Its own inject leaves out a frame that takes longer than a second, as on a busy machine.
AxeBuilder.prototype.inject = async function (frames) {
  for (const frame of frames) {
    await frame.evaluate(this.script());
    await frame.evaluate(await this.axeConfigure());
  }
};

const [browser, tags, ...urls] = process.argv.slice(2);
const program = await chromium.launch({ executablePath: browser, timeout: 0 });
for (const url of urls) {
  const page = await (await program.newContext()).newPage();
  page.setDefaultTimeout(0); // who starts this program limits it
  await page.goto(url);
  const { violations, incomplete } = await new AxeBuilder({ page }).withTags(tags.split(",")).analyze();
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.flat().join(" ")).join(", ")}`);
  console.log(JSON.stringify({ violations: found, incomplete: incomplete.map(({ id }) => id) }));
}
await program.close();
