/**
 * The first chunk of every engine. It makes the door whole (host.start, host.listen), puts the globals in their places, each to be
 * loaded when it is first touched, and gives the loop in Go the functions that it calls.
 */

import { globals } from "./internal/globals.js";

/** The globals whose modules belong to this chunk's loop. @type {[global: string, chunk: string][]} */
const own = ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "setImmediate", "clearImmediate"].map((name) => [name, "node:timers"]);

const { call, begin, load, microtasks } = host;

/** @type {Map<string, {exports: any}>} */
const modules = new Map();

/**
 * A module of the host's own, or undefined.
 * @param {string} name "node:events" or "internal/x"
 */
function internal(name) {
  const known = modules.get(name);
  if (known) return known.exports;
  const chunk = load(name);
  if (!chunk) return undefined;
  const module = { exports: {} };
  modules.set(name, module);
  chunk(module, module.exports, requireInternal, host);
  return module.exports;
}

function requireInternal(name) {
  const exports = internal(name);
  if (exports === undefined) throw new Error(`the engine has no module ${name}`);
  return exports;
}

function hidden(target, name, value) {
  Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false });
}

function lazily(name, make) {
  Object.defineProperty(globalThis, name, {
    configurable: true,
    enumerable: false,
    get() {
      const value = make();
      hidden(globalThis, name, value);
      return value;
    },
    set: (value) => hidden(globalThis, name, value),
  });
}

for (const [name, chunk] of [...own, ...globals]) lazily(name, () => internal(chunk)?.[name]);
lazily("process", () => internal("node:process"));
lazily("console", () => internal("node:console"));

lazily("Intl", () => internal("internal/intl").Intl);
for (const [prototype, name, shown, length = 0] of [
  [Number.prototype, "toLocaleString", "number"],
  [BigInt.prototype, "toLocaleString", "number"],
  [Date.prototype, "toLocaleString", "date"],
  [Date.prototype, "toLocaleDateString", "day"],
  [Date.prototype, "toLocaleTimeString", "time"],
  [String.prototype, "localeCompare", "compare", 1],
]) {
  const { valueOf } = prototype;
  const method = {
    [name](...args) {
      return internal("internal/intl").shown[shown](valueOf.call(this), ...args);
    },
  };
  hidden(prototype, name, Object.defineProperty(method[name], "length", { value: length }));
}

delete globalThis.InternalError; // they are RangeErrors, as in V8
hidden(globalThis, "global", globalThis);
hidden(globalThis, "queueMicrotask", (task) => {
  if (typeof task !== "function") {
    throw Object.assign(new TypeError('The "callback" argument must be of type function'), { code: "ERR_INVALID_ARG_TYPE" });
  }
  Promise.resolve().then(() => guard(task));
});

// The door.

let lastId = 0;
/** The promises of what was begun, and the stacks of those who began it. @type {Map<number, [(value: any) => void, (error: any) => void, string]>} */
const started = new Map();
/** @type {Map<number, (...args: any[]) => void>} */
const listeners = new Map();

host.start = (name, ...args) =>
  new Promise((resolve, reject) => {
    const id = ++lastId;
    begin(id, name, ...args);
    started.set(id, [resolve, reject, here()]);
  });
host.listen = (listener) => {
  listeners.set(++lastId, listener);
  return lastId;
};
host.unlisten = (id) => listeners.delete(id);
host.require = internal;

// Ticks, microtasks and rejections that nobody handles.

/** @type {[Function, any[]][]} */
let ticks = [];
/** @type {Map<Promise<any>, any>} */
const rejected = new Map();
/** Those that were reported and have got a handler since. @type {Promise<any>[]} */
let handledLate = [];

host.nextTick = (task, ...args) => {
  ticks.push([task, args]);
};

/** Runs what is pending, as node does after each call from its loop. */
function drain() {
  do {
    for (const [task, args] of queued()) guard(task, ...args);
    while (!guard(microtasks));
  } while (ticks.length > 0 || reportRejections());
}

/** All ticks, those that are added meanwhile too. */
function* queued() {
  while (ticks.length > 0) {
    const batch = ticks;
    ticks = [];
    yield* batch;
  }
}

function reportRejections() {
  const late = handledLate;
  handledLate = [];
  for (const promise of late) fatal().handled(promise);
  for (const [promise, reason] of rejected) {
    rejected.delete(promise);
    fatal().rejection(promise, reason);
  }
  return ticks.length > 0 || handledLate.length > 0;
}

/** Calls into the script: what it throws is uncaught. False if it threw. */
function guard(task, ...args) {
  try {
    task(...args);
    return true;
  } catch (error) {
    fatal().exception(error, "uncaughtException");
    return false;
  }
}

const fatal = () => internal("internal/fatal");

/** Calls from the loop: the script's call, then what it left pending. */
function enter(task, ...args) {
  guard(task, ...args);
  drain();
}
host.guard = guard;
host.drain = drain;

// Stacks: those of QuickJS, in the words of V8, with the places in the author's files.

Error.stackTraceLimit = 10;

/** Set while the raw stack of an error is wanted. */
let probe;

function stackOf(error, raw) {
  if (error === probe) return raw;
  return show(error, raw);
}

function show(error, raw) {
  const limit = Number(Error.stackTraceLimit);
  const frames = call("stack.frames", raw, Number.isNaN(limit) ? 0 : limit);
  if (typeof Error.prepareStackTrace === "function") return Error.prepareStackTrace(error, frames.map(callSite));
  const lines = frames.map(({ name, place }) => `\n    at ${name ? `${name} (${place})` : place}`);
  return heading(error) + lines.join("");
}

