// Opens a file that leads to the page of a studio, as a person's browser does, waits for the page, and loads it again. It
// prints a line of JSON: where the page is, and what the browser complained about. Usage: node studio.mjs BROWSER FILE
import { pathToFileURL } from "node:url";
import { chromium } from "@playwright/test";

const [browser, file] = process.argv.slice(2);
const program = await chromium.launch({ executablePath: browser, timeout: 0 });
const page = await program.newPage();
page.setDefaultTimeout(0); // who starts this program limits it
const complaints = [];
page.on("console", (m) => ["error", "warning"].includes(m.type()) && complaints.push(m.text()));
page.on("pageerror", (e) => complaints.push(String(e)));
page.on("requestfailed", (r) => complaints.push(`${r.url()}: ${r.failure().errorText}`));
page.on("response", (r) => r.status() >= 400 && complaints.push(`${r.url()}: ${r.status()}`));
await page.goto(pathToFileURL(file).href);
const device = page.getByRole("combobox", { name: "Device" }).getByRole("option"); // the page knows them from the socket
await device.first().waitFor({ state: "attached" });
await page.reload();
await device.first().waitFor({ state: "attached" });
console.log(JSON.stringify({ url: page.url(), complaints }));
await program.close();
