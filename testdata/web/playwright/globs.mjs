// Prints for each pair of a glob and a URL, which stdin has as JSON with a base URL, whether Playwright matches them.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const require = createRequire(import.meta.url);
const { iso } = require("playwright-core/lib/coreBundle");
const { base, globs, urls } = JSON.parse(readFileSync(0, "utf8"));
const matches = (glob, url) => {
  try {
    return iso.urlMatches(base || undefined, url, glob);
  } catch {
    return null;
  }
};
console.log(JSON.stringify(globs.map((glob) => urls.map((url) => matches(glob, url)))));
