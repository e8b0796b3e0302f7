// What a tool knows of the session that calls it.

/** @import { TrailblazeContext, TrailblazeMemory } from "../index.d.ts" */

/**
 * The session's memory as it was when the call was sent, and what this call has changed since.
 * @implements {TrailblazeMemory}
 */
export class Memory {
  /** @type {Map<string, any>} */
  #values;
  /** @type {Map<string, string | undefined>} what the runner has not been told yet; undefined is a deletion */
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
      throw new TypeError(`memory.set(${JSON.stringify(name)}, ${value}): there is no value; memory.delete takes a name out`);
    }
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    this.#values.set(name, text);
    this.#changes.set(name, text);
    return this;
  }

  /** @param {string} name */
  delete(name) {
    this.#changes.set(name, undefined); // even if it is not there: another tool may be setting it now
    return this.#values.delete(name);
  }

  keys() {
    return this.#values.keys();
  }

  entries() {
    return this.#values.entries();
  }

  /** The changes that the runner has not been told yet, as they are now. */
  changes() {
    return new Map(this.#changes);
  }

  /**
   * The runner knows these changes; what was set again meanwhile it does not.
   * @param {Map<string, string | undefined>} told
   */
  acknowledge(told) {
    for (const [name, value] of told) {
      if (this.#changes.has(name) && this.#changes.get(name) === value) this.#changes.delete(name);
    }
  }

  /**
   * Takes over what other tools changed, except where this call has something newer.
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
 * Splits changes into what the protocol calls delta and deletions; each is undefined when empty.
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
 * The context of a call, undefined when no trailblaze session made it.
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
