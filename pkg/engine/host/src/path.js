/** node:path. @module */
import { posix, win32 } from "@frida/path";
import process from "node:process";

export default process.platform === "win32" ? win32 : posix;
