// Serves functions that scripts export as the tools of an MCP server.

import "@trailblaze/scripting/src/stdout.js"; // first, so that nothing is logged to stdout
import { serveStdio } from "@trailblaze/scripting/src/stdio.js";
import { contextFor } from "./context.js";

/**
 * Serves tools. load returns the module of a tool's script, which is loaded at the first call. The arguments of a tool have
 * been checked and coerced by trailblaze.
 * @param {string} name of the server
 * @param {{ listed: { name: string }, file: string, export: string, load: () => Promise<any> }[]} tools
 */
export function serve(name, tools) {
  const served = tools.map((tool) => [
    tool.listed.name,
    {
      listed: tool.listed,
      requiresContext: false,
      input: { json: {}, check: (/** @type {any} */ value) => ({ value }) },
      handler: (/** @type {any} */ args, /** @type {any} */ context, /** @type {any} */ client) => call(tool, args, context, client),
    },
  ]);
  serveStdio(new Map(/** @type {any} */ (served)), { name, version: "0.0.0" });
}

/** Calls the function of a tool. Its changes of memory count only if it succeeds. */
async function call(tool, args, context, client) {
  let module;
  try {
    module = await tool.load();
  } catch (thrown) {
    return notBundled(thrown);
  }
  const exported = module[tool.export];
  if (typeof exported !== "function") throw new TypeError(`${tool.file} exports no function ${tool.export}`);
  const { ctx, caller, finish } = contextFor(context, client);
  const result = resultOf(await exported(args, ctx, caller));
  if (!result.isError) finish();
  return result;
}

/** Returns the failure of a tool whose script cannot be bundled. It was thrown nowhere in the script. */
function notBundled(thrown) {
  if (thrown?.code !== "ERR_NOT_BUNDLED") throw thrown;
  return { content: [{ type: "text", text: `the script cannot be bundled: ${thrown.message}` }], isError: true };
}

/** Returns the MCP result for what a function returned: that result, a text, or any other value, which is JSON. */
function resultOf(returned) {
  if (Array.isArray(returned?.content)) return returned;
  const text = typeof returned === "string" ? returned : JSON.stringify(returned);
  const content = [{ type: "text", text: text ?? "" }];
  if (text === undefined || typeof returned === "string" || returned === null) return { content };
  return { content, structuredContent: JSON.parse(text) };
}
