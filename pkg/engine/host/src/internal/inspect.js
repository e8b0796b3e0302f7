/** util.inspect and util.format, as node has them. @module */

/** The package tells classes by their source, which bytecode does not keep. It takes this function with it while it is loaded. */
const { toString } = Function.prototype;
Function.prototype.toString = function () {
  const { writable } = Object.getOwnPropertyDescriptor(this, "prototype") ?? {};
  return writable === false ? `class ${this.name} {}` : toString.call(this);
};
const inspector = require("node-inspect-extracted");
Function.prototype.toString = toString;

export const { inspect, format, formatWithOptions, stripVTControlCharacters } = inspector;
