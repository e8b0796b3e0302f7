/** The server of node:http, over Go's. @module */
import EventEmitter from "node:events";
import {
  coded, flatHeaders, setBody, IncomingMessage, OutgoingMessage, setBodySource, send, validateHeaderName, validateHeaderValue,
} from "internal/http_message";

const setId = Symbol("answers");
const resumeWriting = Symbol("goOn");

/** Number of queued bytes above which write waits for "drain". */
const highWaterMark = 16384;

const defaultKeepAliveTimeout = 5000;
const defaultHeadersTimeout = 60000;
const defaultRequestTimeout = 300000;

/** The socket of a request. */
class Connection extends EventEmitter {
  #close;

  constructor(addresses, close) {
    super();
    this.#close = close;
    [this.remoteAddress, this.remoteFamily, this.remotePort, this.localAddress, this.localFamily, this.localPort] = addresses ?? [];
    this.destroyed = false;
    this.readable = this.writable = true;
  }

  address() {
    return { address: this.localAddress, family: this.localFamily, port: this.localPort };
  }

  destroy() {
    if (!this.destroyed) this.#close();
    this.markClosed();
    return this;
  }

  end() {
    this.destroy();
    return this;
  }

  destroySoon() {
    this.destroy();
  }

  markClosed() {
    if (this.destroyed) return;
    this.destroyed = true;
    this.readable = this.writable = false;
    this.emit("close", false);
  }
}

for (const name of ["setTimeout", "setNoDelay", "setKeepAlive", "setEncoding", "pause", "resume", "ref", "unref", "cork", "uncork"]) {
  Connection.prototype[name] = function () {
    return this;
  };
}

export class ServerResponse extends OutgoingMessage {
  #id;
  #statusMessage;
  #started = false; // the status and headers were sent
  #waiting;

  statusCode = 200;

  constructor(request) {
    super(true);
    this.req = request;
    this.socket = request.socket ?? null;
  }

  /** Sets the number of the request. */
  [setId](id) {
    this.#id = id;
    return this;
  }

  get statusMessage() {
    return this.#statusMessage;
  }

  set statusMessage(text) {
    this.#statusMessage = text;
  }

  writeHead(status, message = undefined, headers = undefined) {
    if (typeof message !== "string") [message, headers] = [undefined, message ?? headers];
    if (this.headersSent) throw coded(Error, "ERR_HTTP_HEADERS_SENT", "Cannot write headers after they are sent to the client");
    const code = Number(status) | 0;
    if (code < 100 || code > 999) throw coded(RangeError, "ERR_HTTP_INVALID_STATUS_CODE", `Invalid status code: ${status}`);
    if (Array.isArray(headers)) this.#writeFlat(headers);
    else for (const [name, value] of Object.entries(headers ?? {})) this.setHeader(name, value);
    this.statusCode = code;
    this.statusMessage = message ?? this.statusMessage;
    this.headersSent = true;
    return this;
  }

