// Prints a line of JSON: what a page sent and got, by the path of each request, until its title is "done".
// Usage: node requests.mjs BROWSER URL
import { chromium } from "@playwright/test";

const [browser, url] = process.argv.slice(2);
const program = await chromium.launch({ executablePath: browser, timeout: 0 });
const page = await program.newPage();
page.setDefaultTimeout(0); // who starts this program limits it
const responses = [];
page.on("response", (response) => responses.push(response));
await page.goto(url);
await page.waitForFunction(() => document.title === "done");
const seen = {};
for (const response of responses) {
  const request = response.request();
  const path = new URL(request.url()).pathname;
  if (path === "/favicon.ico") continue;
  const hasBody = response.status() === 200;
  seen[path] = {
    Method: request.method(),
    Sent: request.postData() ?? "",
    Got: hasBody ? await response.text() : "",
    Own: request.headers()["x-own"] ?? "",
    Answer: response.headers()["x-answer"] ?? "",
    Status: response.status(),
  };
}
console.log(JSON.stringify(seen));
await program.close();
