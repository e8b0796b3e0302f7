/**
 * Event, EventTarget and CustomEvent, without a tree of targets. They are written here because every request of an SDK creates an
 * AbortSignal, and packages that expect a browser are slow to load. An error of a listener is uncaught, as in node.
 * @module
 */
import { ERR_INVALID_ARG_TYPE, ERR_MISSING_ARGS } from "internal/errors";

const phases = { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 };

/** Calls listeners with an event; set by Event. */
let dispatch;

export class Event {
  #type;
  #bubbles;
  #cancelable;
  #composed;
  #prevented = false;
  #stopped = false;
  #stoppedImmediately = false;
  #passive = false;
  #dispatched = false;
  #target = null;
  #current = null;
  #time = host.call("time.now");

  static {
    dispatch = (event, target, listeners) => event.#dispatch(target, listeners);
  }

  constructor(type, options = undefined) {
    if (arguments.length === 0) throw new ERR_MISSING_ARGS("type");
    if (options !== undefined && options !== null && typeof options !== "object") {
      throw new ERR_INVALID_ARG_TYPE("options", "Object", options);
    }
    this.#type = `${type}`;
    this.#bubbles = Boolean(options?.bubbles);
    this.#cancelable = Boolean(options?.cancelable);
    this.#composed = Boolean(options?.composed);
  }

  #dispatch(target, listeners) {
    if (this.#dispatched) {
      throw Object.assign(new Error("The event is already being dispatched"), { code: "ERR_EVENT_RECURSION" });
    }
    this.#dispatched = true;
    this.#target = this.#current = target;
    for (const listener of listeners) {
      if (this.#stoppedImmediately) break;
      this.#passive = listener.passive;
      listener.call(target, this);
    }
    this.#passive = false;
    this.#current = null;
    this.#dispatched = false;
    this.#stopped = this.#stoppedImmediately = false;
    return !this.#prevented;
  }

  get type() {
    return this.#type;
  }

  get target() {
    return this.#target;
  }

  get currentTarget() {
    return this.#current;
  }

  get srcElement() {
    return this.#target;
  }

  get bubbles() {
    return this.#bubbles;
  }

  get cancelable() {
    return this.#cancelable;
  }

  get composed() {
    return this.#composed;
  }

  get timeStamp() {
    return this.#time;
  }

  get isTrusted() {
    return false;
  }

  get eventPhase() {
    return this.#dispatched ? phases.AT_TARGET : phases.NONE;
  }

  get defaultPrevented() {
    return this.#prevented;
  }

  get returnValue() {
    return !this.#prevented;
  }

  get cancelBubble() {
    return this.#stopped;
  }

  set cancelBubble(value) {
    if (value) this.#stopped = true;
  }

  composedPath() {
    return this.#dispatched ? [this.#current] : [];
  }

  preventDefault() {
    if (this.#cancelable && !this.#passive) this.#prevented = true;
  }

  stopPropagation() {
    this.#stopped = true;
  }

  stopImmediatePropagation() {
    this.#stopped = this.#stoppedImmediately = true;
  }

  get [Symbol.toStringTag]() {
    return "Event";
  }

  [Symbol.for("nodejs.util.inspect.custom")](depth, options, inspect) {
    const { type, defaultPrevented, cancelable, timeStamp } = this;
    return `${this.constructor.name} ${inspect({ type, defaultPrevented, cancelable, timeStamp }, options)}`;
  }
}

Object.assign(Event, phases);

/** A listener of one event type: a function, or an object with handleEvent. */
class Listener {
  constructor(callback, options) {
    this.callback = callback;
    this.capture = options.capture;
    this.once = options.once;
    this.passive = options.passive;
    this.removed = false;
  }

  call(target, event) {
    if (this.removed) return;
    if (this.once) this.remove();
    try {
      const { callback } = this;
      const result = typeof callback === "function" ? callback.call(target, event) : callback.handleEvent?.(event);
      if (typeof result?.then === "function") result.then(undefined, throwLater);
    } catch (error) {
      throwLater(error);
    }
  }
}

function throwLater(error) {
  process.nextTick(() => {
    throw error;
  });
}

function optionsOf(options) {
  if (typeof options === "boolean") return { capture: options, once: false, passive: false };
  const { capture = false, once = false, passive = false, signal } = options ?? {};
  return { capture: Boolean(capture), once: Boolean(once), passive: Boolean(passive), signal };
}

/** Returns the listeners of an event type; set by EventTarget. */
export let listenersOf;

export class EventTarget {
  /** @type {Map<string, Listener[]>} */
  #listeners = new Map();

  static {
    listenersOf = (target, type) => (target.#listeners.get(type) ?? []).map(({ callback }) => callback);
  }

  addEventListener(type, callback, options = undefined) {
    if (arguments.length < 2) throw new ERR_MISSING_ARGS("type", "listener");
    if (callback === null || callback === undefined) return;
    if (typeof callback !== "function" && typeof callback !== "object") {
      throw new ERR_INVALID_ARG_TYPE("listener", "EventListener", callback);
    }
    const { signal, ...rest } = optionsOf(options);
    const key = `${type}`;
    if (signal?.aborted || this.#find(key, callback, rest.capture)) return;
    const listener = new Listener(callback, rest);
    listener.remove = () => this.#remove(key, listener);
    this.#listeners.set(key, [...(this.#listeners.get(key) ?? []), listener]);
    signal?.addEventListener("abort", () => listener.remove(), { once: true });
  }

  removeEventListener(type, callback, options = undefined) {
    if (arguments.length < 2) throw new ERR_MISSING_ARGS("type", "listener");
    this.#find(`${type}`, callback, optionsOf(options).capture)?.remove();
  }

  dispatchEvent(event) {
    if (!(event instanceof Event)) throw new ERR_INVALID_ARG_TYPE("event", "Event", event);
    return dispatch(event, this, this.#listeners.get(event.type) ?? []);
  }

  #find(type, callback, capture) {
    return this.#listeners.get(type)?.find((listener) => listener.callback === callback && listener.capture === capture);
  }

  #remove(type, listener) {
    listener.removed = true;
    const left = this.#listeners.get(type).filter((other) => other !== listener);
    if (left.length > 0) this.#listeners.set(type, left);
    else this.#listeners.delete(type);
  }

  get [Symbol.toStringTag]() {
    return "EventTarget";
  }

  [Symbol.for("nodejs.util.inspect.custom")]() {
    return `${this.constructor.name} {}`;
  }
}

export class CustomEvent extends Event {
  #detail;

  /** @param {string} type @param {EventInit & { detail?: unknown }} [options] */
  constructor(type, options = undefined) {
    super(type, options);
    this.#detail = options?.detail ?? null;
  }

  get detail() {
    return this.#detail;
  }
}
