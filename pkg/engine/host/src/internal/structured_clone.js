/** structuredClone. @module */
import types from "node:util/types";

const errors = { __proto__: null, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

const throwUncloneable = (what) => {
  throw new DOMException(`${what} could not be cloned.`, "DataCloneError");
};

export function structuredClone(value, options = undefined) {
  if (arguments.length === 0) {
    throw Object.assign(new TypeError("The value argument must be specified"), { code: "ERR_MISSING_ARGS" });
  }
  const seen = new Map();
  for (const item of options?.transfer ?? []) {
    if (!types.isArrayBuffer(item)) throwUncloneable("Value not transferable, and thus it");
    seen.set(item, item.transfer());
  }
  return clone(value, seen);
}

function clone(value, seen) {
  if (typeof value === "function" || typeof value === "symbol") throwUncloneable(String(value));
  if (typeof value !== "object" || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === Array.prototype) return cloneProperties(value, seen);
  const simple = cloneSimple(value, seen);
  if (simple !== undefined) {
    seen.set(value, simple);
    return simple;
  }
  if (types.isMap(value)) return cloneMap(value, seen);
  if (types.isSet(value)) return cloneSet(value, seen);
  if (types.isNativeError(value)) return cloneError(value, seen);
  if (types.isPromise(value) || types.isWeakMap(value) || types.isWeakSet(value) || value instanceof WeakRef) {
    throwUncloneable(`#<${value.constructor.name}>`);
  }
  return cloneProperties(value, seen);
}

function cloneProperties(value, seen) {
  const copy = Array.isArray(value) ? new Array(value.length) : {};
  seen.set(value, copy);
  for (const key of Object.keys(value)) {
    const item = clone(value[key], seen);
    if (key === "__proto__") Object.defineProperty(copy, key, { value: item, writable: true, enumerable: true, configurable: true });
    else copy[key] = item;
  }
  return copy;
}

/** Clones a value that contains no other objects; undefined for others. */
function cloneSimple(value, seen) {
  if (types.isDate(value)) return new Date(value.getTime());
  if (types.isRegExp(value)) return new RegExp(value.source, value.flags);
  if (types.isBoxedPrimitive(value)) return types.isSymbolObject(value) ? throwUncloneable("Object(Symbol)") : Object(value.valueOf());
  if (types.isArrayBuffer(value)) return value.slice(0);
  if (types.isSharedArrayBuffer(value)) return value;
  if (!ArrayBuffer.isView(value)) return undefined;
  const buffer = clone(value.buffer, seen);
  if (types.isDataView(value)) return new DataView(buffer, value.byteOffset, value.byteLength);
  // The clone of a Buffer is a Uint8Array.
  const Type = globalThis[Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get.call(value)];
  return new Type(buffer, value.byteOffset, value.length);
}

function cloneMap(value, seen) {
  const copy = new Map();
  seen.set(value, copy);
  for (const [key, item] of [...Map.prototype.entries.call(value)]) copy.set(clone(key, seen), clone(item, seen));
  return copy;
}

function cloneSet(value, seen) {
  const copy = new Set();
  seen.set(value, copy);
  for (const item of [...Set.prototype.values.call(value)]) copy.add(clone(item, seen));
  return copy;
}

function cloneError(value, seen) {
  const Type = errors[value.name] ?? Error;
  const copy = new Type();
  seen.set(value, copy);
  for (const key of ["stack", "message", "cause"]) {
    if (Object.hasOwn(value, key)) {
      Object.defineProperty(copy, key, { value: clone(value[key], seen), writable: true, configurable: true });
    }
  }
  return copy;
}
