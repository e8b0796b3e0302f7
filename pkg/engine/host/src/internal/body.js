/** Request and Response. The stream of a body is created when it is used, because most scripts read text or JSON. @module */
import { named } from "internal/named";
import { Headers } from "internal/headers";

/**
 * The bytes of a body, or how to read them.
 * @typedef {{ bytes?: Uint8Array, stream?: ReadableStream, read?: () => Promise<Uint8Array | null>, all?: () => Promise<Uint8Array>,
 *   cancel?: (reason: any) => void }} Source
 */

/** Returns the source and the content type of a body argument. @returns {{ source: Source | null, type: string | null }} */
function extract(body) {
  if (body === null || body === undefined) return { source: null, type: null };
  if (body instanceof ArrayBuffer) return { source: { bytes: new Uint8Array(body.slice(0)) }, type: null };
  if (ArrayBuffer.isView(body)) return { source: { bytes: new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice() }, type: null };
  switch (typeof body === "object" ? body[Symbol.toStringTag] : undefined) {
    case "URLSearchParams":
      return { source: { bytes: encode(`${body}`) }, type: "application/x-www-form-urlencoded;charset=UTF-8" };
    case "FormData": {
      const { bytes, type } = require("internal/form_data").encodeForm(body);
      return { source: { bytes }, type };
    }
    case "Blob":
    case "File":
      return { source: { bytes: require("internal/blob").bytes(body) }, type: body.type || null };
  }
  if (typeof body.getReader === "function") {
    if (body.locked) throw new TypeError("Response body object should not be disturbed or locked");
    return { source: { stream: body }, type: null };
  }
  if (typeof body[Symbol.asyncIterator] === "function") return { source: fromIterable(body), type: null };
  return { source: { bytes: encode(`${body}`) }, type: "text/plain;charset=UTF-8" };
}

const encode = (text) => host.call("utf8.encode", text);

function fromIterable(iterable) {
  const iterator = iterable[Symbol.asyncIterator]();
  return {
    async read() {
      const { done, value } = await iterator.next();
      return done ? null : value;
    },
    cancel: (reason) => void iterator.return?.(reason),
  };
}

/** Reads a source to its end. @param {Source} source */
async function readAll(source) {
  if (source.bytes) return source.bytes;
  if (source.all) return source.all();
  const chunks = [];
  if (source.stream) {
    const reader = source.stream.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (!(next.value instanceof Uint8Array)) throw new TypeError("Received non-Uint8Array chunk");
      chunks.push(next.value);
    }
  } else {
    for (let chunk = await source.read(); chunk !== null; chunk = await source.read()) chunks.push(chunk);
  }
  if (chunks.length === 1) return chunks[0];
  const out = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    out.set(chunk, at);
    at += chunk.length;
  }
  return out;
}

/** @param {Source} source */
function streamOf(source) {
  if (source.stream) return source.stream;
  if (source.bytes) {
    return new ReadableStream({
      start(controller) {
        if (source.bytes.length > 0) controller.enqueue(source.bytes.slice());
        controller.close();
      },
    });
  }
  return new ReadableStream({
    async pull(controller) {
      const chunk = await source.read();
      if (chunk === null) controller.close();
      else controller.enqueue(chunk);
    },
    cancel: (reason) => source.cancel?.(reason),
  }, { highWaterMark: 0 });
}

/** Access to private fields, for this file. */
let sourceOf;
let cloneOf;

class Body {
  /** @type {Source | null} */
  #source;
  #used = false;

  static {
    sourceOf = (body) => body.#source;
    cloneOf = (body) => body.#clone();
  }

  constructor(source) {
    this.#source = source;
  }

