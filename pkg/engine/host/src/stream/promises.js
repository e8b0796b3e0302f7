/** node:stream/promises. @module */
import { promises } from "node:stream";

export default promises;
