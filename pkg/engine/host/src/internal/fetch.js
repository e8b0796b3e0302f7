/** fetch, over Go's HTTP. @module */
import { bodyOf, Request, responseOf } from "internal/body";

const redirects = [301, 302, 303, 307, 308];
const maxHops = 20;

const usual = { accept: "*/*", "accept-language": "*", "user-agent": "trailblaze", "accept-encoding": "gzip, deflate" };
const ofBody = ["content-encoding", "content-language", "content-location", "content-type", "content-length"];
const ofOrigin = ["authorization", "proxy-authorization", "cookie", "host"];

/** Answers that nobody reads are given up with the memory of their bodies. */
const forgotten = new FinalizationRegistry((id) => host.call("fetch.close", id));

/** The errors that are fetch's own: others belong to the script. */
const failures = new WeakSet();

function failed(cause) {
  const refused = cause?.code === "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM"; // as all in on-device mode, which nobody would look for in a cause
  const error = new TypeError(refused ? `fetch failed: ${cause.message}` : "fetch failed", { cause });
  failures.add(error);
  return error;
}

/** @param {string | URL | Request} input @param {RequestInit} [init] */
export async function fetch(input, init = undefined) {
  if (arguments.length === 0) throw new TypeError("fetch: 1 argument required, but only 0 present.");
  const asked = host.here();
  try {
    return await perform(input, init);
  } catch (error) {
    throw failures.has(error) ? host.askedAt(error, asked) : error;
  }
}

async function perform(input, init) {
  const request = new Request(input, init);
  const { signal } = request;
  signal.throwIfAborted();
  const url = new URL(request.url);
  if (url.protocol === "data:") return fromData(url);
  const state = { url, method: request.method, headers: new Headers(request.headers), source: bodyOf(request), signal };
  for (let hops = 0; ; hops++) {
    if (!/^https?:$/.test(state.url.protocol)) throw failed(new Error(hops === 0 ? "unknown scheme" : "URL scheme must be a HTTP(S) scheme"));
    const answer = await ask(state);
    const location = answer.headers.find(([name]) => name.toLowerCase() === "location")?.[1];
    if (location === undefined || !redirects.includes(answer.status) || request.redirect === "manual") return respond(state, answer, hops);
    answer.close();
    if (request.redirect === "error") throw failed(new Error("unexpected redirect"));
    if (hops === maxHops) throw failed(new Error("redirect count exceeded"));
    follow(state, answer.status, location);
  }
}

/** Makes the next request what a redirect asks for. */
function follow(state, status, location) {
  let next;
  try {
    next = new URL(location, state.url);
  } catch (error) {
    throw failed(error);
  }
  next.hash ||= state.url.hash;
  if (status === 303 ? !["GET", "HEAD"].includes(state.method) : status <= 302 && state.method === "POST") {
    state.method = "GET";
    state.source = null;
    for (const name of ofBody) state.headers.delete(name);
  } else if (state.source && !state.source.bytes) {
    throw failed(new Error("a body that is a stream cannot be sent again to where it was redirected"));
  }
  if (next.origin !== state.url.origin) for (const name of ofOrigin) state.headers.delete(name);
  state.url = next;
}

/** Sends one request and waits for the head of its answer. */
async function ask({ url, method, headers, source, signal }) {
  const id = host.call("fetch.open");
  let open = true;
  const close = () => {
    if (!open) return;
    open = false;
    signal.removeEventListener("abort", close);
    host.call("fetch.close", id);
  };
  signal.addEventListener("abort", close);
  let broken;
  const brake = (error) => {
    broken = error;
    close();
  };
  const flat = [...Object.entries(usual).filter(([name]) => !headers.has(name)), ...headers].flat();
  const empty = ["POST", "PUT", "PATCH"].includes(method) ? new Uint8Array(0) : undefined;
  try {
    const sent = host.start("fetch.send", id, method, url.href, flat, source ? (source.bytes ?? true) : empty, headers.has("accept-encoding"));
    if (source && !source.bytes) pump(id, source).catch(brake);
    const [status, statusText, given] = await sent;
    const pairs = [];
    for (let i = 0; i < given.length; i += 2) pairs.push([given[i], given[i + 1]]);
    return { id, status, statusText, headers: pairs, close };
  } catch (error) {
    close();
    signal.throwIfAborted();
    throw failed(broken ?? error);
  }
}

/** Sends a body that comes by and by. */
async function pump(id, source) {
  const reader = source.stream?.getReader();
  const next = reader ? async () => (await reader.read()).value : () => source.read();
  for (let chunk = await next(); chunk !== undefined && chunk !== null; chunk = await next()) {
    if (typeof chunk === "string") chunk = host.call("utf8.encode", chunk);
    if (!ArrayBuffer.isView(chunk) && !(chunk instanceof ArrayBuffer)) throw new TypeError("Received non-Uint8Array chunk");
    try {
      if (chunk.byteLength > 0) await host.start("fetch.write", id, chunk);
    } catch {
      return void reader?.cancel().catch(() => {}); // the answer has come, or never will
    }
  }
  await host.start("fetch.write", id).catch(() => {});
}

const bodiless = (method, status) => method === "HEAD" || status === 204 || status === 205 || status === 304;

function respond({ url, method, signal }, { id, status, statusText, headers, close }, hops) {
  const { href, hash } = url;
  const facts = { status, statusText, headers, url: href.slice(0, href.length - hash.length), redirected: hops > 0 };
  if (bodiless(method, status)) {
    close();
    return responseOf({ ...facts, source: null });
  }
  const receive = async (name, ...args) => {
    signal.throwIfAborted();
    const asked = host.here();
    try {
      const data = await host.start(name, id, ...args);
      if (name === "fetch.readAll" || data === undefined) close();
      return data;
    } catch (cause) {
      close();
      signal.throwIfAborted();
      throw host.askedAt(new TypeError("terminated", { cause }), asked);
    }
  };
  const source = {
    read: async () => (await receive("fetch.read")) ?? null,
    all: () => receive("fetch.readAll"),
    cancel: close,
  };
  forgotten.register(source, id);
  return responseOf({ ...facts, source });
}

function fromData(url) {
  const [, type, base64, data] = /^data:([^,]*?)(;\s*base64\s*)?,(.*)$/is.exec(url.href.slice(0, url.href.length - url.hash.length)) ?? [];
  if (data === undefined) throw failed(new Error("invalid data: URL"));
  const raw = host.call("utf8.encode", data.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))));
  const latin1 = host.call("latin1.encode", host.call("utf8.decode", raw));
  const bytes = base64 ? host.call("base64.decode", host.call("latin1.decode", latin1)) : latin1;
  const headers = [["content-type", type.startsWith(";") ? `text/plain${type}` : type || "text/plain;charset=US-ASCII"]];
  return responseOf({ source: { bytes }, status: 200, statusText: "OK", headers, url: url.href });
}
