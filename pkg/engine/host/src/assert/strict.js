/** node:assert/strict. @module */
import assert from "node:assert";

export default assert.strict;
