// Prints the ARIA snapshot of each page of an app that runs already, by title. Usage: node app.mjs BROWSER URL
import { chromium } from "@playwright/test";

const browser = await chromium.connectOverCDP(process.argv[3]);
const snapshots = {};
for (const page of browser.contexts()[0].pages()) {
  snapshots[await page.title()] = await page.locator("body").ariaSnapshot();
}
console.log(JSON.stringify(snapshots));
await browser.close();
