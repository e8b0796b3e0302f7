/** util.inspect and util.format, as node has them. @module */

/**
 * The package takes what it uses of the language with it while it is loaded. It tells classes by their source, which bytecode does not
 * keep, and looks for the other properties of an array among its elements, which takes too long when there are many.
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
