/**
 * The first chunk of every engine. It completes the host object (host.callAsync, host.listen), defines the globals, each of which is
 * loaded when it is first used, and exports the functions that Go's event loop calls.
 */

import { globals } from "./internal/globals.js";

/** Globals that node:timers defines. @type {[global: string, chunk: string][]} */
const timerGlobals = ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "setImmediate", "clearImmediate"].map((name) => [name, "node:timers"]);

const { call, startAsync, load, runMicrotasks } = host;

/** @type {Map<string, {exports: any}>} */
const modules = new Map();

/**
 * Returns the exports of a built-in module, or undefined.
 * @param {string} name "node:events" or "internal/x"
 */
function loadInternal(name) {
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
  const exports = loadInternal(name);
  if (exports === undefined) throw new Error(`the engine has no module ${name}`);
  return exports;
}

function defineHidden(target, name, value) {
  Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false });
}

function defineLazy(name, make) {
  Object.defineProperty(globalThis, name, {
    configurable: true,
    enumerable: false,
    get() {
      const value = make();
      defineHidden(globalThis, name, value);
      return value;
    },
    set: (value) => defineHidden(globalThis, name, value),
  });
}

for (const [name, chunk] of [...timerGlobals, ...globals]) defineLazy(name, () => loadInternal(chunk)?.[name]);
defineLazy("process", () => loadInternal("node:process"));
defineLazy("console", () => loadInternal("node:console"));

defineLazy("Intl", () => loadInternal("internal/intl").Intl);
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
      return loadInternal("internal/intl").prototypeMethods[shown](valueOf.call(this), ...args);
    },
  };
  defineHidden(prototype, name, Object.defineProperty(method[name], "length", { value: length }));
}

delete globalThis.InternalError; // such errors are RangeErrors, as in V8
defineHidden(globalThis, "global", globalThis);
defineHidden(globalThis, "queueMicrotask", (task) => {
  if (typeof task !== "function") {
    throw Object.assign(new TypeError('The "callback" argument must be of type function'), { code: "ERR_INVALID_ARG_TYPE" });
  }
  Promise.resolve().then(() => guard(task));
});

// Calls to Go.

let lastId = 0;
/** Resolve, reject and the caller's stack of each asynchronous operation. @type {Map<number, [(value: any) => void, (error: any) => void, string]>} */
const pendingOperations = new Map();
/** @type {Map<number, (...args: any[]) => void>} */
const listeners = new Map();

host.callAsync = (name, ...args) =>
  new Promise((resolve, reject) => {
    const id = ++lastId;
    startAsync(id, name, ...args);
    pendingOperations.set(id, [resolve, reject, captureStack()]);
  });
host.listen = (listener) => {
  listeners.set(++lastId, listener);
  return lastId;
};
host.unlisten = (id) => listeners.delete(id);
host.require = loadInternal;

// Ticks, microtasks and unhandled rejections.

/** @type {[Function, any[]][]} */
let ticks = [];
/** @type {Map<Promise<any>, any>} */
const rejected = new Map();
/** Rejected promises that got a handler after they were reported. @type {Promise<any>[]} */
let handledLater = [];

host.nextTick = (task, ...args) => {
  ticks.push([task, args]);
};

/** Runs ticks and microtasks, as node does after each call from its event loop. */
function runPending() {
  do {
    for (const [task, args] of takeTicks()) guard(task, ...args);
    while (!guard(runMicrotasks));
  } while (ticks.length > 0 || reportRejections());
}

/** Removes and yields all ticks, including those that are added meanwhile. */
function* takeTicks() {
  while (ticks.length > 0) {
    const batch = ticks;
    ticks = [];
    yield* batch;
  }
}

function reportRejections() {
  const late = handledLater;
  handledLater = [];
  for (const promise of late) fatal().handled(promise);
  for (const [promise, reason] of rejected) {
    rejected.delete(promise);
    fatal().rejection(promise, reason);
  }
  return ticks.length > 0 || handledLater.length > 0;
}

/** Calls a function of the script. An exception is uncaught; then the result is false. */
function guard(task, ...args) {
  try {
    task(...args);
    return true;
  } catch (error) {
    fatal().exception(error, "uncaughtException");
    return false;
  }
}

const fatal = () => loadInternal("internal/fatal");

/** Calls a function of the script from the event loop, and then runs ticks and microtasks. */
function callScript(task, ...args) {
  guard(task, ...args);
  runPending();
}
host.guard = guard;
host.runPending = runPending;

// Stacks: QuickJS's stacks in the format of V8, with positions in the source files.

Error.stackTraceLimit = 10;

/** The error whose stack is to stay as QuickJS made it. */
let stackProbe;

function stackOf(error, raw) {
  if (error === stackProbe) return raw;
  return formatStack(error, raw);
}