  #writeFlat(headers) {
    const flat = headers.flat();
    for (let i = 0; i < flat.length; i += 2) {
      validateHeaderName(flat[i]);
      validateHeaderValue(flat[i], flat[i + 1]);
    }
    const names = new Set();
    for (let i = 0; i < flat.length; i += 2) {
      const name = flat[i].toLowerCase();
      if (names.has(name)) this.appendHeader(flat[i], flat[i + 1]);
      else this.setHeader(flat[i], flat[i + 1]);
      names.add(name);
    }
  }

  flushHeaders() {
    if (!this.#started) this[send](undefined, false, () => {});
  }

  [send](data, last, callback) {
    if (!this.headersSent) this.writeHead(this.statusCode);
    const head = this.#started ? [0, undefined] : [this.statusCode, this[flatHeaders]()];
    this.#started = true;
    const queued = host.call("http.send", this.#id, ...head, data, last);
    if (queued >= 0 && (last || queued > highWaterMark)) this.#waiting = callback;
    else callback();
  }

  /** Calls the callback of the last write: the host accepts more, or has sent everything. */
  [resumeWriting]() {
    const callback = this.#waiting;
    this.#waiting = undefined;
    callback?.();
  }

  _destroy(_error, callback) {
    if (!this.writableFinished) host.call("http.abort", this.#id);
    callback(null); // in node the connection has the error, not the response
  }

  assignSocket(socket) {
    this.socket = socket;
  }

  detachSocket() {}
  writeContinue() {}
  writeProcessing() {}
  writeEarlyHints() {}
}

export class Server extends EventEmitter {
  #number; // of the server, in Go
  #listener;
  #address = null;
  #opening = false;
  #closing = false;
  #hasRef = true;
  /** @type {Map<number, Connection>} */
  #connections = new Map();
  /** @type {Map<number, { request: IncomingMessage, response: ServerResponse }>} */
  #exchanges = new Map();

  listening = false;
  keepAliveTimeout = defaultKeepAliveTimeout;
  headersTimeout = defaultHeadersTimeout;
  requestTimeout = defaultRequestTimeout;
  maxHeadersCount = null;
  maxRequestsPerSocket = 0;
  timeout = 0;

  constructor(options = undefined, onRequest = undefined) {
    super();
    if (typeof options === "function") [options, onRequest] = [undefined, options];
    for (const name of ["keepAliveTimeout", "headersTimeout", "requestTimeout"]) if (options?.[name] !== undefined) this[name] = options[name];
    if (onRequest) this.on("request", onRequest);
  }

  /** (port, host, backlog, callback), each but the port optional, or (options, callback) */
  listen(...args) {
    const callback = typeof args.at(-1) === "function" ? args.pop() : undefined;
    if (this.listening || this.#opening) {
      throw coded(Error, "ERR_SERVER_ALREADY_LISTEN", "Listen method has been called more than once without closing.");
    }
    if (callback) this.once("listening", callback);
    const [first, second] = args;
    const { port, host: name, path, signal } =
      first !== null && typeof first === "object" ? first : { port: first, host: typeof second === "string" ? second : undefined };
    if (path !== undefined || (typeof port === "string" && !/^\d+$/.test(port))) {
      throw coded(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "the embedded engine listens to TCP ports only; install bun (https://bun.sh) or node");
    }
    const number = Number(port ?? 0);
    if (!(Number.isInteger(number) && number >= 0 && number < 65536)) {
      throw coded(RangeError, "ERR_SOCKET_BAD_PORT", `options.port should be >= 0 and < 65536. Received type ${typeof port} (${port}).`);
    }
    signal?.addEventListener("abort", () => this.close(), { once: true });
    this.#opening = true;
    process.nextTick(() => this.#open(name, number));
    return this;
  }

  async #open(name, port) {
    this.#listener = host.listen((event, ...args) => this.#on[event].apply(this, args));
    let opened;
    try {
      const limits = [this.keepAliveTimeout, Math.min(this.headersTimeout, this.requestTimeout || this.headersTimeout)];
      opened = await host.callAsync("http.listen", this.#listener, name, port, ...limits);
    } catch (error) {
      host.unlisten(this.#listener);
      this.#opening = false;
      process.nextTick(() => this.emit("error", error));
      return;
    }
    const [id, address, family, bound] = opened;
    this.#number = id;
    this.#opening = false;
    this.listening = true;
    this.#address = { address, family, port: bound };
    if (!this.#hasRef) host.call("http.ref", id, false);
    if (this.#closing) this.#close();
    else process.nextTick(() => this.emit("listening"));
  }

  #on = {
    request(id, connection, [method, url, version, rawHeaders, body], addresses) {
      const socket = this.#connection(connection, addresses);
      const request = new IncomingMessage(socket);
      const [major, minor] = version.split(".").map(Number);
      Object.assign(request, { method, url, rawHeaders, httpVersion: version, httpVersionMajor: major, httpVersionMinor: minor });
      const response = new ServerResponse(request)[setId](id);
      if (body === true) request[setBodySource](() => this.#read(id));
      else request[setBody](body);
      this.#exchanges.set(id, { request, response });
      if (!this.emit("request", request, response)) response.destroy();
    },
    drain(id) {
      this.#exchanges.get(id)?.response[resumeWriting]();
    },
    finish(id) {
      const { request, response } = this.#exchanges.get(id) ?? {};
      this.#exchanges.delete(id);
      if (request && request.readableFlowing === null) request.resume();
      response?.[resumeWriting]();
    },
    aborted(id) {
      const { request, response } = this.#exchanges.get(id) ?? {};
      this.#exchanges.delete(id);
      request?.destroy(coded(Error, "ECONNRESET", "aborted"));
      response?.destroy();
    },
    disconnect(connection) {
      const socket = this.#connections.get(connection);
      this.#connections.delete(connection);
      socket?.markClosed();
    },
    close() {
      host.unlisten(this.#listener);
      this.#closing = false;
      this.emit("close");
    },
  };

  async #read(id) {
    try {
      return await host.callAsync("http.read", id);
    } catch (error) {
      if (this.#exchanges.has(id)) throw error;
      return undefined; // the response is complete, so that the rest of the body is not needed
    }
  }

  #connection(id, addresses) {
    let socket = this.#connections.get(id);
    if (!socket) {
      socket = new Connection(addresses, () => host.call("http.disconnect", this.#number, id, false));
      this.#connections.set(id, socket);
      this.emit("connection", socket);
    }
    return socket;
  }

  close(callback = undefined) {
    if (!this.listening && !this.#opening) {
      const error = coded(Error, "ERR_SERVER_NOT_RUNNING", "Server is not running.");
      if (callback) process.nextTick(callback, error);
      return this;
    }
    if (callback) this.once("close", callback);
    this.#closing = true;
    if (this.listening) this.#close();
    return this;
  }

  #close() {
    this.listening = false;
    this.#address = null;
    host.call("http.close", this.#number);
  }

  closeAllConnections() {
    if (this.#number !== undefined) host.call("http.disconnect", this.#number, undefined, false);
  }

  closeIdleConnections() {
    if (this.#number !== undefined) host.call("http.disconnect", this.#number, undefined, true);
  }

  getConnections(callback) {
    const count = this.#number === undefined ? 0 : host.call("http.connections", this.#number);
    process.nextTick(callback, null, count);
    return this;
  }

  address() {
    return this.#address;
  }

  ref() {
    return this.#setRef(true);
  }

  unref() {
    return this.#setRef(false);
  }

  #setRef(hasRef) {
    this.#hasRef = hasRef;
    if (this.listening) host.call("http.ref", this.#number, hasRef);
    return this;
  }

  setTimeout(_ms, callback = undefined) {
    if (callback) this.on("timeout", callback);
    return this;
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    if (this.listening) await new Promise((resolve) => this.close(resolve));
  }
}
