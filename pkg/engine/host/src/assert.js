/** node:assert. @module */
import assert from "@frida/assert";

export default assert;
