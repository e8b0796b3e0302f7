/** fetch, over Go's HTTP. @module */
import { bodyOf, Request, responseOf } from "internal/body";

const redirects = [301, 302, 303, 307, 308];
const maxRedirects = 20;

const defaultHeaders = { accept: "*/*", "accept-language": "*", "user-agent": "trailblaze", "accept-encoding": "gzip, deflate" };
const bodyHeaders = ["content-encoding", "content-language", "content-location", "content-type", "content-length"];
const originHeaders = ["authorization", "proxy-authorization", "cookie", "host"];

/** Closes a response when its body is garbage-collected. */
const unreadResponses = new FinalizationRegistry((id) => host.call("fetch.close", id));

/** Errors that fetch created, as opposed to errors of the script. */
const fetchErrors = new WeakSet();

function fetchError(cause) {
  const unavailable = cause?.code === "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM"; // in the sandbox; the message must be visible without the cause
  const error = new TypeError(unavailable ? `fetch failed: ${cause.message}` : "fetch failed", { cause });
  fetchErrors.add(error);
  return error;
}

/** @param {string | URL | Request} input @param {RequestInit} [init] */
export async function fetch(input, init = undefined) {
  if (arguments.length === 0) throw new TypeError("fetch: 1 argument required, but only 0 present.");
  const stack = host.captureStack();
  try {
    return await perform(input, init);
  } catch (error) {
    throw fetchErrors.has(error) ? host.withStack(error, stack) : error;
  }
}

async function perform(input, init) {
  const request = new Request(input, init);
  const { signal } = request;
  signal.throwIfAborted();
  const url = new URL(request.url);
  if (url.protocol === "data:") return fromData(url);
  const state = { url, method: request.method, headers: new Headers(request.headers), source: bodyOf(request), signal };
  for (let redirectCount = 0; ; redirectCount++) {
    if (!/^https?:$/.test(state.url.protocol)) throw fetchError(new Error(redirectCount === 0 ? "unknown scheme" : "URL scheme must be a HTTP(S) scheme"));
    const response = await sendRequest(state);
    const location = response.headers.find(([name]) => name.toLowerCase() === "location")?.[1];
    if (location === undefined || !redirects.includes(response.status) || request.redirect === "manual") return createResponse(state, response, redirectCount);
    response.close();
    if (request.redirect === "error") throw fetchError(new Error("unexpected redirect"));
    if (redirectCount === maxRedirects) throw fetchError(new Error("redirect count exceeded"));
    applyRedirect(state, response.status, location);
  }
}

/** Changes the state for the next request, as a redirect requires. */
function applyRedirect(state, status, location) {
  let next;
  try {
    next = new URL(location, state.url);
  } catch (error) {
    throw fetchError(error);
  }
  next.hash ||= state.url.hash;
  if (status === 303 ? !["GET", "HEAD"].includes(state.method) : status <= 302 && state.method === "POST") {
    state.method = "GET";
    state.source = null;
    for (const name of bodyHeaders) state.headers.delete(name);
  } else if (state.source && !state.source.bytes) {
    throw fetchError(new Error("a body that is a stream cannot be sent again after a redirect"));
  }
  if (next.origin !== state.url.origin) for (const name of originHeaders) state.headers.delete(name);
  state.url = next;
}

/** Sends one request and waits for the status and headers of its response. */
async function sendRequest({ url, method, headers, source, signal }) {
  const id = host.call("fetch.open");
  let open = true;
  const close = () => {
    if (!open) return;
    open = false;
    signal.removeEventListener("abort", close);
    host.call("fetch.close", id);
  };
  signal.addEventListener("abort", close);
  let uploadError;
  const failUpload = (error) => {
    uploadError = error;
    close();
  };
  const flat = [...Object.entries(defaultHeaders).filter(([name]) => !headers.has(name)), ...headers].flat();
  const empty = ["POST", "PUT", "PATCH"].includes(method) ? new Uint8Array(0) : undefined;
  try {
    const sent = host.callAsync("fetch.send", id, method, url.href, flat, source ? (source.bytes ?? true) : empty);
    if (source && !source.bytes) sendBody(id, source).catch(failUpload);
    const [status, statusText, flatResponseHeaders] = await sent;
    const pairs = [];
    for (let i = 0; i < flatResponseHeaders.length; i += 2) pairs.push([flatResponseHeaders[i], flatResponseHeaders[i + 1]]);
    return { id, status, statusText, headers: pairs, close };
  } catch (error) {
    close();
    signal.throwIfAborted();
    throw fetchError(uploadError ?? error);
  }
}

/** Sends a body that is a stream. */
async function sendBody(id, source) {
  const reader = source.stream?.getReader();
  const next = reader ? async () => (await reader.read()).value : () => source.read();
  for (let chunk = await next(); chunk !== undefined && chunk !== null; chunk = await next()) {
    if (typeof chunk === "string") chunk = host.call("utf8.encode", chunk);
    if (!ArrayBuffer.isView(chunk) && !(chunk instanceof ArrayBuffer)) throw new TypeError("Received non-Uint8Array chunk");
    try {
      if (chunk.byteLength > 0) await host.callAsync("fetch.write", id, chunk);
    } catch {
      return void reader?.cancel().catch(() => {}); // the exchange is over
    }
  }
  await host.callAsync("fetch.write", id).catch(() => {});
}

const hasNoBody = (method, status) => method === "HEAD" || status === 204 || status === 205 || status === 304;

function createResponse({ url, method, signal }, { id, status, statusText, headers, close }, redirectCount) {
  const { href, hash } = url;
  const init = { status, statusText, headers, url: href.slice(0, href.length - hash.length), redirected: redirectCount > 0 };
  if (hasNoBody(method, status)) {
    close();
    return responseOf({ ...init, source: null });
  }
  const receive = async (name, ...args) => {
    signal.throwIfAborted();
    const stack = host.captureStack();
    try {
      const data = await host.callAsync(name, id, ...args);
      if (name === "fetch.readAll" || data === undefined) close();
      return data;
    } catch (cause) {
      close();
      signal.throwIfAborted();
      throw host.withStack(new TypeError("terminated", { cause }), stack);
    }
  };
  const source = {
    read: async () => (await receive("fetch.read")) ?? null,
    all: () => receive("fetch.readAll"),
    cancel: close,
  };
  unreadResponses.register(source, id);
  return responseOf({ ...init, source });
}

function fromData(url) {
  const [, type, base64, data] = /^data:([^,]*?)(;\s*base64\s*)?,(.*)$/is.exec(url.href.slice(0, url.href.length - url.hash.length)) ?? [];
  if (data === undefined) throw fetchError(new Error("invalid data: URL"));
  const raw = host.call("utf8.encode", data.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))));
  const latin1 = host.call("latin1.encode", host.call("utf8.decode", raw));
  const bytes = base64 ? host.call("base64.decode", host.call("latin1.decode", latin1)) : latin1;
  const headers = [["content-type", type.startsWith(";") ? `text/plain${type}` : type || "text/plain;charset=US-ASCII"]];
  return responseOf({ source: { bytes }, status: 200, statusText: "OK", headers, url: url.href });
}
