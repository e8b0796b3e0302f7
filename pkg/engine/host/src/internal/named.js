/** Names of classes. @module */

/** Gives a class its name, for the bundler renames those that speak of themselves. @param {Function} type @param {string} name */
export const named = (type, name) => Object.defineProperty(type, "name", { value: name, configurable: true });
