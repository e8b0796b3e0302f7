/** util.inspect and util.format. @module */

/**
 * The package stores built-in functions while it is loaded; these two are replaced meanwhile. It recognizes classes by their source,
 * which bytecode does not contain, and searches all elements of an array for other properties, which is slow for large arrays.
 */
const { toString } = Function.prototype;
const { getOwnPropertyDescriptor, getOwnPropertyDescriptors } = Object;

const manyElements = 10_000;

Function.prototype.toString = function () {
  const isClass = getOwnPropertyDescriptor(this, "prototype")?.writable === false;
  return isClass ? `class ${this.name} {}` : toString.call(this);
};
Object.getOwnPropertyDescriptors = (value) => {
  if (!Array.isArray(value) && !ArrayBuffer.isView(value)) return getOwnPropertyDescriptors(value);
  return value.length > manyElements ? {} : getOwnPropertyDescriptors(value);
};
const inspector = require("node-inspect-extracted");
Function.prototype.toString = toString;
Object.getOwnPropertyDescriptors = getOwnPropertyDescriptors;

export const { inspect, format, formatWithOptions, stripVTControlCharacters } = inspector;