function formatStack(error, raw) {
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

/** A call site of V8, with the methods that packages use. */
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

/** Returns QuickJS's stack of the caller. */
function captureStack() {
  stackProbe = new Error();
  const { stack } = stackProbe;
  stackProbe = undefined;
  return stack;
}

/** Sets the stack of an error that is thrown later than its cause. @param {string} raw from captureStack */
function withStack(error, raw) {
  Object.defineProperty(error, "stack", {
    configurable: true,
    get() {
      const value = formatStack(error, raw);
      defineHidden(error, "stack", value);
      return value;
    },
    set: (value) => defineHidden(error, "stack", value),
  });
  return error;
}
Object.assign(host, { captureStack, withStack });

defineHidden(Error, "captureStackTrace", (target, above) => {
  const lines = captureStack().split("\n").slice(1);
  const skipped = above?.name ? lines.findIndex((line) => line.startsWith(`    at ${above.name} (`)) : -1;
  withStack(target, lines.slice(skipped + 1).join("\n"));
});

// Modules that a bundle imports.

const [environment, hint] = host.sandbox
  ? ["on-device mode", "mark the tool requiresHost: true, or give its server a runtime: bun"]
  : ["the embedded engine", "install bun (https://bun.sh) or node"];

const unavailable = (name, importer) =>
  `${name} is not available in ${environment} (imported by ${importer}); ${hint}` +
  (host.sandbox ? "" : ", or keep what needs it in a server of its own with runtime: bun");

/** Returns the error of a function that the engine does not have. @param {string} what */
host.unavailable = (what) =>
  Object.assign(new Error(`${what} is not available in ${environment}; ${hint}`), { code: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM" });

/** Returns a module that throws when it is used. Packages import modules that they may not use. */
function missingModule(name, importer) {
  const fail = () => {
    throw Object.assign(new Error(unavailable(name, importer)), { code: "ERR_UNKNOWN_BUILTIN_MODULE" });
  };
  const silentProperties = new Set(["__esModule", "then", "toJSON", "constructor", "prototype"]);
  const get = (_, property) => {
    if (property === "default") return proxy;
    return typeof property === "symbol" || silentProperties.has(property) ? undefined : fail();
  };
  const prototype = new Proxy({}, { get }); // an import copies the module's properties to an object, which inherits the others
  // A bound function is callable and constructable, and has no property that a proxy has to report.
  const proxy = new Proxy(function () {}.bind(), {
    get, set: fail, apply: fail, construct: fail, has: () => false,
    ownKeys: () => [], getOwnPropertyDescriptor: () => undefined, getPrototypeOf: () => prototype,
  });
  return proxy;
}

/** Modules that need operations that the sandbox does not have. */
const hostOnly = new Set(["fs", "fs/promises", "dns", "dns/promises", "https"].map((name) => `node:${name}`));

function requireForBundle(name, importer) {
  const full = name.startsWith("node:") ? name : `node:${name}`;
  if (host.sandbox && hostOnly.has(full)) return missingModule(full, importer);
  return loadInternal(full) ?? missingModule(full, importer);
}

// Functions that Go calls.

/** Whether the bundle's top level has finished. */
let loaded = false;

export default {
  main(bundle) {
    const fail = (error) => {
      loaded = true;
      fatal().exception(error, "uncaughtException");
    };
    // In a microtask, as node runs modules: microtasks that the bundle adds run before its ticks.
    Promise.resolve(requireForBundle)
      .then(bundle)
      .then(() => (loaded = true), fail);
    runPending();
  },
  stack: stackOf,
  emit(id, ...args) {
    const listener = listeners.get(id);
    if (listener) callScript(listener, ...args);
  },
  settle(id, ok, value) {
    const [resolve, reject, stack] = pendingOperations.get(id);
    pendingOperations.delete(id);
    if (ok) resolve(value);
    else reject(withStack(value, stack));
    runPending();
  },
  timers: () => loadInternal("node:timers").runTimers(),
  immediates: () => loadInternal("node:timers").runImmediates(),
  rejection(promise, reason, handled) {
    if (!handled) rejected.set(promise, reason);
    else if (!rejected.delete(promise)) handledLater.push(promise);
  },
  signal: (name) => callScript(() => loadInternal("node:process").emit(name, name, name === "SIGTERM" ? 15 : 2)),
  beforeExit() {
    const process = modules.get("node:process")?.exports;
    if (process && loaded) callScript(() => process.emit("beforeExit", process.exitCode ?? 0));
  },
  exit: () => {
    const process = modules.get("node:process")?.exports;
    if (!loaded && process?.exitCode === undefined) {
      call("process.write", 2, "Warning: the script awaits a promise at its top level that never settles\n");
    }
    const code = process?.exitCode ?? (loaded ? 0 : 13);
    if (process) {
      process.exitCode = code;
      guard(() => process.emit("exit", code));
    }
    return process?.exitCode ?? code;
  },
};
