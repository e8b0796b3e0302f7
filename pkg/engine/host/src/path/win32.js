/** node:path/win32. @module */
import { win32 } from "node:path";

export default win32;
