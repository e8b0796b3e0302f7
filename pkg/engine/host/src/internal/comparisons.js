/** Deep equality of node:assert and node:util. @module */
export { isDeepEqual, isDeepStrictEqual } from "@frida/assert/internal/util/comparisons.js";
