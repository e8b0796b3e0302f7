/** The legacy API of node:url. @module */
import { Url } from "unenv/node/url";

export { toUnicode } from "unenv/node/punycode";
export { Url };

/** The package's function without its warnings. */
export function parse(url, parseQuery = false, slashesDenoteHost = false) {
  if (url instanceof Url) return url;
  const parsed = new Url();
  parsed.parse(url, parseQuery, slashesDenoteHost);
  return parsed;
}

export const format = (url) => (typeof url === "string" ? parse(url) : Object.assign(new Url(), url)).format();
export const resolve = (from, to) => parse(from, false, true).resolveObject(to).format();
export const resolveObject = (from, to) => (from ? parse(from, false, true).resolveObject(to) : to);
