/** Deep equality as node:assert and node:util have it. @module */
export { isDeepEqual, isDeepStrictEqual } from "@frida/assert/internal/util/comparisons.js";
