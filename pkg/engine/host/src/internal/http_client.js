/** The client of node:http and node:https, over Go's. @module */
import EventEmitter from "node:events";
import { coded, flatHeaders, IncomingMessage, OutgoingMessage, setBodySource, send } from "internal/http_message";
import { ERR_INVALID_ARG_TYPE } from "internal/errors";

/** Agent has options for requests. Go manages connections. */
export class Agent extends EventEmitter {
  maxSockets = Number.POSITIVE_INFINITY;
  maxFreeSockets = 256;
  requests = {};
  sockets = {};
  freeSockets = {};

  constructor(options = undefined) {
    super();
    this.options = { ...options };
    this.keepAlive = options?.keepAlive ?? false;
  }

  destroy() {}
}

/** The argument of the "socket" event. */
class Socket extends EventEmitter {
  connecting = false;
  destroyed = false;

  constructor(request) {
    super();
    this.request = request;
  }

  setTimeout(ms, callback = undefined) {
    this.request.setTimeout(ms, callback);
    return this;
  }

  setNoDelay() {
    return this;
  }

  setKeepAlive() {
    return this;
  }

  ref() {
    return this;
  }

  unref() {
    return this;
  }

  destroy(error = undefined) {
    this.destroyed = true;
    this.request.destroy(error);
    return this;
  }
}

/** Returns options and callback of (url, options, callback), each but one optional. */
function settingsOf(args, protocol) {
  const callback = typeof args.at(-1) === "function" ? args.pop() : undefined;
  let [first, second] = args;
  if (typeof first === "string") first = new URL(first);
  const fromURL = typeof first?.href === "string" ? require("node:url").urlToHttpOptions(first) : first;
  return { callback, options: { protocol, ...fromURL, ...second } };
}

function urlOf({ protocol, hostname, host: name, port, path = "/", socketPath }) {
  if (socketPath) throw coded(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "the embedded engine connects to TCP ports only");
  if (/[^\x21-\xff]/.test(path)) throw coded(TypeError, "ERR_UNESCAPED_CHARACTERS", "Request path contains unescaped characters");
  const server = `${hostname || name || "localhost"}`;
  const authority = server.includes(":") && !server.startsWith("[") ? `[${server}]` : server;
  return `${protocol}//${authority}${port ? `:${port}` : ""}${path.startsWith("/") ? path : `/${path}`}`;
}

