/** util.parseArgs, as node has it. @module */
export { parseArgs } from "@pkgjs/parseargs";
