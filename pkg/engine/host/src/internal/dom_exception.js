/** DOMException. @module */

const names = [
  "IndexSizeError", "", "HierarchyRequestError", "WrongDocumentError", "InvalidCharacterError", "", "NoModificationAllowedError",
  "NotFoundError", "NotSupportedError", "InUseAttributeError", "InvalidStateError", "SyntaxError", "InvalidModificationError",
  "NamespaceError", "InvalidAccessError", "", "TypeMismatchError", "SecurityError", "NetworkError", "AbortError", "URLMismatchError",
  "QuotaExceededError", "TimeoutError", "InvalidNodeTypeError", "DataCloneError",
];

export class DOMException extends Error {
  #name;

  /** @param {string} message @param {string | { name?: string, cause?: unknown }} options the name, or options */
  constructor(message = "", options = "Error") {
    super(message, typeof options === "object" && options !== null && "cause" in options ? { cause: options.cause } : undefined);
    this.#name = `${typeof options === "object" && options !== null ? (options.name ?? "Error") : options}`;
  }

  get name() {
    return this.#name;
  }

  get code() {
    return names.indexOf(this.#name) + 1;
  }

  get [Symbol.toStringTag]() {
    return "DOMException";
  }
}

names.forEach((name, index) => {
  if (name === "") return;
  const constant = name.replace(/Error$/, "").replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
  const descriptor = { value: index + 1, enumerable: true };
  Object.defineProperty(DOMException, `${constant}_ERR`, descriptor);
  Object.defineProperty(DOMException.prototype, `${constant}_ERR`, descriptor);
});
