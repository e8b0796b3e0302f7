/** util.parseArgs. @module */
import { parseArgs as parse } from "@pkgjs/parseargs";

/** @param {object} config */
export function parseArgs(config = {}) {
  try {
    return parse({ args: process.argv.slice(2), ...config });
  } catch (error) {
    if (!`${error.code}`.startsWith("ERR_PARSE_ARGS")) throw error;
    throw Object.assign(new TypeError(error.message), { code: error.code });
  }
}
