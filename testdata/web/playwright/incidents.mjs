// Prints, as JSON, what a test of Playwright is told of a page until its title is "done": errors of scripts and of the
// console, responses with a status of 500 and more, and dialogs. Usage: node incidents.mjs BROWSER URL
import { chromium } from "@playwright/test";

const [browser, url] = process.argv.slice(2);
const program = await chromium.launch({ executablePath: browser, timeout: 0 });
const page = await program.newPage();
page.setDefaultTimeout(0); // who starts this program limits it
const seen = { pageError: [], consoleError: [], http5xx: [], unhandledDialog: [] };
page.on("pageerror", (error) => seen.pageError.push(error.message ?? String(error)));
page.on("console", (message) => {
  const failed = message.text().startsWith("Failed to load resource");
  if (!failed && ["error", "assert"].includes(message.type())) seen.consoleError.push(message.text());
});
page.on("response", (response) => response.status() >= 500 && seen.http5xx.push(`${response.request().method()} ${response.url()}`));
page.on("dialog", async (dialog) => {
  seen.unhandledDialog.push(`${dialog.type()} "${dialog.message()}"`);
  await dialog.dismiss();
});
await page.goto(url);
await page.waitForFunction(() => document.title === "done");
console.log(JSON.stringify(seen));
await program.close();
