/** The base classes of requests and responses of node:http, for servers and clients. @module */
import { Readable, Writable } from "node:stream";

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const invalidValueChar = /[^\t\x20-\x7e\x80-\xff]/;

// Methods for internal use. They are symbols, because frameworks add methods such as send to messages.
export const send = Symbol("send");
export const flatHeaders = Symbol("flatHeaders");
export const setBody = Symbol("hold");
export const setBodySource = Symbol("receive");

export const coded = (Base, code, message) => Object.assign(new Base(message), { code });

export function validateHeaderName(name, label = "Header name") {
  if (typeof name !== "string" || !token.test(name)) {
    throw coded(TypeError, "ERR_INVALID_HTTP_TOKEN", `${label} must be a valid HTTP token ["${name}"]`);
  }
}

export function validateHeaderValue(name, value) {
  if (value === undefined) throw coded(TypeError, "ERR_HTTP_INVALID_HEADER_VALUE", `Invalid value "undefined" for header "${name}"`);
  for (const item of Array.isArray(value) ? value : [value]) {
    if (invalidValueChar.test(`${item}`)) throw coded(TypeError, "ERR_INVALID_CHAR", `Invalid character in header content ["${name}"]`);
  }
}

/** Headers whose first value counts. */
const singleValueHeaders = new Set([
  "age", "authorization", "content-length", "content-type", "etag", "expires", "from", "host", "if-modified-since", "if-unmodified-since",
  "last-modified", "location", "max-forwards", "proxy-authorization", "referer", "retry-after", "server", "user-agent",
]);

/** Returns headers by lower-case name, with repeated values joined. @param {string[]} flat alternating names and values */
function joined(flat) {
  const headers = {};
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i].toLowerCase();
    const value = flat[i + 1];
    if (name === "set-cookie") (headers[name] ??= []).push(value);
    else if (!Object.hasOwn(headers, name)) headers[name] = value;
    else if (!singleValueHeaders.has(name)) headers[name] += (name === "cookie" ? "; " : ", ") + value;
  }
  return headers;
}

const buffer = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** A request in a server, or a response in a client. */
export class IncomingMessage extends Readable {
  #headers;
  #readBody;
  #body;

  constructor(socket = undefined) {
    super({ highWaterMark: 65536 });
    this.socket = socket;
    this.httpVersion = "1.1";
    this.httpVersionMajor = 1;
    this.httpVersionMinor = 1;
    this.complete = false;
    this.aborted = false;
    this.rawHeaders = [];
    this.rawTrailers = [];
    this.trailers = {};
    this.url = "";
    this.method = null;
    this.statusCode = null;
    this.statusMessage = null;
  }

  get connection() {
    return this.socket;
  }

  get headers() {
    this.#headers ??= joined(this.rawHeaders);
    return this.#headers;
  }

  set headers(value) {
    this.#headers = value;
  }

  get headersDistinct() {
    const headers = Object.create(null);
    for (let i = 0; i < this.rawHeaders.length; i += 2) (headers[this.rawHeaders[i].toLowerCase()] ??= []).push(this.rawHeaders[i + 1]);
    return headers;
  }

  /** Sets the whole body. @param {Uint8Array} bytes */
  [setBody](bytes) {
    this.#body = bytes;
    this.complete = true;
  }

  /** Sets the function that reads the body; it returns undefined at the end. @param {() => Promise<Uint8Array | undefined>} next */
  [setBodySource](next) {
    this.#readBody = next;
    return this;
  }

  _read() {
    if (this.#body) this.push(buffer(this.#body));
    if (!this.#readBody) return void this.#end();
    this.#readBody().then((bytes) => (bytes === undefined ? this.#end() : this.push(buffer(bytes))), (error) => this.destroy(error));
  }

  #end() {
    this.complete = true;
    this.push(null);
  }

  _destroy(error, callback) {
    if (!this.readableEnded || !this.complete) {
      this.aborted = true;
      this.emit("aborted");
    }
    callback(this.listenerCount("error") > 0 ? error : null);
  }

  setTimeout(_ms, callback = undefined) {
    if (callback) this.on("timeout", callback);
    return this;
  }
}

/** A response in a server, or a request in a client. Subclasses implement send. */
export class OutgoingMessage extends Writable {
  /** @type {Map<string, [name: string, value: string | number | string[]]>} by name in lower case */
  #headers = new Map();
  #ending = false;
  #lastChunk;

  headersSent = false;
  sendDate = true;
  shouldKeepAlive = true;
  socket = null;

  constructor(autoDestroy) {
    super({ decodeStrings: false, autoDestroy });
  }

  get connection() {
    return this.socket;
  }

  get finished() {
    return this.writableEnded;
  }

  setHeader(name, value) {
    this.#requireUnsent("set");
    validateHeaderName(name);
    validateHeaderValue(name, value);
    this.#headers.set(name.toLowerCase(), [name, value]);
    return this;
  }

  setHeaders(headers) {
    for (const [name, value] of headers) this.setHeader(name, value);
    return this;
  }

  appendHeader(name, value) {
    const before = this.getHeader(name);
    return this.setHeader(name, before === undefined ? value : [].concat(before, value));
  }

  getHeader(name) {
    return this.#headers.get(`${name}`.toLowerCase())?.[1];
  }

  getHeaders() {
    const all = Object.create(null);
    for (const [name, [, value]] of this.#headers) all[name] = value;
    return all;
  }

  getHeaderNames() {
    return [...this.#headers.keys()];
  }

  getRawHeaderNames() {
    return [...this.#headers.values()].map(([name]) => name);
  }

  hasHeader(name) {
    return this.#headers.has(`${name}`.toLowerCase());
  }

  removeHeader(name) {
    this.#requireUnsent("remove");
    this.#headers.delete(`${name}`.toLowerCase());
  }

  #requireUnsent(verb) {
    if (this.headersSent) throw coded(Error, "ERR_HTTP_HEADERS_SENT", `Cannot ${verb} headers after they are sent to the client`);
  }

  /** Returns the headers as alternating names and values. */
  [flatHeaders]() {
    return [...this.#headers.values()].flatMap(([name, value]) => [].concat(value).flatMap((item) => [name, `${item}`]));
  }

  end(chunk, encoding, callback) {
    this.#ending = true;
    return super.end(chunk, encoding, callback);
  }

  /** The last piece waits for the end, so that a body of one piece goes out with its length. */
  _write(chunk, encoding, callback) {
    const data = typeof chunk !== "string" || /^utf-?8$/i.test(encoding) ? chunk : Buffer.from(chunk, encoding);
    if (!this.#ending) return this[send](data, false, callback);
    const before = this.#lastChunk;
    this.#lastChunk = data;
    if (before === undefined) callback();
    else this[send](before, false, callback);
  }

  _final(callback) {
    this[send](this.#lastChunk, true, callback);
  }

  addTrailers() {}

  setTimeout(_ms, callback = undefined) {
    if (callback) this.on("timeout", callback);
    return this;
  }
}
