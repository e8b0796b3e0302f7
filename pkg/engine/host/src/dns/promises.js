/** node:dns/promises. @module */
import { lookup, missing } from "internal/dns";

export default {
  ...missing("dns.promises"),
  getDefaultResultOrder: () => "verbatim",
  lookup,
  setDefaultResultOrder() {},
};
