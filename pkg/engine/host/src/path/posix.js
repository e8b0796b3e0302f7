/** node:path/posix. @module */
import { posix } from "node:path";

export default posix;
