/** node:dns. @module */
import { lookup as found, missing } from "internal/dns";
import { validateFunction } from "internal/errors";

function lookup(name, options, callback) {
  if (typeof options === "function") [options, callback] = [undefined, options];
  validateFunction(callback, "callback");
  found(name, options).then(
    (answer) => process.nextTick(callback, null, ...(Array.isArray(answer) ? [answer] : [answer.address, answer.family])),
    (error) => process.nextTick(callback, error),
  );
}

export default {
  ...missing("dns"),
  ADDRCONFIG: 32,
  ALL: 16,
  V4MAPPED: 8,
  NODATA: "ENODATA",
  NOTFOUND: "ENOTFOUND",
  getDefaultResultOrder: () => "verbatim",
  lookup,
  get promises() {
    return require("node:dns/promises");
  },
  setDefaultResultOrder() {},
};
