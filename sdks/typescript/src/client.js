// Calls other tools of the session through the callback server of trailblaze.

import { contextOf, split } from "./context.js";
import { noteCaller } from "./position.js";
import { messageOf } from "./results.js";

/** @import { CallbackRequest, CallbackResult, ToolReply, TrailblazeContext } from "../index.d.ts" */
/** @import { Memory } from "./context.js" */

// The protocol version of this package. trailblaze rejects another version with an error that says which side to upgrade.
const PROTOCOL = 1;
// The default limit of trailblaze, 30 s, and 2 s for its response to arrive.
const DEFAULT_TIMEOUT_MS = 32_000;
// The limit of trailblaze. We check it too, because a fetch that is still sending may not read the 413 response.
const MAX_BODY_BYTES = 1 << 20;

/** The tool was called and failed. */
export class TrailblazeToolError extends Error {
  /**
   * @param {string} tool
   * @param {string} reason
   */
  constructor(tool, reason) {
    const named = reason.startsWith(`${tool}: `) || reason.includes(`"${tool}"`);
    super(named ? reason : `${tool}: ${reason}`);
    this.name = "TrailblazeToolError";
    this.tool = tool;
    this.reason = reason;
  }
}

/** The call did not reach the tool, or its response was not received. */
export class TrailblazeCallbackError extends Error {
  /**
   * @param {string} tool
   * @param {string} reason
   * @param {unknown} [cause]
   */
  constructor(tool, reason, cause) {
    super(`cannot call ${tool}: ${reason}`, { cause });
    this.name = "TrailblazeCallbackError";
    this.tool = tool;
    this.reason = reason;
  }
}

/**
 * Returns the reply of a tool. Its json() throws an Error if the text is not JSON.
 * @param {string} tool
 * @param {string} text
 * @param {Record<string, unknown>} [structured]
 * @returns {ToolReply}
 */
export function reply(tool, text, structured) {
  return {
    text,
    structured,
    json() {
      if (structured !== undefined) return structured;
      try {
        return JSON.parse(text);
      } catch (cause) {
        throw new Error(`${tool} did not answer with JSON but with ${JSON.stringify(text.slice(0, 200))}`, { cause });
      }
    },
  };
}

/**
 * Reports whether a thrown value is the error of a call of another tool.
 * @param {unknown} thrown
 * @returns {thrown is TrailblazeToolError | TrailblazeCallbackError}
 */
export const isCallError = (thrown) => thrown instanceof TrailblazeToolError || thrown instanceof TrailblazeCallbackError;

/**
 * Logs a failed call that is not awaited, which would otherwise end the server and fail the calls that are pending. Other
 * rejections are thrown again, as without this listener.
 * @param {unknown} reason
 */
function reportUnhandled(reason) {
  if (isCallError(reason)) {
    const advice = "write await client.callTool(…), or await the function that calls it";
    console.error(`${reason.tool} was called without await: ${advice}; ${reason.message}`);
  } else if (process.listenerCount("unhandledRejection") === 1) {
    throw reason;
  }
}

/**
 * Returns an object with a function for every name, which calls the tool of that name. It has no `then`, because `await` would
 * call it.
 * @param {(tool: string, args?: object) => Promise<ToolReply>} callTool
 * @returns {any}
 */
export const toolFunctions = (callTool) =>
  new Proxy(
    {},
    {
      get: (_, tool) =>
        typeof tool === "string" && tool !== "then" ? (/** @type {object | undefined} */ args) => callTool(tool, args) : undefined,
    },
  );

export class TrailblazeClient {
  static #listens = false;
  #ctx;
  tools = toolFunctions((tool, args) => this.callTool(tool, args));

  /** @param {(TrailblazeContext & { memory: Memory }) | undefined} ctx */
  constructor(ctx) {
    this.#ctx = ctx;
  }

  /** @param {any} extra what the MCP SDK passes to a tool: `_meta` and `signal` in version 1, both in `mcpReq` in version 2 */
  static fromContext(extra) {
    const { _meta, signal } = extra?.mcpReq ?? extra ?? {};
    return new TrailblazeClient(contextOf(_meta, signal ?? new AbortController().signal, () => {}));
  }

  /**
   * @param {string} tool
   * @param {object} [args]
   * @returns {Promise<ToolReply>}
   */
  async callTool(tool, args = {}) {
    const here = new Error();
    try {
      return await this.#call(tool, args);
    } catch (thrown) {
      if (isCallError(thrown)) noteCaller(thrown, here);
      throw thrown;
    }
  }

