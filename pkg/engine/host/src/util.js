/** node:util. Large parts are loaded when they are first used. @module */
import { unavailableFunctions, ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, validateAbortSignal, validateFunction } from "internal/errors";

const custom = Symbol.for("nodejs.util.promisify.custom");

function promisify(original) {
  validateFunction(original, "original");
  const replacement = original[custom];
  if (replacement) {
    validateFunction(replacement, "util.promisify.custom");
    return Object.defineProperty(replacement, custom, { value: replacement, configurable: true });
  }
  const promised = function (...args) {
    return new Promise((resolve, reject) => {
      original.call(this, ...args, (error, value) => (error ? reject(error) : resolve(value)));
    });
  };
  Object.setPrototypeOf(promised, Object.getPrototypeOf(original));
  Object.defineProperty(promised, custom, { value: promised, configurable: true });
  return Object.defineProperties(promised, Object.getOwnPropertyDescriptors(original));
}
promisify.custom = custom;

function callbackify(original) {
  validateFunction(original, "original");
  const called = function (...args) {
    const callback = args.pop();
    validateFunction(callback, "last argument");
    original.apply(this, args).then(
      (value) => process.nextTick(callback, null, value),
      (reason) => process.nextTick(callback, reason ?? falsy(reason)),
    );
  };
  const descriptors = Object.getOwnPropertyDescriptors(original);
  descriptors.length.value++;
  descriptors.name.value += "Callbackified";
  return Object.defineProperties(called, descriptors);
}

const falsy = (reason) =>
  Object.assign(new Error("Promise was rejected with falsy value"), { code: "ERR_FALSY_VALUE_REJECTION", reason });

const warned = new Set();

function deprecate(fn, message, code) {
  const deprecated = function (...args) {
    if (!warned.has(code ?? deprecated)) {
      warned.add(code ?? deprecated);
      process.emitWarning(message, "DeprecationWarning", code);
    }
    return new.target ? Reflect.construct(fn, args, new.target) : fn.apply(this, args);
  };
  Object.setPrototypeOf(deprecated, fn);
  if (fn.prototype) deprecated.prototype = fn.prototype;
  return deprecated;
}

function inherits(constructor, parent) {
  validateFunction(constructor, "ctor");
  validateFunction(parent, "superCtor");
  Object.defineProperty(constructor, "super_", { value: parent, writable: true, configurable: true });
  Object.setPrototypeOf(constructor.prototype, parent.prototype);
}

/** Writes to stderr when NODE_DEBUG names the section. */
function debuglog(section) {
  const wanted = `${process.env.NODE_DEBUG ?? ""}`.split(/[\s,]+/).some(
    (name) => name !== "" && new RegExp(`^${name.replace(/[|\\{}()[\]^$+?.]/g, "\\$&").replace(/\*/g, ".*")}$`, "i").test(section));
  const log = (...args) => {
    if (wanted) process.stderr.write(`${section.toUpperCase()} ${process.pid}: ${util.format(...args)}\n`);
  };
  return Object.defineProperty(log, "enabled", { value: wanted });
}

function styleText(format, text, { validateStream = true, stream = process.stdout } = {}) {
  if (typeof text !== "string") throw new ERR_INVALID_ARG_TYPE("text", "string", text);
  const { colors } = util.inspect;
  const styles = [].concat(format).map((name) => {
    if (typeof name === "string" && Array.isArray(colors[name])) return colors[name];
    const known = Object.keys(colors).map((key) => `'${key}'`).join(", ");
    throw new ERR_INVALID_ARG_VALUE("format", name, `must be one of: ${known}`);
  });
  if (validateStream && !isColourful(stream)) return text;
  const open = styles.map(([start]) => `\u001b[${start}m`).join("");
  return `${open}${text}${styles.reverse().map(([, end]) => `\u001b[${end}m`).join("")}`;
}

function isColourful(stream) {
  const { FORCE_COLOR: force, NO_COLOR: no } = process.env;
  if (force !== undefined) return ["", "1", "true", "2", "3"].includes(force);
  return Boolean(stream?.isTTY) && !no;
}

function aborted(signal, resource) {
  if (signal === undefined) throw new ERR_INVALID_ARG_TYPE("signal", "AbortSignal", signal);
  validateAbortSignal(signal, "signal");
  if (resource === null || typeof resource !== "object") throw new ERR_INVALID_ARG_TYPE("resource", "Object", resource);
  return signal.aborted ? Promise.resolve() : new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** Parses the text of an .env file. */
function parseEnv(content) {
  if (typeof content !== "string") throw new ERR_INVALID_ARG_TYPE("content", "string", content);
  const line = /^\s*(?:export\s+)?([\w.-]+)\s*=[^\S\n]*("(?:\\.|[^"\\])*"|'[^']*'|`[^`]*`|[^\n#]*)/gm;
  const out = {};
  for (const [, name, raw] of content.replace(/\r\n?/g, "\n").matchAll(line)) {
    const quote = /^["'`]/.exec(raw)?.[0];
    const value = quote ? raw.slice(1, -1) : raw.trim();
    out[name] = quote === '"' ? value.replace(/\\n/g, "\n") : value;
  }
  return out;
}

const util = {
  aborted,
  callbackify,
  debug: debuglog,
  debuglog,
  deprecate,
  inherits,
  parseEnv,
  promisify,
  styleText,
  log: (...args) => console.log("%s - %s", new Date().toLocaleTimeString(), util.format(...args)),
  toUSVString: (text) => `${text}`.toWellFormed(),
  parseArgs: (config) => require("internal/parse_args").parseArgs(config),
  isDeepStrictEqual: (a, b) => require("internal/comparisons").isDeepStrictEqual(a, b),
  _extend: (target, source) => (source !== null && typeof source === "object" ? Object.assign(target, source) : target),
  ...unavailableFunctions("util", "MIMEType MIMEParams getSystemErrorMap getSystemErrorName transferableAbortController transferableAbortSignal"),
  isArray: Array.isArray,
  isBoolean: (value) => typeof value === "boolean",
  isBuffer: (value) => Buffer.isBuffer(value),
  isDate: (value) => util.types.isDate(value),
  isError: (value) => value instanceof Error || util.types.isNativeError(value),
  isFunction: (value) => typeof value === "function",
  isNull: (value) => value === null,
  isNullOrUndefined: (value) => value === null || value === undefined,
  isNumber: (value) => typeof value === "number",
  isObject: (value) => value !== null && typeof value === "object",
  isPrimitive: (value) => value === null || (typeof value !== "object" && typeof value !== "function"),
  isRegExp: (value) => util.types.isRegExp(value),
  isString: (value) => typeof value === "string",
  isSymbol: (value) => typeof value === "symbol",
  isUndefined: (value) => value === undefined,
};

/** Exports of other chunks. */
const elsewhere = {
  types: ["node:util/types", "default"],
  inspect: ["internal/inspect", "inspect"],
  format: ["internal/inspect", "format"],
  formatWithOptions: ["internal/inspect", "formatWithOptions"],
  stripVTControlCharacters: ["internal/inspect", "stripVTControlCharacters"],
  TextEncoder: ["internal/encoding", "TextEncoder"],
  TextDecoder: ["internal/encoding", "TextDecoder"],
};
for (const [name, [chunk, key]] of Object.entries(elsewhere)) {
  Object.defineProperty(util, name, {
    configurable: true,
    enumerable: true,
    get() {
      const value = key === "default" ? require(chunk) : require(chunk)[key];
      Object.defineProperty(util, name, { value, configurable: true, enumerable: true, writable: true });
      return value;
    },
  });
}

export default util;
