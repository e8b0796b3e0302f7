// Mocks of a session for unit tests of tools.

import { reply, toolFunctions, TrailblazeToolError } from "./client.js";
import { Memory } from "./context.js";
import { textOf, toResult, messageOf } from "./results.js";

/** @import { MockClient, MockClientOptions, MockContext, MockContextOptions } from "../index.d.ts" */

/**
 * @param {MockContextOptions} [options]
 * @returns {MockContext}
 */
export function createMockContext({ memory, device, signal = new AbortController().signal, ...rest } = {}) {
  /** @type {string[]} */
  const messages = [];
  return {
    sessionId: "mock-session",
    invocationId: "mock-invocation",
    target: undefined,
    ...rest,
    baseUrl: undefined,
    device: { platform: "web", widthPixels: 1280, heightPixels: 800, driverType: "playwright-native", ...device },
    memory: new Memory(memory),
    signal,
    messages,
    progress: (message) => void messages.push(message),
  };
}

/**
 * @param {MockClientOptions} [options]
 * @returns {MockClient}
 */
export function createMockClient({ tools = {} } = {}) {
  /** @type {MockClient["calls"]} */
  const calls = [];
  /**
   * @param {string} tool
   * @param {object} [args]
   * @returns {Promise<any>}
   */
  async function callTool(tool, args = {}) {
    calls.push({ tool, args: /** @type {Record<string, any>} */ (args) });
    if (!Object.hasOwn(tools, tool)) {
      throw new TrailblazeToolError(tool, `unknown tool; the mock has: ${Object.keys(tools).join(", ") || "none"}`);
    }
    const result = toResult(await answer(tool, tools[tool], args));
    if (result.isError) throw new TrailblazeToolError(tool, textOf(result));
    return reply(tool, textOf(result), result.structuredContent);
  }
  return { calls, callTool, tools: toolFunctions(callTool) };
}

/**
 * @param {string} tool
 * @param {unknown} given
 * @param {Record<string, any>} args
 */
async function answer(tool, given, args) {
  if (typeof given !== "function") return given;
  try {
    return await given(args);
  } catch (thrown) {
    throw new TrailblazeToolError(tool, messageOf(thrown));
  }
}