  get body() {
    if (this.#source && !this.#source.stream) this.#source = { stream: streamOf(this.#source) };
    return this.#source?.stream ?? null;
  }

  get bodyUsed() {
    return this.#used;
  }

  async #consume() {
    if (this.#used || this.#source?.stream?.locked) throw new TypeError("Body is unusable: Body has already been read");
    if (!this.#source) return new Uint8Array(0);
    this.#used = true;
    return readAll(this.#source);
  }

  /** Returns the source of a second body with the same bytes. */
  #clone() {
    if (this.#used || this.#source?.stream?.locked) {
      throw new TypeError(`${this.constructor.name}.clone: Body has already been consumed.`);
    }
    if (!this.#source || this.#source.bytes) return this.#source;
    const [mine, other] = this.body.tee();
    this.#source = { stream: mine };
    return { stream: other };
  }

  async arrayBuffer() {
    return (await this.#consume()).slice().buffer;
  }

  async bytes() {
    return (await this.#consume()).slice();
  }

  async text() {
    return new TextDecoder().decode(await this.#consume());
  }

  async json() {
    return JSON.parse(await this.text());
  }

  async blob() {
    return new Blob([await this.#consume()], { type: this.headers.get("content-type") ?? "" });
  }

  async formData() {
    const type = this.headers.get("content-type") ?? "";
    const { FormData, decodeForm } = require("internal/form_data");
    const boundary = /^multipart\/form-data\s*;.*\bboundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type);
    if (boundary) return decodeForm(await this.#consume(), boundary[1] ?? boundary[2]);
    if (!/^application\/x-www-form-urlencoded\b/i.test(type)) {
      throw new TypeError('Content-Type was not one of "multipart/form-data" or "application/x-www-form-urlencoded".');
    }
    const form = new FormData();
    for (const [name, value] of new URLSearchParams(await this.text())) form.append(name, value);
    return form;
  }
}

/** @param {Request | Response} message @returns {Source | null} */
export const bodyOf = (message) => sourceOf(message);

const settings = { cache: "default", credentials: "same-origin", integrity: "", keepalive: false, mode: "cors", redirect: "follow", referrer: "about:client", duplex: "half" };

export class Request extends Body {
  static {
    named(this, "Request");
  }

  #url;
  #method;
  #headers;
  #signal;

  constructor(input, init = {}) {
    if (arguments.length === 0) throw new TypeError("Request constructor: 1 argument required, but only 0 present.");
    const from = input instanceof Request ? input : undefined;
    const url = from ? from.url : parsed(input).href;
    const method = methodOf(init.method ?? from?.method ?? "GET");
    const given = extract(init.body);
    const source = given.source ?? (from ? cloneOf(from) : null);
    if (source && (method === "GET" || method === "HEAD")) throw new TypeError("Request with GET/HEAD method cannot have body.");
    super(source);
    this.#url = url;
    this.#method = method;
    this.#headers = new Headers(init.headers ?? from?.headers);
    if (given.type !== null && !this.#headers.has("content-type")) this.#headers.set("content-type", given.type);
    this.#signal = init.signal ?? from?.signal;
    for (const [name, usual] of Object.entries(settings)) {
      Object.defineProperty(this, name, { value: init[name] ?? from?.[name] ?? usual, configurable: true });
    }
  }

  get url() {
    return this.#url;
  }

  get method() {
    return this.#method;
  }

  get headers() {
    return this.#headers;
  }

  get signal() {
    this.#signal ??= new AbortController().signal;
    return this.#signal;
  }

  clone() {
    return new Request(this);
  }

  get [Symbol.toStringTag]() {
    return "Request";
  }

  [Symbol.for("nodejs.util.inspect.custom")](depth, options, inspect) {
    const { method, url, headers, body, signal } = this;
    return `Request ${inspect({ method, url, headers, body, signal }, options)}`;
  }
}

function parsed(input) {
  let url;
  try {
    url = new URL(input);
  } catch (cause) {
    throw new TypeError(`Failed to parse URL from ${input}`, { cause });
  }
  if (url.username || url.password) throw new TypeError(`Request cannot be constructed from a URL that includes credentials: ${input}`);
  return url;
}

function methodOf(method) {
  const text = `${method}`;
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text)) throw new TypeError(`'${text}' is not a valid HTTP method.`);
  return /^(delete|get|head|options|post|put)$/i.test(text) ? text.toUpperCase() : text;
}

/** Creates a response of fetch; set by the class. */
let createResponse;

export class Response extends Body {
  static {
    named(this, "Response");
  }

  #status;
  #statusText;
  #headers;
  #type = "default";
  #url = "";
  #redirected = false;

  static {
    createResponse = ({ source, status, statusText, headers, url, redirected, type }) => {
      const response = new Response(null, { status, statusText, headers }, source);
      response.#type = type ?? "basic";
      response.#url = url ?? "";
      response.#redirected = redirected ?? false;
      return response;
    };
  }

  constructor(body = null, init = {}, responseSource = undefined) {
    const { source, type } = responseSource === undefined ? extract(body) : { source: responseSource, type: null };
    super(source);
    const { status = 200, statusText = "" } = init ?? {};
    if (responseSource === undefined && (!Number.isInteger(+status) || status < 200 || status > 599)) {
      throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.');
    }
    if (source && responseSource === undefined && [204, 205, 304].includes(+status)) {
      throw new TypeError(`Response constructor: Invalid response status code ${status}`);
    }
    this.#status = +status;
    this.#statusText = `${statusText}`;
    this.#headers = new Headers(init?.headers);
    if (type !== null && !this.#headers.has("content-type")) this.#headers.set("content-type", type);
  }

  get status() {
    return this.#status;
  }

  get statusText() {
    return this.#statusText;
  }

  get ok() {
    return this.#status >= 200 && this.#status < 300;
  }

  get headers() {
    return this.#headers;
  }

  get type() {
    return this.#type;
  }

  get url() {
    return this.#url;
  }

  get redirected() {
    return this.#redirected;
  }

  clone() {
    const { status, statusText, headers, url, redirected, type } = this;
    return createResponse({ source: cloneOf(this), status, statusText, headers, url, redirected, type });
  }

  get [Symbol.toStringTag]() {
    return "Response";
  }

  [Symbol.for("nodejs.util.inspect.custom")](depth, options, inspect) {
    const { status, statusText, headers, body, bodyUsed, ok, redirected, type, url } = this;
    return `Response ${inspect({ status, statusText, headers, body, bodyUsed, ok, redirected, type, url }, options)}`;
  }

  static error() {
    return createResponse({ source: null, status: 0, type: "error" });
  }

  static json(data, init = {}) {
    const headers = new Headers(init.headers);
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
    const text = JSON.stringify(data);
    if (text === undefined) throw new TypeError("Value is not JSON serializable");
    return new Response(encode(text), { ...init, headers });
  }

  static redirect(url, status = 302) {
    const location = new URL(url).href;
    if (![301, 302, 303, 307, 308].includes(status)) throw new RangeError(`Invalid status code ${status}`);
    return new Response(null, { status, headers: { location } });
  }
}

/**
 * Creates a response of fetch.
 * @param {{ source: Source | null, status: number, statusText?: string, headers?: Iterable<[string, string]>, url?: string,
 *   redirected?: boolean, type?: string }} facts
 * @returns {Response}
 */
export const responseOf = (facts) => createResponse(facts);
