// Results of MCP, made from what a handler returns.

/** @import { Delegate, ToolResult } from "../index.d.ts" */

/**
 * @param {string} text
 * @returns {ToolResult}
 */
const textResult = (text) => ({ content: [{ type: "text", text }] });

/**
 * @param {unknown} [value]
 * @returns {ToolResult}
 */
export function success(value) {
  if (value === undefined || value === null) return textResult("");
  if (typeof value !== "object") return textResult(String(value));
  const text = JSON.stringify(value);
  const json = JSON.parse(text); // a Date becomes a string, a Map an empty object
  const isRecord = typeof json === "object" && json !== null && !Array.isArray(json);
  return isRecord ? { ...textResult(text), structuredContent: json } : textResult(text);
}

/**
 * @param {string} message
 * @returns {ToolResult}
 */
export const error = (message) => ({ ...textResult(message), isError: true });

/**
 * @param {string} message
 * @returns {ToolResult}
 */
export const fatalError = (message) => ({ ...error(message), _meta: { trailblaze: { variant: "FatalError" } } });

/**
 * @param {Delegate[]} calls
 * @returns {ToolResult}
 */
export function delegate(calls) {
  for (const [i, call] of calls.entries()) {
    if (typeof call?.tool !== "string") {
      throw new TypeError(`delegate: call ${i + 1} names no tool, write { tool: "name", args: {} }`);
    }
  }
  return success({ _trailblaze_delegates: calls });
}

/**
 * Returns a result unchanged, and any other value as the result of success.
 * @param {any} returned
 * @returns {ToolResult}
 */
export const toResult = (returned) => (Array.isArray(returned?.content) ? returned : success(returned));

/**
 * Returns the first text of a result, empty without one.
 * @param {ToolResult} result
 * @returns {string}
 */
export const textOf = (result) => result.content.find((part) => part.type === "text")?.text ?? "";

/**
 * Returns the message of a thrown value.
 * @param {unknown} thrown
 * @returns {string}
 */
export const messageOf = (thrown) => (thrown instanceof Error && thrown.message) || String(thrown);
