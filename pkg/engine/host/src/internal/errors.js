/** Errors with node's codes and messages. @module */

/**
 * Returns a constructor of errors with a code.
 * @param {ErrorConstructor} Base
 * @param {string} code
 * @param {(...args: any[]) => string} words
 */
const coded = (Base, code, words) =>
  function (...args) {
    const error = new Base(words(...args));
    Object.defineProperty(error, "toString", { value: () => `${error.name} [${code}]: ${error.message}`, configurable: true });
    error.code = code;
    return error;
  };

/** @param {unknown} value */
export function received(value) {
  if (value == null) return ` Received ${value}`;
  if (typeof value === "function") return ` Received function ${value.name}`;
  if (typeof value === "object") {
    const name = value.constructor?.name;
    return name ? ` Received an instance of ${name}` : ` Received ${require("node:util").inspect(value, { depth: -1 })}`;
  }
  let text = require("node:util").inspect(value, { colors: false });
  if (text.length > 28) text = `${text.slice(0, 25)}...`;
  return ` Received type ${typeof value} (${text})`;
}

const primitives = ["string", "function", "number", "object", "boolean", "bigint", "symbol"];
const or = (words) => (words.length > 2 ? `${words.slice(0, -1).join(", ")}, or ${words.at(-1)}` : words.join(" or "));

const article = (words) => (words.toLowerCase() === words ? words : `an ${words}`);

function expectation(expected) {
  const all = [].concat(expected);
  const types = all.filter((t) => primitives.includes(t.toLowerCase()) && t !== "Object").map((t) => t.toLowerCase());
  const classes = all.filter((t) => !types.includes(t.toLowerCase()) && /^([A-Z][a-zA-Z0-9]*)+$/.test(t));
  const others = all.filter((t) => !types.includes(t.toLowerCase()) && !classes.includes(t));
  const parts = [];
  if (types.length > 0) parts.push(`${types.length > 1 ? "one of type" : "of type"} ${or(types)}`);
  if (classes.length > 0) parts.push(`an instance of ${or(classes)}`);
  if (others.length > 0) parts.push(others.length > 1 ? `one of ${or(others)}` : article(others[0]));
  return parts.join(" or ");
}

const subject = (name) =>
  name.endsWith(" argument") ? `The ${name}` : `The "${name}" ${name.includes(".") ? "property" : "argument"}`;

export const ERR_INVALID_ARG_TYPE = coded(TypeError, "ERR_INVALID_ARG_TYPE", (name, expected, value) =>
  `${subject(name)} must be ${expectation(expected)}.${received(value)}`);

export const ERR_INVALID_ARG_VALUE = coded(TypeError, "ERR_INVALID_ARG_VALUE", (name, value, reason = "is invalid") => {
  let text = require("node:util").inspect(value);
  if (text.length > 128) text = `${text.slice(0, 128)}...`;
  return `The ${name.includes(".") ? "property" : "argument"} '${name}' ${reason}. Received ${text}`;
});

export const ERR_OUT_OF_RANGE = coded(RangeError, "ERR_OUT_OF_RANGE", (name, range, value) =>
  `The value of "${name}" is out of range. It must be ${range}. Received ${require("node:util").inspect(value)}`);

export const ERR_MISSING_ARGS = coded(TypeError, "ERR_MISSING_ARGS", (...names) => {
  const quoted = names.map((name) => `"${name}"`);
  const list = quoted.length > 1 ? `${quoted.slice(0, -1).join(", ")} and ${quoted.at(-1)}` : quoted[0];
  return `The ${list} argument${names.length > 1 ? "s" : ""} must be specified`;
});

export const ERR_UNHANDLED_ERROR = coded(Error, "ERR_UNHANDLED_ERROR", (value) =>
  `Unhandled error. (${typeof value === "string" ? `'${value}'` : require("node:util").inspect(value)})`);
export const ERR_UNKNOWN_ENCODING = coded(TypeError, "ERR_UNKNOWN_ENCODING", (encoding) => `Unknown encoding: ${encoding}`);
export const ERR_INVALID_THIS = coded(TypeError, "ERR_INVALID_THIS", (type) => `Value of "this" must be of type ${type}`);
export const ERR_INVALID_URL_SCHEME = coded(TypeError, "ERR_INVALID_URL_SCHEME", (scheme) => `The URL must be of scheme ${scheme}`);
export const ERR_INVALID_FILE_URL_PATH = coded(TypeError, "ERR_INVALID_FILE_URL_PATH", (why) => `File URL path ${why}`);
export const ERR_INVALID_FILE_URL_HOST = coded(TypeError, "ERR_INVALID_FILE_URL_HOST", (platform) =>
  `File URL host must be "localhost" or empty on ${platform}`);
export const ERR_USE_AFTER_CLOSE = coded(Error, "ERR_USE_AFTER_CLOSE", (what) => `${what} was closed`);

/** The error of node's functions when their signal is aborted. */
export class AbortError extends Error {
  constructor(message = "The operation was aborted", options = undefined) {
    super(message, options);
    this.code = "ABORT_ERR";
    this.name = "AbortError";
  }
}

/** @param {unknown} value @param {string} name */
export function validateFunction(value, name) {
  if (typeof value !== "function") throw new ERR_INVALID_ARG_TYPE(name, "function", value);
}

/** @param {unknown} value @param {string} name */
export function validateString(value, name) {
  if (typeof value !== "string") throw new ERR_INVALID_ARG_TYPE(name, "string", value);
}

/** @param {unknown} value @param {string} name */
export function validateObject(value, name) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new ERR_INVALID_ARG_TYPE(name, "Object", value);
}

/** @param {unknown} signal @param {string} name */
export function validateAbortSignal(signal, name) {
  if (signal !== undefined && (signal === null || typeof signal !== "object" || !("aborted" in signal))) {
    throw new ERR_INVALID_ARG_TYPE(name, "AbortSignal", signal);
  }
}

/**
 * Returns functions that a module of node has and the engine does not have; they throw.
 * @param {string} module
 * @param {string} names
 */
export const unavailableFunctions = (module, names) =>
  Object.fromEntries(names.split(" ").map((name) => [name, function () {
    throw host.unavailable(`${module}.${name}`);
  }]));
