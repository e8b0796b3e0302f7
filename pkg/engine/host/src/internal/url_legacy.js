/** The older half of node:url. @module */
export { toUnicode } from "@frida/punycode";
export { Url, format, parse, resolve, resolveObject } from "@frida/url";