/** Returns the path of a request that is for a proxy: the URL of another server, which is sent as it is. */
const proxiedURL = (path) => (/^https?:\/\//i.test(path) ? path : undefined);

/** Throws for options that the engine cannot follow. A request that ignores them would reach another server, or another way. */
function refuseUnsupported({ agent, createConnection, ...options }, protocol) {
  const ignored = protocol === "https:" ? ["cert", "key", "pfx"].find((name) => options[name]) : undefined;
  if (ignored || createConnection) throw host.unavailable(`the option ${ignored ?? "createConnection"} of requests`);
  if (agent && (!(agent instanceof Agent) || agent.proxy)) throw host.unavailable("an agent that connects by itself");
}

/** Returns whether the server must prove who it is, and the authorities that it may use; undefined for the default. */
function trustOf({ rejectUnauthorized, ca }) {
  if (rejectUnauthorized === undefined && !ca) return undefined;
  const verifies = rejectUnauthorized ?? process.env.NODE_TLS_REJECT_UNAUTHORIZED !== "0";
  return [verifies !== false, [ca ?? ""].flat().map(String).join("\n")];
}

const upgradeMessage = "WebSockets and other upgrades of a connection are not available in the embedded engine; install bun (https://bun.sh) or node";

export class ClientRequest extends OutgoingMessage {
  #id;
  #url;
  #proxied;
  #trust;
  #responded = false;
  #timer;
  #signal;
  #abort = () => this.destroy(Object.assign(new Error("The operation was aborted"), { name: "AbortError", code: "ABORT_ERR" }));

  aborted = false;
  reusedSocket = false;
  res = null;

  constructor(protocol, args, globalAgent = undefined) {
    super(false); // destroyed after its response
    const { callback, options } = settingsOf(args, protocol);
    const connection = { ...options, ...(options.agent ?? globalAgent)?.options };
    refuseUnsupported({ ...connection, agent: options.agent }, protocol);
    this.#trust = trustOf(connection);
    if ((options.protocol || protocol) !== protocol) {
      throw coded(TypeError, "ERR_INVALID_PROTOCOL", `Protocol "${options.protocol}" not supported. Expected "${protocol}"`);
    }
    if (options.method !== undefined && typeof options.method !== "string") throw new ERR_INVALID_ARG_TYPE("options.method", "string", options.method);
    this.method = (options.method || "GET").toUpperCase();
    this.protocol = protocol;
    this.path = options.path || "/";
    this.host = options.hostname || options.host || "localhost";
    this.#proxied = proxiedURL(this.path);
    this.#url = urlOf({ ...options, protocol, path: this.#proxied ? "/" : this.path });
    const headers = Array.isArray(options.headers) ? options.headers : Object.entries(options.headers ?? {});
    for (const [name, value] of headers) this.setHeader(name, value);
    if (this.hasHeader("upgrade")) throw coded(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", upgradeMessage);
    if (options.auth && !this.hasHeader("authorization")) {
      this.setHeader("Authorization", `Basic ${Buffer.from(options.auth).toString("base64")}`);
    }
    if (callback) this.once("response", callback);
    if (options.timeout) this.setTimeout(options.timeout);
    this.#signal = options.signal;
    if (this.#signal?.aborted) process.nextTick(this.#abort);
    else this.#signal?.addEventListener("abort", this.#abort);
    this.socket = new Socket(this);
    process.nextTick(() => this.emit("socket", this.socket));
  }

  flushHeaders() {}

  [send](data, last, callback) {
    if (this.#id === undefined) return this.#sendHead(data, last, callback);
    this.#writeBody(data, last).then(() => callback(), () => callback());
  }

  async #writeBody(data, last) {
    if (data !== undefined && data.length > 0) await host.callAsync("fetch.write", this.#id, Buffer.from(data));
    if (last) await host.callAsync("fetch.write", this.#id);
    this.#timer?.refresh();
  }

  /** Sends a whole request, or its headers and the first part of its body. */
  #sendHead(data, last, callback) {
    this.#id = host.call("fetch.open");
    this.headersSent = true;
    const whole = data === undefined ? undefined : Buffer.from(data);
    const pendingResponse = host.callAsync("fetch.send", this.#id, this.method, this.#url, this[flatHeaders](), last ? whole : true, true, this.#proxied, this.#trust);
    pendingResponse.then((response) => this.#receiveResponse(response), (error) => this.#fail(error));
    if (last) callback();
    else this.#writeBody(data, false).then(() => callback(), () => callback());
  }

  #receiveResponse([statusCode, statusMessage, rawHeaders]) {
    this.#responded = true;
    this.#timer?.refresh();
    const response = new IncomingMessage(this.socket)[setBodySource](() => this.#read());
    Object.assign(response, { statusCode, statusMessage, rawHeaders, req: this });
    this.res = response;
    response.on("close", () => this.#cleanUp());
    if (!this.emit("response", response)) response.resume();
  }

  async #read() {
    const data = await host.callAsync("fetch.read", this.#id).catch((error) => {
      throw asSocketError(error);
    });
    this.#timer?.refresh();
    if (data === undefined) host.call("fetch.close", this.#id);
    return data;
  }

  #fail(error) {
    if (!this.destroyed) this.destroy(asSocketError(error));
  }

  #cleanUp() {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#abort);
    if (this.#id !== undefined) host.call("fetch.close", this.#id);
    this.destroy();
  }

  _destroy(error, callback) {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#abort);
    if (this.#id !== undefined) host.call("fetch.close", this.#id);
    this.res?.destroy(error);
    callback(error ?? (this.#responded ? null : coded(Error, "ECONNRESET", "socket hang up")));
  }

  abort() {
    if (this.aborted) return;
    this.aborted = true;
    process.nextTick(() => this.emit("abort"));
    this.destroy();
  }

  /** Emits "timeout" when nothing was sent or received for so long. */
  setTimeout(ms, callback = undefined) {
    if (callback) this.once("timeout", callback);
    clearTimeout(this.#timer);
    this.#timer = ms > 0 ? setTimeout(() => this.emit("timeout"), ms) : undefined;
    return this;
  }

  setNoDelay() {}
  setSocketKeepAlive() {}
}

const asSocketError = (error) => (error.code === "UND_ERR_SOCKET" ? coded(Error, "ECONNRESET", "socket hang up") : error);

/** Returns request and get for a protocol. @param {"http:" | "https:"} protocol */
export function clientOf(protocol, globalAgent = undefined) {
  const request = (...args) => new ClientRequest(protocol, args, globalAgent);
  const get = (...args) => {
    const made = request(...args);
    made.end();
    return made;
  };
  return { request, get };
}
