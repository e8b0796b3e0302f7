/** Headers. @module */

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

function nameOf(name, method) {
  const text = `${name}`;
  if (!token.test(text)) throw new TypeError(`Headers.${method}: ${text} is an invalid header name.`);
  return text.toLowerCase();
}

function valueOf(value, method) {
  const text = `${value}`.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
  if (/[\0\r\n]|[^\0-\xff]/.test(text)) throw new TypeError(`Headers.${method}: ${text} is an invalid header value.`);
  return text;
}

export class Headers {
  /** @type {Map<string, string[]>} */
  #values = new Map();

  constructor(init = undefined) {
    if (init === undefined) return;
    if (init === null || (typeof init !== "object" && typeof init !== "function")) {
      throw new TypeError("Headers constructor: init given is not an object of header name-value pairs");
    }
    const pairs = typeof init[Symbol.iterator] === "function" ? [...init] : Object.entries(init);
    for (const pair of pairs) {
      const [name, value, ...more] = [...pair];
      if (value === undefined && [...pair].length < 2 || more.length > 0) {
        throw new TypeError("Headers constructor: expected name/value pair to be length 2, found " + [...pair].length + ".");
      }
      this.append(name, value);
    }
  }

  append(name, value) {
    const key = nameOf(name, "append");
    this.#values.set(key, [...(this.#values.get(key) ?? []), valueOf(value, "append")]);
  }

  set(name, value) {
    this.#values.set(nameOf(name, "set"), [valueOf(value, "set")]);
  }

  delete(name) {
    this.#values.delete(nameOf(name, "delete"));
  }

  get(name) {
    return this.#joined(nameOf(name, "get"));
  }

  has(name) {
    return this.#values.has(nameOf(name, "has"));
  }

  getSetCookie() {
    return [...(this.#values.get("set-cookie") ?? [])];
  }

  #joined(key) {
    return this.#values.get(key)?.join(key === "cookie" ? "; " : ", ") ?? null;
  }

  forEach(callback, receiver = undefined) {
    if (typeof callback !== "function") throw new TypeError("Failed to execute 'forEach' on 'Headers': parameter 1 is not of type 'Function'.");
    for (const [name, value] of this) callback.call(receiver, value, name, this);
  }

  /** Sorted by name; set-cookie has an entry for each value. */
  *entries() {
    for (const key of [...this.#values.keys()].sort()) {
      if (key !== "set-cookie") yield [key, this.#joined(key)];
      else for (const value of this.#values.get(key)) yield [key, value];
    }
  }

  *keys() {
    for (const [name] of this.entries()) yield name;
  }

  *values() {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator]() {
    return this.entries();
  }

  get [Symbol.toStringTag]() {
    return "Headers";
  }

  [Symbol.for("nodejs.util.inspect.custom")](depth, options, inspect) {
    return `Headers ${inspect(Object.fromEntries(this), options)}`;
  }
}
