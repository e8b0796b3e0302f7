// The part of MCP that a server of tools needs, for any transport.

import { isCallError, TrailblazeClient } from "./client.js";
import { contextOf, split } from "./context.js";
import { positionOf } from "./position.js";
import { error, messageOf, toResult } from "./results.js";

/** @import { ToolResult } from "../index.d.ts" */
/** @import { Input } from "./schema.js" */
/** @typedef {{ input: Input, handler: Function, requiresContext: boolean, listed: Record<string, unknown> }} Tool */
/** @typedef {{ name: string, version: string }} ServerInfo */
/** @typedef {(message: Record<string, unknown>) => void} Send */

/** The supported versions of MCP, the newest first. A client that requests another version gets the newest. */
export const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const UNKNOWN_METHOD = -32601;
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;

/** How long pending calls may take to finish at the end of stdin. trailblaze sends SIGTERM after 5 s. */
const GRACE_MS = 3000;

/** An error of the protocol, which is the response to a request. */
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

/** The messages exchanged with one client. */
export class Conversation {
  /** @type {Map<unknown, { abort: AbortController, done: Promise<void> }>} requests that are not done, by id */
  #pending = new Map();
  /** @type {Record<string, (params: any, signal: AbortSignal, send: Send) => unknown>} */
  #methods;

  /**
   * @param {Map<string, Tool>} tools
   * @param {ServerInfo} serverInfo
   */
  constructor(tools, serverInfo) {
    this.#methods = {
      initialize: ({ protocolVersion }) => ({
        protocolVersion: VERSIONS.includes(protocolVersion) ? protocolVersion : VERSIONS[0],
        capabilities: { tools: {} },
        serverInfo,
      }),
      ping: () => ({}),
      "tools/list": () => ({ tools: [...tools.values()].map((tool) => tool.listed) }),
      "tools/call": (params, signal, send) => call(tools, params, signal, send),
    };
  }

  /**
   * Handles a message. The promise settles when the response was sent or the request was cancelled.
   * @param {any} message
   * @param {Send} send sends the progress messages of the tool, and then the response
   * @returns {Promise<void> | undefined}
   */
  receive({ id, method, params }, send) {
    if (typeof method !== "string") return; // a response, though nothing was requested
    if (id !== undefined) return this.#answer(id, method, params, send);
    if (method !== "notifications/cancelled") return;
    this.#pending.get(params?.requestId)?.abort.abort();
    this.#pending.delete(params?.requestId);
  }

  /**
   * @param {unknown} id
   * @param {string} method
   * @param {any} params
   * @param {Send} send
   */
  #answer(id, method, params, send) {
    const abort = new AbortController();
    const work = async () => {
      if (!Object.hasOwn(this.#methods, method)) throw new ProtocolError(UNKNOWN_METHOD, `unknown method ${method}`);
      const result = await this.#methods[method](params ?? {}, abort.signal, send);
      if (!abort.signal.aborted) send({ id, result }); // a cancelled request gets no response
    };
    const given = new Promise((resolve) => abort.signal.addEventListener("abort", resolve));
    const done = work()
      .catch((thrown) => {
        const code = thrown instanceof ProtocolError ? thrown.code : INTERNAL_ERROR;
        if (!abort.signal.aborted) send({ id, error: { code, message: messageOf(thrown) } });
      })
      .then(() => {
        if (this.#pending.get(id)?.abort === abort) this.#pending.delete(id);
      });
    this.#pending.set(id, { abort, done });
    return Promise.race([done, given]);
  }

  /** Waits for pending requests, for GRACE_MS at most. */
  async finish() {
    const limit = new Promise((resolve) => setTimeout(resolve, GRACE_MS));
    await Promise.race([Promise.all([...this.#pending.values()].map(({ done }) => done)), limit]);
  }

  /** Cancels pending requests. */
  end() {
    for (const { abort } of this.#pending.values()) abort.abort();
    this.#pending.clear();
  }
}

/**
 * @param {Map<string, Tool>} tools
 * @param {any} params
 * @param {AbortSignal} signal
 * @param {Send} send
 * @returns {Promise<ToolResult>}
 */
async function call(tools, { name, arguments: given, _meta }, signal, send) {
  const tool = tools.get(name);
  if (!tool) throw new ProtocolError(INVALID_PARAMS, `unknown tool ${JSON.stringify(name)}`);
  const ctx = contextOf(_meta, signal, reporter(_meta?.progressToken, send));
  const result = await outcome(name, tool, given, ctx);
  return ctx ? withMemory(result, ctx.memory) : result;
}

/**
 * Returns the result of a tool. What it throws becomes an error result.
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
    return thrownAt(error(explained(name, ctx, thrown)), thrown);
  }
}

/**
 * Returns the message of what a tool threw, with what its author may not know.
 * @param {string} name
 * @param {ReturnType<typeof contextOf>} ctx
 * @param {unknown} thrown
 */
function explained(name, ctx, thrown) {
  const message = messageOf(thrown);
  if (isCallError(thrown)) return `${name}: ${message}`; // says which tool made the call that failed
  const missed = !ctx && thrown instanceof TypeError && message.includes("undefined");
  return missed ? `${message} (ctx is undefined: the call was not made by a trailblaze session)` : message;
}

/**
 * Returns the result with the position in the project's files at which an error was thrown.
 * @param {ToolResult} result
 * @param {unknown} thrown
 * @returns {ToolResult}
 */
function thrownAt(result, thrown) {
  const position = positionOf(thrown);
  return position ? { ...result, _meta: { trailblaze: { thrownAt: position } } } : result;
}

/**
 * @param {string | number | undefined} progressToken
 * @param {Send} send
 * @returns {(message: string) => void}
 */
function reporter(progressToken, send) {
  if (progressToken === undefined) return () => {};
  let progress = 0;
  return (message) => {
    progress++;
    send({ method: "notifications/progress", params: { progressToken, progress, message: String(message) } });
  };
}

/**
 * Returns the result with the changes of memory that no callback has sent.
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
