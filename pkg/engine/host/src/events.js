/** node:events: the events package, and functions that node has added since. @module */
import base from "events/";
import {
  AbortError, ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE, ERR_UNHANDLED_ERROR, validateAbortSignal, validateFunction,
} from "internal/errors";

const isTarget = (it) => typeof it?.addEventListener === "function";
const errorMonitor = Symbol("events.errorMonitor");
const limits = new WeakMap();

/** Adds a listener to an emitter or event target. Returns a function that removes it. */
function listen(emitter, name, listener) {
  if (isTarget(emitter) && typeof emitter.on !== "function") {
    emitter.addEventListener(name, listener);
    return () => emitter.removeEventListener(name, listener);
  }
  if (typeof emitter?.on !== "function") throw new ERR_INVALID_ARG_TYPE("emitter", "EventEmitter", emitter);
  emitter.on(name, listener);
  return () => emitter.removeListener(name, listener);
}

/** @param {AbortSignal | undefined} signal @param {() => void} abort */
function onAbort(signal, abort) {
  if (!signal) return () => {};
  signal.addEventListener("abort", abort, { once: true });
  return () => signal.removeEventListener("abort", abort);
}

async function once(emitter, name, options = {}) {
  const { signal } = options;
  validateAbortSignal(signal, "options.signal");
  if (signal?.aborted) throw new AbortError(undefined, { cause: signal.reason });
  const cleanups = [];
  try {
    return await new Promise((resolve, reject) => {
      cleanups.push(onAbort(signal, () => reject(new AbortError(undefined, { cause: signal.reason }))));
      cleanups.push(listen(emitter, name, (...args) => resolve(args)));
      if (name !== "error" && typeof emitter.on === "function") cleanups.push(listen(emitter, "error", reject));
    });
  } finally {
    for (const stop of cleanups) stop();
  }
}

function on(emitter, name, options = {}) {
  const { signal, close = [] } = options;
  validateAbortSignal(signal, "options.signal");
  if (signal?.aborted) throw new AbortError(undefined, { cause: signal.reason });
  const values = [];
  const waiting = [];
  const cleanups = [];
  let failure;
  let closed = false;
  const done = () => ({ value: undefined, done: true });

  const finish = () => {
    closed = true;
    for (const stop of cleanups.splice(0)) stop();
    for (const { resolve } of waiting.splice(0)) resolve(done());
    return Promise.resolve(done());
  };
  const fail = (error) => {
    if (waiting.length > 0) waiting.shift().reject(error);
    else failure = { error };
    finish();
  };
  cleanups.push(listen(emitter, name, (...args) => {
    if (waiting.length > 0) waiting.shift().resolve({ value: args, done: false });
    else values.push(args);
  }));
  if (name !== "error" && typeof emitter.on === "function") cleanups.push(listen(emitter, "error", fail));
  for (const event of close) cleanups.push(listen(emitter, event, finish));
  cleanups.push(onAbort(signal, () => fail(new AbortError(undefined, { cause: signal.reason }))));

  const prototype = Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype);
  return Object.setPrototypeOf({
    next() {
      if (values.length > 0) return Promise.resolve({ value: values.shift(), done: false });
      if (failure) {
        const { error } = failure;
        failure = undefined;
        return Promise.reject(error);
      }
      if (closed) return Promise.resolve(done());
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    return: finish,
    throw(error) {
      if (!(error instanceof Error)) throw new ERR_INVALID_ARG_TYPE("EventEmitter.AsyncIterator", "Error", error);
      fail(error);
      return Promise.resolve(done());
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  }, prototype);
}

function getEventListeners(emitter, name) {
  if (typeof emitter?.listeners === "function") return emitter.listeners(name);
  if (isTarget(emitter)) return require("internal/event_target").listenersOf(emitter, name);
  throw new ERR_INVALID_ARG_TYPE("emitter", ["EventEmitter", "EventTarget"], emitter);
}

function setMaxListeners(n = base.defaultMaxListeners, ...targets) {
  if (targets.length === 0) base.defaultMaxListeners = n;
  for (const target of targets) {
    if (typeof target?.setMaxListeners === "function") target.setMaxListeners(n);
    else if (isTarget(target)) limits.set(target, n);
    else throw new ERR_INVALID_ARG_TYPE("eventTargets", ["EventEmitter", "EventTarget"], target);
  }
}

function getMaxListeners(target) {
  return typeof target?.getMaxListeners === "function"
    ? target.getMaxListeners()
    : (limits.get(target) ?? base.defaultMaxListeners);
}

function addAbortListener(signal, listener) {
  if (signal === undefined) throw new ERR_INVALID_ARG_TYPE("signal", "AbortSignal", signal);
  validateAbortSignal(signal, "signal");
  let stop = () => {};
  if (signal.aborted) queueMicrotask(() => listener());
  else stop = onAbort(signal, listener);
  return { [Symbol.dispose]: stop };
}

const { prototype } = base;
const { emit, listenerCount, setMaxListeners: setOwnMaxListeners } = prototype;

prototype.emit = function (name, ...args) {
  if (name !== "error") return emit.apply(this, arguments);
  if (this._events?.[errorMonitor] !== undefined) emit.call(this, errorMonitor, ...args);
  if (this._events?.error === undefined && !(args[0] instanceof Error)) {
    throw Object.assign(new ERR_UNHANDLED_ERROR(args[0]), { context: args[0] });
  }
  return emit.apply(this, arguments);
};

prototype.listenerCount = function (name, listener) {
  if (listener == null) return listenerCount.call(this, name);
  return this.listeners(name).filter((it) => it === listener).length;
};

prototype.setMaxListeners = function (n) {
  if (typeof n === "number" && n >= 0) return setOwnMaxListeners.call(this, n);
  throw new (typeof n === "number" ? ERR_OUT_OF_RANGE : ERR_INVALID_ARG_TYPE)("setMaxListeners", typeof n === "number" ? ">= 0" : "number", n);
};

for (const method of ["addListener", "once", "prependListener", "prependOnceListener", "removeListener"]) {
  const original = prototype[method];
  prototype[method] = function (name, listener) {
    validateFunction(listener, "listener");
    return original.call(this, name, listener);
  };
}
prototype.on = prototype.addListener;
prototype.off = prototype.removeListener;

export default Object.assign(base, {
  EventEmitter: base,
  once,
  on,
  getEventListeners,
  setMaxListeners,
  getMaxListeners,
  addAbortListener,
  errorMonitor,
  captureRejectionSymbol: Symbol.for("nodejs.rejection"),
  captureRejections: false,
  usingDomains: false,
});
