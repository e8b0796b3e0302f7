/** node:util/types: checks the internal slots of a value, not its prototype. @module */

/** Reports whether a method of a built-in prototype accepts a value: it throws for values without its internal slots. */
const accepts = (method) => (value) => {
  try {
    method.call(value);
    return true;
  } catch {
    return false;
  }
};
const getter = (prototype, name) => accepts(Object.getOwnPropertyDescriptor(prototype, name).get);

/** Plain objects and arrays are not checked, because throwing is slow when the stack is deep. */
const object = (test) => (value) => {
  if (typeof value !== "object" || value === null) return false;
  try {
    const prototype = Object.getPrototypeOf(value);
    return prototype !== Object.prototype && prototype !== Array.prototype && test(value);
  } catch {
    return false;
  }
};

const tagOf = (value) => {
  try {
    return Object.prototype.toString.call(value);
  } catch {
    return "";
  }
};
const tagged = (tag) => object((value) => tagOf(value) === `[object ${tag}]`);
const typedArrayName = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get;
const typed = (name) => (value) => typedArrayName.call(value) === name;

const isAsyncFunction = (value) => typeof value === "function" && /^async\b/.test(Function.prototype.toString.call(value));
const isArrayBuffer = object(getter(ArrayBuffer.prototype, "byteLength"));
const isSharedArrayBuffer = object(getter(SharedArrayBuffer.prototype, "byteLength"));
const isBigIntObject = object(accepts(BigInt.prototype.valueOf));
const isBooleanObject = object(accepts(Boolean.prototype.valueOf));
const isNumberObject = object(accepts(Number.prototype.valueOf));
const isStringObject = object(accepts(String.prototype.valueOf));
const isSymbolObject = object(accepts(Symbol.prototype.valueOf));

const types = {
  isExternal: () => false,
  isProxy: () => false, // cannot be detected
  isModuleNamespaceObject: tagged("Module"),
  isArgumentsObject: (value) => typeof value === "object" && value !== null && tagOf(value) === "[object Arguments]" && !(Symbol.toStringTag in value),
  isAsyncFunction,
  isGeneratorFunction: (value) =>
    typeof value === "function" && /^(async\s+)?(function\s*\*|\*)/.test(Function.prototype.toString.call(value)),
  isGeneratorObject: (value) => tagged("Generator")(value) || tagged("AsyncGenerator")(value),
  isPromise: (value) => tagged("Promise")(value) && value instanceof Promise,
  isDate: object(accepts(Date.prototype.getTime)),
  isRegExp: object((value) => value !== RegExp.prototype && getter(RegExp.prototype, "source")(value)),
  isMap: object(getter(Map.prototype, "size")),
  isSet: object(getter(Set.prototype, "size")),
  isMapIterator: tagged("Map Iterator"),
  isSetIterator: tagged("Set Iterator"),
  isWeakMap: object(accepts(function () {
    WeakMap.prototype.has.call(this, {});
  })),
  isWeakSet: object(accepts(function () {
    WeakSet.prototype.has.call(this, {});
  })),
  isNativeError: object((value) => Error.isError?.(value) ?? value instanceof Error),
  isArrayBuffer,
  isSharedArrayBuffer,
  isAnyArrayBuffer: (value) => isArrayBuffer(value) || isSharedArrayBuffer(value),
  isArrayBufferView: ArrayBuffer.isView,
  isDataView: object(getter(DataView.prototype, "byteLength")),
  isTypedArray: (value) => typedArrayName.call(value) !== undefined,
  isBigIntObject,
  isBooleanObject,
  isNumberObject,
  isStringObject,
  isSymbolObject,
  isBoxedPrimitive: (value) =>
    isNumberObject(value) || isStringObject(value) || isBooleanObject(value) || isBigIntObject(value) || isSymbolObject(value),
  isCryptoKey: tagged("CryptoKey"),
  isKeyObject: tagged("KeyObject"),
};

for (const name of ["Uint8", "Uint8Clamped", "Uint16", "Uint32", "Int8", "Int16", "Int32", "Float32", "Float64", "BigInt64", "BigUint64"]) {
  types[`is${name}Array`] = typed(`${name}Array`);
}

export default types;
