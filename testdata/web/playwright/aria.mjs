// Prints a line of JSON for each page: what Playwright makes of it, the numbers that the lines of it get, what the DevTools
// protocol captures of it, and which templates match it. Usage: node aria.mjs BROWSER URL...
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

/** Some templates for toMatchAriaSnapshot that are made from a snapshot, by far not all of which match it. */
function templatesOf(snapshot) {
  const lines = snapshot.split("\n");
  const depth = (line) => line.search(/\S/);
  const all = [snapshot];
  const states = ["checked", "disabled", "expanded", "selected", "invalid", "pressed", "pressed=mixed", "level=2"];
  for (const [i, line] of lines.entries()) {
    if (/^ *- (\/|text:|')/.test(line)) continue;
    const from = depth(line);
    let end = i + 1;
    while (end < lines.length && depth(lines[end]) > from) end++;
    const subtree = lines.slice(i, end).map((l) => l.slice(from));
    const key = subtree[0].replace(/:( .*)?$/, "");
    const children = subtree.slice(1);
    all.push(subtree.join("\n"), key, key.replace(/"(\w)(?:[^"\\]|\\.)*"/, "/^$1/"), key.replace(/"(.)/, '"x$1'));
    const state = states[i % states.length];
    if (!key.includes(`[${state.split("=")[0]}`)) all.push(`${key} [${state}]`, `${key} [${state.split("=")[0]}=false]`);
    if (!children.length) continue;
    const some = children.filter((l, k) => depth(l) !== 2 || k === 0);
    for (const mode of ["equal", "deep-equal", "contain"]) {
      all.push([key + ":", `  - /children: ${mode}`, ...children].join("\n"));
      all.push([key + ":", `  - /children: ${mode}`, some[0].replace(/:$/, "")].join("\n"));
    }
    const last = children.findLastIndex((l) => depth(l) === 2);
    if (last > 0) all.push([key + ":", ...children.slice(last), ...children.slice(0, last)].join("\n"));
  }
  const valid = all.filter((t) => !/\[level=false\]/.test(t));
  const step = Math.max(1, valid.length / 40);
  return Array.from({ length: Math.min(40, valid.length) }, (_, i) => valid[Math.floor(i * step)]);
}

async function matchTemplates(page, snapshot) {
  const list = [];
  for (const template of templatesOf(snapshot)) {
    const options = { expectedValue: template, isNot: false, timeout: 1 };
    const { matches } = await page.locator(":root")._expect("to.match.aria", options);
    list.push({ template, matches });
  }
  return list;
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
    const ms = performance.now() - start;
    const templates = snapshot.length < 50_000 ? await matchTemplates(page, snapshot) : [];
    console.log(JSON.stringify({ url, snapshot, refs: numbered(snapshot), capture: captured, ms, templates }));
  }
} finally {
  await browser.close();
}
