// Prints a line of JSON for each page: what Playwright makes of it, the numbers that the lines of it get, and what the DevTools
// protocol captures of it. Usage: node aria.mjs BROWSER URL...
import { chromium } from "@playwright/test";

const always = "button link textbox combobox searchbox checkbox radio switch tab menuitem option slider spinbutton".split(" ");
const never = ["text", "generic", "none", "presentation"];

/** The numbered lines of a snapshot, by section 15.1 of the specification, read from the text alone. */
function numbered(snapshot) {
  const refs = [];
  for (const line of snapshot.split("\n")) {
    const [, quoted, plain, rest] = line.match(/^ *- (?:'((?:[^']|'')*)'|(.*?))(?::(?: (.*))?)?$/);
    const key = quoted?.replaceAll("''", "'") ?? plain;
    const [, role, name] = key.match(/^(\/?[a-z]+)(?: ("(?:[^"\\]|\\.)*"))?/);
    if (role.startsWith("/") || never.includes(role)) continue;
    if (always.includes(role) || name !== undefined || rest !== undefined) refs.push(`e${refs.length + 1} ${key}`);
  }
  return refs;
}

/** Lays out what is far from view, as Playwright's own look at it does, and finds the check boxes that a script made indeterminate. */
function prepare() {
  const found = [];
  const look = (root) => {
    for (const e of root.querySelectorAll("*")) {
      if (getComputedStyle(e).contentVisibility === "auto") {
        const range = document.createRange();
        range.selectNodeContents(e);
        range.getBoundingClientRect();
      }
      if (e.indeterminate) found.push(e);
      if (e.shadowRoot) look(e.shadowRoot);
    }
  };
  look(document);
  return found;
}

async function capture(page) {
  const session = await page.context().newCDPSession(page);
  const list = await session.send("Runtime.evaluate", { expression: `(${prepare})()` });
  const { result } = await session.send("Runtime.getProperties", { objectId: list.result.objectId, ownProperties: true });
  const mixed = [];
  for (const { value } of result.filter((p) => p.enumerable)) {
    const { node } = await session.send("DOM.describeNode", { objectId: value.objectId });
    mixed.push(node.backendNodeId);
  }
  const computedStyles = ["display", "visibility", "content", "content-visibility"];
  const start = performance.now();
  const captured = await session.send("DOMSnapshot.captureSnapshot", { computedStyles });
  return { ...captured, mixed, ms: performance.now() - start };
}

const [executablePath, ...urls] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(120_000); // the machine may be busy
  for (const url of urls) {
    await page.goto(url);
    const captured = await capture(page);
    const start = performance.now();
    const snapshot = await page.locator(":root").ariaSnapshot();
    console.log(JSON.stringify({ url, snapshot, refs: numbered(snapshot), capture: captured, ms: performance.now() - start }));
  }
} finally {
  await browser.close();
}
