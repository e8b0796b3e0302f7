import "./stdout.js"; // first, so that nothing is logged to stdout
import { portOf, serveHttp } from "./http.js";
import { inputOf } from "./schema.js";
import { serveStdio } from "./stdio.js";

export { TrailblazeCallbackError, TrailblazeClient, TrailblazeToolError } from "./client.js";
export { createMockClient, createMockContext } from "./mock.js";
export { delegate, error, fatalError, success } from "./results.js";

/** @import { ServerInfo, ToolDefinition, ToolMeta, Trailblaze } from "../index.d.ts" */

const META = (
  "supportedDrivers supportedPlatforms requiresHost requiresContext isForLlm isRecordable isDelegating " + "toolset timeoutMs"
).split(" ");

/** @type {Map<string, import("./server.js").Tool>} */
const tools = new Map();
let running = false;

/**
 * @param {string} tool
 * @param {ToolMeta} [meta]
 */
function prefixed(tool, meta = {}) {
  const unknown = Object.keys(meta).find((key) => !META.includes(key));
  if (unknown) {
    throw new TypeError(`tool ${tool}: meta.${unknown} is unknown; known are ${META.join(", ")}, and _meta takes any key`);
  }
  return Object.fromEntries(Object.entries(meta).map(([key, value]) => [`trailblaze/${key}`, value]));
}

/** Returns the name of the script, which is the default name of the server. */
function scriptName() {
  const file = process.argv?.[1]?.split(/[\\/]/).at(-1);
  return file?.replace(/\.\w+$/, "") || "trailblaze-scripting";
}

/** Returns the name of the main program if it is that of a test; undefined otherwise. */
function testFile() {
  const file = process.argv?.[1]?.split(/[\\/]/).at(-1);
  return file && /[._](test|spec)\.[cm]?[jt]sx?$/.test(file) ? file : undefined;
}

/** @type {Trailblaze} */
export const trailblaze = {
  /**
   * @param {string} name
   * @param {ToolDefinition<any, any>} definition
   * @param {Function} handler
   */
  tool(name, { inputSchema, outputSchema, meta, _meta, ...described }, handler) {
    if (tools.has(name)) throw new Error(`tool ${name} is there already; names are unique in a server`);
    const input = inputOf(inputSchema);
    const output = outputSchema && { outputSchema: inputOf(outputSchema, "outputSchema").json };
    const schemas = { inputSchema: input.json, ...output };
    const metadata = { ..._meta, ...prefixed(name, meta) };
    const listed = { name, ...described, ...schemas, ...(Object.keys(metadata).length && { _meta: metadata }) };
    tools.set(name, { input, handler, listed, requiresContext: metadata["trailblaze/requiresContext"] === true });
  },

  /** @param {ServerInfo} [info] */
  async run({ name = scriptName(), version = "0.0.0" } = {}) {
    if (running) throw new Error("trailblaze.run() was called before; once is enough, after the last trailblaze.tool");
    running = true;
    const test = testFile();
    if (test) return console.error(`@trailblaze/scripting: no tools are served here, since ${test} is a test`);
    const port = portOf(process.argv.slice(2));
    if (port === undefined) serveStdio(tools, { name, version });
    else await serveHttp(tools, { name, version }, port);
  },
};
