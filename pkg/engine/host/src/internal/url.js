/** URL, which Go parses, and URLSearchParams. @module */
import { named } from "internal/named";
import { ERR_INVALID_ARG_TYPE, ERR_INVALID_THIS, ERR_MISSING_ARGS } from "internal/errors";

const inspectKey = Symbol.for("nodejs.util.inspect.custom");

/** The lines of the host's result. */
const parts = ["href", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];

function invalid(input, base) {
  const error = new TypeError("Invalid URL");
  error.code = "ERR_INVALID_URL";
  error.input = input;
  if (base !== undefined) error.base = base;
  return error;
}

/** Access to private fields, for the other class. */
let setSearch;
let reload;

export class URL {
  static {
    named(this, "URL");
  }

  #parts;
  #params;

  static {
    setSearch = (url, query) => url.#set("search", query);
  }

  constructor(input, base = undefined) {
    if (arguments.length === 0) throw new ERR_MISSING_ARGS("url");
    const text = `${input}`;
    const from = base === undefined ? undefined : `${base}`;
    this.#parts = host.call("url.parse", text, from)?.split("\n");
    if (!this.#parts) throw invalid(text, from);
  }

  #set(part, value) {
    this.#parts = host.call("url.set", this.#parts[0], part, `${value}`).split("\n");
  }

  get href() {
    return this.#parts[0];
  }