  /**
   * @param {string} tool
   * @param {object} args
   * @returns {Promise<ToolReply>}
   */
  async #call(tool, args) {
    if (!TrailblazeClient.#listens) process.on("unhandledRejection", reportUnhandled);
    TrailblazeClient.#listens = true;
    const ctx = this.#ctx;
    if (!ctx) {
      throw new TrailblazeCallbackError(
        tool,
        "this call was not made by a trailblaze session, so it cannot call other tools",
      );
    }
    if (!ctx.baseUrl) {
      throw new TrailblazeCallbackError(tool, "the session has no callback server; is this trailblaze up to date?");
    }

    const changes = ctx.memory.changes();
    const { delta, deletions } = split(changes);
    /** @type {CallbackRequest["action"]} */
    const action = {
      type: "call_tool",
      tool_name: tool,
      arguments_json: JSON.stringify(args),
      memory_delta: delta,
      memory_deletions: deletions,
    };
    /** @type {CallbackRequest} */
    const body = { version: PROTOCOL, session_id: ctx.sessionId, invocation_id: ctx.invocationId, action };
    const result = parseAnswer(tool, await post(tool, ctx, JSON.stringify(body)));
    ctx.memory.acknowledge(changes);
    ctx.memory.update(result.memory_delta, result.memory_deletions);
    if (!result.success) throw new TrailblazeToolError(tool, result.error_message || "failed without a reason");
    return reply(tool, result.text_content ?? "", result.structured_content ?? undefined);
  }
}

/**
 * Sends a callback request and returns its response, whatever its status is.
 * @param {string} tool
 * @param {TrailblazeContext} ctx
 * @param {string} body
 * @returns {Promise<{ status: number, text: string }>}
 */
async function post(tool, { baseUrl, signal }, body) {
  const bytes = new TextEncoder().encode(body);
  if (bytes.length > MAX_BODY_BYTES) {
    const reason = `the request has ${bytes.length} bytes, at most ${MAX_BODY_BYTES} are allowed; hand over a file's path`;
    throw new TrailblazeCallbackError(tool, reason);
  }
  const limit = Number(process.env?.TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS) || DEFAULT_TIMEOUT_MS;
  const abort = new AbortController();
  const cancel = () => abort.abort();
  const timer = setTimeout(cancel, limit);
  signal.addEventListener("abort", cancel);
  if (signal.aborted) cancel();
  try {
    const url = `${String(baseUrl).replace(/\/+$/, "")}/scripting/callback`;
    const response = await fetch(url, { method: "POST", headers: headers(), body: bytes, signal: abort.signal });
    return { status: response.status, text: await response.text() };
  } catch (thrown) {
    if (signal.aborted) throw new TrailblazeCallbackError(tool, "the call that asked for it was cancelled", thrown);
    if (abort.signal.aborted) {
      const change = "callbackTimeout in the server's entry changes the limit";
      throw new TrailblazeCallbackError(tool, `no answer within ${limit} ms; it may or may not have run; ${change}`, thrown);
    }
    const cause = thrown instanceof Error && thrown.cause ? `: ${messageOf(thrown.cause)}` : "";
    throw new TrailblazeCallbackError(tool, `${baseUrl} does not answer (${messageOf(thrown)}${cause}); ${proxyHint()}`, thrown);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}

function headers() {
  const token = process.env?.TRAILBLAZE_SESSION_TOKEN;
  return { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
}

function proxyHint() {
  const env = process.env ?? {};
  return env.HTTP_PROXY || env.http_proxy
    ? "HTTP_PROXY is set, so NO_PROXY must name 127.0.0.1, as it does in a server that trailblaze started"
    : "the session may be over";
}

/**
 * @param {string} tool
 * @param {{ status: number, text: string }} answer
 * @returns {CallbackResult}
 */
function parseAnswer(tool, { status, text }) {
  const excerpt = JSON.stringify(text.trim().slice(0, 200));
  if (status !== 200) {
    const advice = status === 407 || status >= 500 ? `; ${proxyHint()}` : "";
    throw new TrailblazeCallbackError(tool, `refused with status ${status}: ${excerpt}${advice}`);
  }
  let result;
  try {
    result = JSON.parse(text).result;
  } catch {
    // Reported below.
  }
  if (result?.type === "error") throw new TrailblazeCallbackError(tool, String(result.message));
  if (result?.type !== "call_tool_result" || typeof result.success !== "boolean") {
    const advice = `this @trailblaze/scripting speaks version ${PROTOCOL} of the protocol, upgrade it if trailblaze is newer`;
    throw new TrailblazeCallbackError(tool, `the answer is of an unknown kind; ${advice}: ${excerpt}`);
  }
  return result;
}
