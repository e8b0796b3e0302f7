/** The older half of node:url. @module */
import punycode from "unenv/node/punycode";

export { Url, format, parse, resolve, resolveObject } from "unenv/node/url";
export const { toUnicode } = punycode;