function heading(error) {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return "Error";
  }
}

/** The part of V8's call sites that packages ask for. */
function callSite({ name, place, file, line, column }) {
  return {
    getFunctionName: () => name || null,
    getMethodName: () => null,
    getTypeName: () => null,
    getThis: () => undefined,
    getFunction: () => undefined,
    getFileName: () => file ?? null,
    getScriptNameOrSourceURL: () => file ?? null,
    getLineNumber: () => line ?? null,
    getColumnNumber: () => column ?? null,
    getEvalOrigin: () => undefined,
    isNative: () => file === undefined,
    isToplevel: () => true,
    isConstructor: () => false,
    isEval: () => false,
    isAsync: () => false,
    toString: () => (name ? `${name} (${place})` : place),
  };
}

/** The raw stack of who calls. */
function here() {
  probe = new Error();
  const { stack } = probe;
  probe = undefined;
  return stack;
}

/** Gives what fails later the stack of the place where it was asked for. */
function askedAt(error, raw) {
  Object.defineProperty(error, "stack", {
    configurable: true,
    get() {
      const value = show(error, raw);
      hidden(error, "stack", value);
      return value;
    },
    set: (value) => hidden(error, "stack", value),
  });
  return error;
}
Object.assign(host, { here, askedAt });

hidden(Error, "captureStackTrace", (target, above) => {
  const lines = here().split("\n").slice(1);
  const skipped = above?.name ? lines.findIndex((line) => line.startsWith(`    at ${above.name} (`)) : -1;
  askedAt(target, lines.slice(skipped + 1).join("\n"));
});

// What a bundle imports.

const [profile, advice] = host.sandbox
  ? ["on-device mode", "mark the tool requiresHost: true, or give its server a runtime: bun"]
  : ["the embedded engine", "install bun (https://bun.sh) or node"];

const unavailable = (name, importer) =>
  `${name} is not available in ${profile} (imported by ${importer}); ${advice}` +
  (host.sandbox ? "" : ", or keep what needs it in a server of its own with runtime: bun");

/** What is thrown when a part of a module is asked for that is not there. @param {string} what */
host.unavailable = (what) =>
  Object.assign(new Error(`${what} is not available in ${profile}; ${advice}`), { code: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM" });

/** What a missing module is: importing it is no mistake, using it is. */
function missing(name, importer) {
  const fail = () => {
    throw Object.assign(new Error(unavailable(name, importer)), { code: "ERR_UNKNOWN_BUILTIN_MODULE" });
  };
  const quiet = new Set(["__esModule", "then", "toJSON", "constructor", "prototype"]);
  const get = (_, property) => {
    if (property === "default") return proxy;
    return typeof property === "symbol" || quiet.has(property) ? undefined : fail();
  };
  const prototype = new Proxy({}, { get }); // what an import copies a module's names to asks it for those that are not there
  // A bound function can be called and constructed, and has no property that a proxy would have to show.
  const proxy = new Proxy(function () {}.bind(), {
    get, set: fail, apply: fail, construct: fail, has: () => false,
    ownKeys: () => [], getOwnPropertyDescriptor: () => undefined, getPrototypeOf: () => prototype,
  });
  return proxy;
}

/** Modules that are nothing without operations that the sandbox does not have. */
const hostOnly = new Set(["fs", "fs/promises", "dns", "dns/promises", "https"].map((name) => `node:${name}`));

function requireForBundle(name, importer) {
  const full = name.startsWith("node:") ? name : `node:${name}`;
  if (host.sandbox && hostOnly.has(full)) return missing(full, importer);
  return internal(full) ?? missing(full, importer);
}

// What the loop calls.

/** undefined until the bundle's own code has run to its end. */
let loaded = false;

export default {
  main(bundle) {
    const failed = (error) => {
      loaded = true;
      fatal().exception(error, "uncaughtException");
    };
    // As a microtask, as node runs modules: those that it leaves come before its ticks.
    Promise.resolve(requireForBundle)
      .then(bundle)
      .then(() => (loaded = true), failed);
    drain();
  },
  stack: stackOf,
  emit(id, ...args) {
    const listener = listeners.get(id);
    if (listener) enter(listener, ...args);
  },
  settle(id, ok, value) {
    const [resolve, reject, asked] = started.get(id);
    started.delete(id);
    if (ok) resolve(value);
    else reject(askedAt(value, asked));
    drain();
  },
  timers: () => internal("node:timers").runTimers(),
  immediates: () => internal("node:timers").runImmediates(),
  rejection(promise, reason, handled) {
    if (!handled) rejected.set(promise, reason);
    else if (!rejected.delete(promise)) handledLate.push(promise);
  },
  signal: (name) => enter(() => internal("node:process").emit(name, name, name === "SIGTERM" ? 15 : 2)),
  beforeExit() {
    const process = modules.get("node:process")?.exports;
    if (process && loaded) enter(() => process.emit("beforeExit", process.exitCode ?? 0));
  },
  exit: () => {
    const process = modules.get("node:process")?.exports;
    if (!loaded && process?.exitCode === undefined) {
      call("process.write", 2, "Warning: the script waits for a promise at its top level that can no longer settle\n");
    }
    const code = process?.exitCode ?? (loaded ? 0 : 13);
    if (process) {
      process.exitCode = code;
      guard(() => process.emit("exit", code));
    }
    return process?.exitCode ?? code;
  },
};
