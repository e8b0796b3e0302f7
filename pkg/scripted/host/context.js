// What a function gets besides its arguments.

import { toolFunctions } from "@trailblaze/scripting/src/client.js";

/**
 * Returns the context and the client of a call. finish puts the changes of memory into the result of the call.
 * @param {any} context of our server; undefined if no session made the call
 * @param {any} client of our server
 */
export function contextFor(context, client) {
  const memory = new Memory(context?.memory);
  const caller = {
    tools: toolFunctions(async (tool, args) => valueOf(tool, await client.callTool(tool, args))),
    callTool: async (/** @type {string} */ tool, /** @type {object} */ args) => {
      const { text, structured } = await client.callTool(tool, args);
      return { success: true, textContent: text, structuredContent: structured };
    },
  };
  const { sessionId, device, target } = context ?? {};
  const ctx = {
    sessionId,
    tools: caller.tools,
    memory,
    device: device && { ...device, instanceId: device.deviceId ?? device.deviceName },
    target: target && targetOf(target),
  };
  return { ctx, caller, finish: () => memory.finish() };
}

/** The keys of the values that commands return: the structured content of a result is an object, also if the value is none. */
const keys = { findMatches: "matches", waitUntilNotVisible: "value" };

/** The value of a reply: what the tool returned as structured content, else its text. */
function valueOf(tool, { text, structured }) {
  if (structured === undefined) return text;
  return structured?.[keys[tool]] ?? structured;
}

function targetOf({ id, displayName, appIds, appId }) {
  return {
    id,
    displayName,
    appIds,
    appId,
    resolveAppId: ({ defaultAppId } = {}) => appId ?? appIds[0] ?? defaultAppId,
    resolveBaseUrl: ({ defaultBaseUrl } = {}) => defaultBaseUrl,
  };
}

/** The texts in the memory of the session, without secrets. Tools that the function calls see its changes after its end. */
class Memory {
  #session;
  #changes = new Map(); // undefined is a deletion

  /** @param {any} session the memory of our server; undefined without one */
  constructor(session = new Map()) {
    this.#session = session;
  }

  get(name) {
    const value = this.#changes.has(name) ? this.#changes.get(name) : this.#session.get(name);
    return value === undefined || typeof value === "string" ? value : JSON.stringify(value);
  }

  set(name, value) {
    if (value === undefined || value === null) throw new TypeError(`memory.set(${JSON.stringify(name)}): a value is required`);
    this.#changes.set(name, typeof value === "string" ? value : JSON.stringify(value));
  }

  has(name) {
    return this.get(name) !== undefined;
  }

  keys() {
    const names = new Set([...this.#session.keys(), ...this.#changes.keys()]);
    return [...names].filter((name) => this.has(name));
  }

  delete(name) {
    const had = this.has(name);
    this.#changes.set(name, undefined);
    return had;
  }

  /** Replaces {{name}} and ${name} in a text. A name without a value stays as it is written. */
  interpolate(text) {
    return text.replace(/\{\{\s*([^{}]+?)\s*\}\}|\$\{([^{}]+)\}/g, (all, braces, dollar) => this.get(braces ?? dollar) ?? all);
  }

  setJson(name, value) {
    this.set(name, JSON.stringify(value));
  }

  getJson(name) {
    const text = this.get(name);
    return text === undefined ? undefined : JSON.parse(text);
  }

  finish() {
    for (const [name, value] of this.#changes) {
      if (value === undefined) this.#session.delete(name);
      else this.#session.set(name, value);
    }
  }
}
