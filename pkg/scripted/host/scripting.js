// The package @trailblaze/scripting of the JVM Trailblaze, as far as functions of scripts use it.

import { contextOf } from "@trailblaze/scripting/src/context.js";
import { contextFor } from "./context.js";
import { TrailblazeClient } from "@trailblaze/scripting/src/client.js";

/**
 * tool(handler), tool(spec, handler) or tool(name, spec, handler) returns the function that is exported. The first two
 * handlers get (input, ctx), that of a tool with a name (args, ctx, client). A spec was read by trailblaze.
 */
function tool(...given) {
  const handler = given.at(-1);
  if (typeof handler !== "function") throw new TypeError("trailblaze.tool: the last argument is not a function");
  if (typeof given[0] === "string") return handler;
  return (args, { memory, device, target, ...ctx }, client) => handler(args, { tools: (client ?? ctx).tools, memory, device, target });
}

/** Does nothing: trailblaze serves what a script exports. */
async function run() {}

export const trailblaze = { tool, run };
export { run, tool };

/** Returns the context in the _meta of a call; undefined if no session made the call. */
export function fromMeta(meta) {
  const context = contextOf(meta, new AbortController().signal, () => {});
  return context && contextFor(context, new TrailblazeClient(context)).ctx;
}

/** Functions that return a selector as it is. */
export const selectors = new Proxy({}, { get: () => (selector) => selector });

const missing = (name, instead) => () => {
  throw new Error(`${name} of @trailblaze/scripting does not exist in this trailblaze; ${instead}`);
};
export const captureViewHierarchy = missing("captureViewHierarchy", "ctx.tools.findMatches finds elements");
export const runConditionalActions = missing("runConditionalActions", "write the conditions with ctx.tools");

let zod; // loaded at the first use, since few scripts need it
function loadZod() {
  try {
    return require("zod");
  } catch (cause) {
    throw new Error("z of @trailblaze/scripting is the package zod of the project, which cannot be loaded: install zod there", { cause });
  }
}
export const z = new Proxy({}, { get: (_, name) => ((zod ??= loadZod()).z ?? zod)[name] });
