/** Names of classes. @module */

/** Sets the name of a class, because the bundler renames classes that refer to themselves. @param {Function} type @param {string} name */
export const named = (type, name) => Object.defineProperty(type, "name", { value: name, configurable: true });