  set href(value) {
    this.#parts = new URL(value).#parts;
    if (this.#params) reload(this.#params, this.search);
  }

  get origin() {
    const protocol = this.#parts[1];
    if (protocol === "blob:") {
      const inner = URL.canParse(this.pathname) ? new URL(this.pathname) : undefined;
      return inner && /^https?:$/.test(inner.protocol) ? inner.origin : "null";
    }
    return /^(https?|wss?|ftp):$/.test(protocol) ? `${protocol}//${this.host}` : "null";
  }

  get search() {
    return this.#parts[8];
  }

  set search(value) {
    this.#set("search", value);
    if (this.#params) reload(this.#params, this.search);
  }

  get searchParams() {
    this.#params ??= paramsOf(this, this.search);
    return this.#params;
  }

  toString() {
    return this.href;
  }

  toJSON() {
    return this.href;
  }

  [inspectKey](depth, options, inspect) {
    if (depth < 0) return `${this.constructor.name} {}`;
    const shown = {};
    for (const name of ["href", "origin", ...parts.slice(1, 8), "search", "searchParams", "hash"]) shown[name] = this[name];
    return `${this.constructor.name} ${inspect(shown, options)}`;
  }

  get [Symbol.toStringTag]() {
    return "URL";
  }

  static canParse(input, base = undefined) {
    if (arguments.length === 0) throw new ERR_MISSING_ARGS("url");
    return Boolean(host.call("url.parse", `${input}`, base === undefined ? undefined : `${base}`));
  }

  static parse(input, base = undefined) {
    return URL.canParse(input, base) ? new URL(input, base) : null;
  }

  static createObjectURL() {
    throw new DOMException("URLs of blobs are not supported in the embedded engine", "NotSupportedError");
  }

  static revokeObjectURL() {}

  static {
    parts.forEach((name, index) => {
      if (Object.hasOwn(URL.prototype, name)) return;
      Object.defineProperty(URL.prototype, name, {
        configurable: true,
        enumerable: true,
        get() {
          return this.#parts[index];
        },
        set(value) {
          this.#set(name, value);
        },
      });
    });
    for (const name of ["href", "origin", "search", "searchParams", "toString", "toJSON"]) {
      Object.defineProperty(URL.prototype, name, { enumerable: true });
    }
  }
}

/** Encodes a name or value as application/x-www-form-urlencoded. */
const encode = (text) =>
  encodeURIComponent(`${text}`.toWellFormed())
    .replace(/[!'()~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/%20/g, "+");

function decode(text) {
  const spaced = text.replace(/\+/g, " ");
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    const bytes = host.call("latin1.encode", host.call("latin1.decode", host.call("utf8.encode", spaced))
      .replace(/%([0-9a-fA-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))));
    return host.call("utf8.decode", bytes);
  }
}

const parse = (query) =>
  query.replace(/^\?/, "").split("&").filter((pair) => pair !== "").map((pair) => {
    const at = pair.indexOf("=");
    return at < 0 ? [decode(pair), ""] : [decode(pair.slice(0, at)), decode(pair.slice(at + 1))];
  });

const ERR_INVALID_TUPLE = () =>
  Object.assign(new TypeError("Each query pair must be an iterable [name, value] tuple"), { code: "ERR_INVALID_TUPLE" });

function pairsOf(init) {
  if (init === undefined || init === null) return [];
  if (typeof init !== "object" && typeof init !== "function") return parse(`${init}`);
  const iterator = init[Symbol.iterator];
  if (iterator === undefined || iterator === null) return Reflect.ownKeys(init).flatMap((key) => {
    const enumerable = typeof key === "string" && Object.getOwnPropertyDescriptor(init, key)?.enumerable;
    return enumerable ? [[key.toWellFormed(), text(init[key])]] : [];
  });
  if (typeof iterator !== "function") {
    throw Object.assign(new TypeError("Query pairs must be iterable"), { code: "ERR_ARG_NOT_ITERABLE" });
  }
  return [...init].map((pair) => {
    if (pair === null || typeof pair !== "object" || typeof pair[Symbol.iterator] !== "function") throw ERR_INVALID_TUPLE();
    const both = [...pair];
    if (both.length !== 2) throw ERR_INVALID_TUPLE();
    return both.map(text);
  });
}

const text = (value) => `${value}`.toWellFormed();

/** Returns the searchParams of a URL; set by URLSearchParams. */
let paramsOf;

export class URLSearchParams {
  static {
    named(this, "URLSearchParams");
  }

  #pairs;
  #url;

  static {
    paramsOf = (url, query) => {
      const params = new URLSearchParams(query);
      params.#url = url;
      return params;
    };
    reload = (params, query) => {
      params.#pairs = parse(query);
    };
  }

  constructor(init = undefined) {
    this.#pairs = pairsOf(init);
  }

  #changed() {
    if (this.#url) setSearch(this.#url, this.toString());
  }

  get size() {
    return this.#pairs.length;
  }

  append(name, value) {
    requireArgs(arguments, "name", "value");
    this.#pairs.push([text(name), text(value)]);
    this.#changed();
  }

  delete(name, value = undefined) {
    requireArgs(arguments, "name");
    const [key, wanted] = [text(name), value === undefined ? undefined : text(value)];
    this.#pairs = this.#pairs.filter(([k, v]) => k !== key || (wanted !== undefined && v !== wanted));
    this.#changed();
  }

  get(name) {
    requireArgs(arguments, "name");
    const key = text(name);
    return this.#pairs.find(([k]) => k === key)?.[1] ?? null;
  }

  getAll(name) {
    requireArgs(arguments, "name");
    const key = text(name);
    return this.#pairs.filter(([k]) => k === key).map(([, v]) => v);
  }

  has(name, value = undefined) {
    requireArgs(arguments, "name");
    const [key, wanted] = [text(name), value === undefined ? undefined : text(value)];
    return this.#pairs.some(([k, v]) => k === key && (wanted === undefined || v === wanted));
  }

  set(name, value) {
    requireArgs(arguments, "name", "value");
    const key = text(name);
    const first = this.#pairs.find(([k]) => k === key);
    if (first) {
      first[1] = text(value);
      this.#pairs = this.#pairs.filter((pair) => pair === first || pair[0] !== key);
    } else {
      this.#pairs.push([key, text(value)]);
    }
    this.#changed();
  }

  sort() {
    this.#pairs.sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
    this.#changed();
  }

  forEach(callback, receiver = undefined) {
    if (typeof callback !== "function") throw new ERR_INVALID_ARG_TYPE("callback", "function", callback);
    for (const [name, value] of this) callback.call(receiver, value, name, this);
  }

  /** Entries that are added during the iteration are included. */
  *entries() {
    for (let i = 0; i < this.#pairs.length; i++) yield [...this.#pairs[i]];
  }

  *keys() {
    for (const [name] of this.entries()) yield name;
  }

  *values() {
    for (const [, value] of this.entries()) yield value;
  }

  toString() {
    if (!(#pairs in this)) throw new ERR_INVALID_THIS("URLSearchParams");
    return this.#pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
  }

  [inspectKey](depth, options, inspect) {
    if (depth < 0) return "[Object]";
    const shown = this.#pairs.map(([name, value]) => `${inspect(name, options)} => ${inspect(value, options)}`);
    return shown.length > 0 ? `URLSearchParams { ${shown.join(", ")} }` : "URLSearchParams {}";
  }

  get [Symbol.toStringTag]() {
    return "URLSearchParams";
  }

  static {
    Object.defineProperty(URLSearchParams.prototype, Symbol.iterator, {
      value: URLSearchParams.prototype.entries,
      writable: true,
      configurable: true,
    });
    for (const name of Object.getOwnPropertyNames(URLSearchParams.prototype)) {
      if (name !== "constructor") Object.defineProperty(URLSearchParams.prototype, name, { enumerable: true });
    }
  }
}

function requireArgs(given, ...names) {
  if (given.length < names.length) throw new ERR_MISSING_ARGS(...names);
}
