// The part of MCP that a server of tools needs: over stdio, one JSON object a line.

import { TrailblazeClient } from "./client.js";
import { contextOf, split } from "./context.js";
import { error, messageOf, toResult } from "./results.js";
import { writeStdout } from "./stdout.js";

/** @import { ToolResult } from "../index.d.ts" */
/** @import { Input } from "./schema.js" */
/** @typedef {{ input: Input, handler: Function, requiresContext: boolean, listed: Record<string, unknown> }} Tool */

// Newest first; a client that asks for another one is offered the newest.
const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const UNKNOWN_METHOD = -32601;
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;

// When stdin has ended, calls may still finish. The runner waits 5 s before it uses force.
const GRACE_MS = 3000;
// A reader that reads no more must not keep the process.
const FLUSH_MS = 1000;

/** @param {Record<string, unknown>} message */
const encode = (message) => JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n";

/** An answer to a request that is an error of the protocol. */
class ProtocolError extends Error {
  /**
   * @param {number} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/**
 * Serves tools on stdin and stdout, and ends the process when stdin ends, whatever timers live.
 *
 * There is no handler for SIGTERM on purpose: in bun one does not run while stdin is receiving, and would only keep the
 * process alive.
 * @param {Map<string, Tool>} tools
 * @param {{ name: string, version: string }} serverInfo
 */
export function serve(tools, serverInfo) {
  /** @type {Map<unknown, { abort: AbortController, done: Promise<void> }>} not answered and not cancelled, by request id */
  const inFlight = new Map();

  /** @type {Record<string, (params: any, signal: AbortSignal) => unknown>} */
  const methods = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion: VERSIONS.includes(protocolVersion) ? protocolVersion : VERSIONS[0],
      capabilities: { tools: {} },
      serverInfo,
    }),
    ping: () => ({}),
    "tools/list": () => ({ tools: [...tools.values()].map((tool) => tool.listed) }),
    "tools/call": (params, signal) => call(tools, params, signal),
  };

  /**
   * @param {unknown} id
   * @param {string} method
   * @param {any} params
   */
  const answer = (id, method, params) => {
    const abort = new AbortController();
    const work = async () => {
      if (!Object.hasOwn(methods, method)) throw new ProtocolError(UNKNOWN_METHOD, `unknown method ${method}`);
      return encode({ id, result: await methods[method](params ?? {}, abort.signal) });
    };
    const done = work()
      .catch((thrown) => {
        const code = thrown instanceof ProtocolError ? thrown.code : INTERNAL_ERROR;
        return encode({ id, error: { code, message: messageOf(thrown) } });
      })
      .then((line) => {
        if (!abort.signal.aborted) writeStdout(line); // a cancelled request wants no answer
        if (inFlight.get(id)?.abort === abort) inFlight.delete(id);
      });
    inFlight.set(id, { abort, done });
  };

  /** @param {any} message */
  const receive = ({ id, method, params }) => {
    if (typeof method !== "string") return; // an answer, though nothing was asked
    if (id !== undefined) {
      answer(id, method, params);
    } else if (method === "notifications/cancelled") {
      inFlight.get(params?.requestId)?.abort.abort();
      inFlight.delete(params?.requestId);
    }
  };

  const end = async () => {
    const limit = new Promise((resolve) => setTimeout(resolve, GRACE_MS));
    await Promise.race([Promise.all([...inFlight.values()].map(({ done }) => done)), limit]);
    exit();
  };

  process.stdout.on("error", () => process.exit()); // nobody reads any more
  readLines(receive, end);
}

function exit() {
  process.stdout.end(() => process.exit()); // in bun, the callback of an empty write does not wait for the writes before it
  setTimeout(() => process.exit(), FLUSH_MS);
}

/**
 * @param {(message: any) => void} receive
 * @param {() => void} end
 */
function readLines(receive, end) {
  /** @type {string[]} */
  let parts = []; // of a line that has not ended yet
  const stdin = process.stdin;
  stdin.setEncoding("utf8");
  stdin.on("data", (/** @type {string} */ chunk) => {
    const [first, ...others] = chunk.split("\n");
    parts.push(first);
    for (const part of others) {
      parse(parts.join(""), receive);
      parts = [part];
    }
  });
  let ended = false;
  const once = () => {
    if (!ended) end();
    ended = true;
  };
  for (const event of ["end", "close", "error"]) stdin.on(event, once);
}

/**
 * @param {string} line
 * @param {(message: any) => void} receive
 */
function parse(line, receive) {
  const text = line.trim(); // of \r, and of a byte order mark
  if (text === "") return;
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    // Said below.
  }
  if (typeof message === "object" && message !== null && !Array.isArray(message)) return receive(message);
  console.error(`@trailblaze/scripting: ignored a line on stdin that is no message: ${text.slice(0, 200)}`);
}

/**
 * @param {Map<string, Tool>} tools
 * @param {any} params
 * @param {AbortSignal} signal
 * @returns {Promise<ToolResult>}
 */
async function call(tools, { name, arguments: given, _meta }, signal) {
  const tool = tools.get(name);
  if (!tool) throw new ProtocolError(INVALID_PARAMS, `unknown tool ${JSON.stringify(name)}`);
  const ctx = contextOf(_meta, signal, reporter(_meta?.progressToken));
  const result = await outcome(name, tool, given, ctx);
  return ctx ? withMemory(result, ctx.memory) : result;
}

/**
 * What the tool makes of the call; whatever it throws is a result as well.
 * @param {string} name
 * @param {Tool} tool
 * @param {any} given
 * @param {ReturnType<typeof contextOf>} ctx
 */
async function outcome(name, tool, given, ctx) {
  if (tool.requiresContext && !ctx) return error(`${name} works only in a trailblaze session`);
  const { _trailblazeContext, ...args } = given ?? {}; // the older form of ctx
  try {
    const checked = await tool.input.check(args);
    if ("problems" in checked) return error(`invalid arguments for ${name}: ${checked.problems}`);
    return toResult(await tool.handler(checked.value, ctx, new TrailblazeClient(ctx)));
  } catch (thrown) {
    console.error(`${name} failed:`, thrown);
    const message = messageOf(thrown);
    const missed = !ctx && thrown instanceof TypeError && message.includes("undefined");
    return error(missed ? `${message} (ctx is undefined: the call was not made by a trailblaze session)` : message);
  }
}

/**
 * @param {string | number | undefined} progressToken
 * @returns {(message: string) => void}
 */
function reporter(progressToken) {
  if (progressToken === undefined) return () => {};
  let progress = 0;
  return (message) => {
    progress++;
    writeStdout(encode({ method: "notifications/progress", params: { progressToken, progress, message: String(message) } }));
  };
}

/**
 * The result with the changes of memory that no callback took along.
 * @param {ToolResult} result
 * @param {import("./context.js").Memory} memory
 * @returns {ToolResult}
 */
function withMemory(result, memory) {
  const { delta, deletions } = split(memory.changes());
  if (!delta && !deletions) return result;
  const changes = { ...(delta && { memoryDelta: delta }), ...(deletions && { memoryDeletions: deletions }) };
  return { ...result, _meta: { ...result._meta, trailblaze: { ...result._meta?.trailblaze, ...changes } } };
}
