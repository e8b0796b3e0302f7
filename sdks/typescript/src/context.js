// The context of a call: session, device, target and memory.

/** @import { TrailblazeContext, TrailblazeMemory } from "../index.d.ts" */

/**
 * The session's memory at the time the call was sent, with the changes of this call.
 * @implements {TrailblazeMemory}
 */
export class Memory {
  /** @type {Map<string, any>} */
  #values;
  /** @type {Map<string, string | undefined>} not sent to trailblaze yet; undefined is a deletion */
  #changes = new Map();

  /** @param {Record<string, unknown> | null} [values] */
  constructor(values) {
    this.#values = new Map(Object.entries(values ?? {}));
  }

  /** @param {string} name */
  get(name) {
    return this.#values.get(name);
  }

  /** @param {string} name */
  has(name) {
    return this.#values.has(name);
  }

  /**
   * @param {string} name
   * @param {unknown} value
   */
  set(name, value) {
    if (value === undefined || value === null) {
      throw new TypeError(`memory.set(${JSON.stringify(name)}, ${value}): a value is required; memory.delete removes a name`);
    }
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    this.#values.set(name, text);
    this.#changes.set(name, text);
    return this;
  }

  /** @param {string} name */
  delete(name) {
    this.#changes.set(name, undefined); // even if it does not exist: another tool may be setting it now
    return this.#values.delete(name);
  }

  keys() {
    return this.#values.keys();
  }

  entries() {
    return this.#values.entries();
  }

  /** Returns a copy of the changes that were not sent to trailblaze yet. */
  changes() {
    return new Map(this.#changes);
  }

  /**
   * Removes changes that were sent, except values that were set again since.
   * @param {Map<string, string | undefined>} sent
   */
  acknowledge(sent) {
    for (const [name, value] of sent) {
      if (this.#changes.has(name) && this.#changes.get(name) === value) this.#changes.delete(name);
    }
  }

  /**
   * Applies the changes of other tools, except to names that this call has changed since.
   * @param {Record<string, unknown> | null} [delta]
   * @param {string[] | null} [deletions]
   */
  update(delta, deletions) {
    for (const [name, value] of Object.entries(delta ?? {})) {
      if (!this.#changes.has(name)) this.#values.set(name, value);
    }
    for (const name of deletions ?? []) {
      if (!this.#changes.has(name)) this.#values.delete(name);
    }
  }
}

/**
 * Splits changes into delta and deletions (see the protocol). Each is undefined if it is empty.
 * @param {Map<string, string | undefined>} changes
 */
export function split(changes) {
  /** @type {Record<string, string>} */
  const delta = {};
  const deletions = [];
  for (const [name, value] of changes) {
    if (value === undefined) deletions.push(name);
    else delta[name] = value;
  }
  return { delta: Object.keys(delta).length ? delta : undefined, deletions: deletions.length ? deletions : undefined };
}

/**
 * Returns the context of a call, undefined if the call was not made by a trailblaze session.
 * @param {any} meta the request's _meta
 * @param {AbortSignal} signal
 * @param {(message: string) => void} progress
 * @returns {(TrailblazeContext & { memory: Memory }) | undefined}
 */
export function contextOf(meta, signal, progress) {
  const given = meta?.trailblaze;
  if (typeof given?.sessionId !== "string") return undefined;
  const { sessionId, invocationId, baseUrl, device, target } = given;
  return { sessionId, invocationId, baseUrl, device, target, memory: new Memory(given.memory), signal, progress };
}
