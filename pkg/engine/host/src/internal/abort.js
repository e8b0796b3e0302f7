/** AbortController and AbortSignal. @module */
import { named } from "internal/named";
import { ERR_INVALID_ARG_TYPE } from "internal/errors";
import { Event, EventTarget } from "internal/event_target";

const abortError = () => new DOMException("This operation was aborted", "AbortError");
const token = Symbol("abort");

/** Aborts a signal; set by AbortSignal. */
let abort;

export class AbortSignal extends EventTarget {
  static {
    named(this, "AbortSignal");
  }

  #aborted = false;
  #reason;
  #handler = null;
  #dependents = new Set();

  static {
    abort = (signal, reason) => signal.#abort(reason);
  }

  constructor(secret) {
    if (secret !== token) throw Object.assign(new TypeError("Illegal constructor"), { code: "ERR_ILLEGAL_CONSTRUCTOR" });
    super();
  }

  get aborted() {
    return this.#aborted;
  }

  get reason() {
    return this.#reason;
  }

  get onabort() {
    return this.#handler;
  }

  set onabort(handler) {
    if (this.#handler) this.removeEventListener("abort", this.#handler);
    this.#handler = typeof handler === "function" ? handler : null;
    if (this.#handler) this.addEventListener("abort", this.#handler);
  }

  throwIfAborted() {
    if (this.#aborted) throw this.#reason;
  }

  #abort(reason) {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    const all = [this];
    for (const signal of all) {
      for (const dependent of signal.#dependents) {
        if (dependent.#aborted) continue;
        dependent.#aborted = true;
        dependent.#reason = reason;
        all.push(dependent);
      }
    }
    for (const signal of all) signal.dispatchEvent(new Event("abort"));
  }

  get [Symbol.toStringTag]() {
    return "AbortSignal";
  }

  [Symbol.for("nodejs.util.inspect.custom")](depth, options, inspect) {
    return `AbortSignal ${inspect({ aborted: this.#aborted }, options)}`;
  }

  static abort(reason = abortError()) {
    const signal = new AbortSignal(token);
    signal.#abort(reason);
    return signal;
  }

  /** @param {number} delay in milliseconds */
  static timeout(delay) {
    if (typeof delay !== "number") throw new ERR_INVALID_ARG_TYPE("delay", "number", delay);
    const signal = new AbortSignal(token);
    const timer = setTimeout(() => {
      signal.#abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"));
    }, delay);
    timer.unref?.();
    return signal;
  }

  /** @param {Iterable<AbortSignal>} signals */
  static any(signals) {
    if (typeof signals?.[Symbol.iterator] !== "function") throw new ERR_INVALID_ARG_TYPE("signals", "Iterable", signals);
    const sources = [...signals];
    for (const [i, source] of sources.entries()) {
      if (!(source instanceof AbortSignal)) throw new ERR_INVALID_ARG_TYPE(`signals[${i}]`, "AbortSignal", source);
    }
    const aborted = sources.find((source) => source.#aborted);
    if (aborted) return AbortSignal.abort(aborted.#reason);
    const signal = new AbortSignal(token);
    for (const source of sources) source.#dependents.add(signal);
    return signal;
  }
}

export class AbortController {
  #signal = new AbortSignal(token);

  get signal() {
    return this.#signal;
  }

  abort(reason = abortError()) {
    abort(this.#signal, reason);
  }

  get [Symbol.toStringTag]() {
    return "AbortController";
  }

  [Symbol.for("nodejs.util.inspect.custom")](depth, options, inspect) {
    return `AbortController ${inspect({ signal: this.#signal }, options)}`;
  }
}
