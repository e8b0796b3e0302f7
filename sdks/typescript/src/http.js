// MCP over HTTP for several clients, for scripts that are started with --transport http --port N.

import { Conversation, VERSIONS } from "./server.js";
import { whenStdinEnds } from "./stdio.js";

/** @import { IncomingMessage, Server, ServerResponse } from "node:http" */
/** @import { ServerInfo, Tool } from "./server.js" */

const PATH = "/mcp";
const HOST = "127.0.0.1";
// The same limit as for a line over stdio.
const MAX_BODY_BYTES = 64 << 20;
const CLOSE_GRACE_MS = 2000; // for a client to send the rest of a request that was rejected
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

/** A request that is rejected with an HTTP status. */
class Refusal extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {Record<string, string>} [headers]
   * @param {number} [code]
   */
  constructor(status, message, headers = {}, code = INVALID_REQUEST) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.code = code;
  }
}

const TOO_LARGE = new Refusal(413, `the body is over ${MAX_BODY_BYTES} bytes`);
const CUT_SHORT = new Refusal(400, "the request could not be read to its end");

/**
 * Returns the port at which to serve HTTP, from the flags in argv; undefined without them. Other arguments are ignored. Throws an
 * Error for wrong flags.
 * @param {string[]} argv
 */
export function portOf(argv) {
  const transport = flag(argv, "--transport");
  if (transport === undefined || transport === "stdio") return undefined;
  if (transport !== "http") throw new Error(`--transport ${transport} is unknown; use stdio or http`);
  const port = flag(argv, "--port");
  if (port === undefined) throw new Error("--transport http goes with --port NUMBER");
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65535) throw new Error(`--port ${port} is not a port; write a number up to 65535`);
  return Number(port);
}

/**
 * @param {string[]} argv
 * @param {string} name
 */
function flag(argv, name) {
  const i = argv.findLastIndex((arg) => arg === name || arg.startsWith(`${name}=`));
  if (i < 0) return undefined;
  return argv[i] === name ? (argv[i + 1] ?? "") : argv[i].slice(name.length + 1);
}

/**
 * Serves tools at http://127.0.0.1:port/mcp. A process that trailblaze started exits at the end of stdin.
 * @param {Map<string, Tool>} tools
 * @param {ServerInfo} serverInfo
 * @param {number} port
 */
export async function serveHttp(tools, serverInfo, port) {
  const { createServer } = await import("node:http"); // not imported for stdio, to start faster
  /** @type {Map<string, Conversation>} by session id */
  const conversations = new Map();
  const open = () => {
    const id = crypto.randomUUID();
    const conversation = new Conversation(tools, serverInfo);
    conversations.set(id, conversation);
    return { id, conversation };
  };
  const server = createServer((request, response) => {
    response.on("error", () => {}); // the client has disconnected
    answer(request, response, conversations, open).catch((thrown) => refuse(request, response, thrown));
  });
  server.keepAliveTimeout = 0; // a client may reuse a connection at any time, so none is closed when idle
  await listen(server, port);
  if (process.env.TRAILBLAZE_SESSION_ID === undefined) return; // the stdin of a process that we did not start may be closed already
  process.stdin.resume();
  whenStdinEnds(async () => {
    await Promise.all([...conversations.values()].map((conversation) => conversation.finish()));
    process.exit();
  });
}

/**
 * @param {Server} server
 * @param {number} port
 * @returns {Promise<void>}
 */
function listen(server, port) {
  return new Promise((resolve, reject) => {
    server.on("error", (/** @type {NodeJS.ErrnoException} */ cause) => {
      reject(new Error(`cannot serve at ${HOST}:${port}: ${cause.code}: ${cause.message}`, { cause }));
    });
    server.listen(port, HOST, resolve);
  });
}

/**
 * @param {IncomingMessage} request
 * @param {ServerResponse} response
 * @param {Map<string, Conversation>} conversations
 * @param {() => { id: string, conversation: Conversation }} open
 */
async function answer(request, response, conversations, open) {
  check(request);
  const given = request.headers["mcp-session-id"];
  if (request.method === "DELETE") {
    conversationOf(conversations, given).end();
    conversations.delete(String(given));
    return response.writeHead(204).end();
  }
  const { messages, batch } = parse(await read(request));
  const opening = messages.find(({ method }) => method === "initialize") && given === undefined ? open() : undefined;
  const conversation = opening?.conversation ?? conversationOf(conversations, given);
  const headers = opening ? { "mcp-session-id": opening.id } : {};
  const asks = messages.filter(({ id, method }) => id !== undefined && typeof method === "string");
  const streams = asks.some(({ method }) => method === "tools/call") && accepts(request, "text/event-stream");
  const out = asks.length === 0 ? undefined : streams ? stream(response, headers) : collect(response, headers, batch);
  await Promise.all(messages.map((message) => conversation.receive(message, out?.send ?? (() => {}))));
  if (out) out.end();
  else response.writeHead(202, headers).end();
}

/**
 * Responds with server-sent events, so that a tool can report progress.
 * @param {ServerResponse} response
 * @param {Record<string, string>} headers
 */
function stream(response, headers) {
  response.writeHead(200, { ...headers, "content-type": "text/event-stream", "cache-control": "no-store" });
  response.flushHeaders();
  return {
    /** @param {Record<string, unknown>} message */
    send: (message) => void response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`),
    end: () => void response.end(),
  };
}

/**
 * Responds with one JSON document.
 * @param {ServerResponse} response
 * @param {Record<string, string>} headers
 * @param {boolean} batch
 */
function collect(response, headers, batch) {
  /** @type {Record<string, unknown>[]} */
  const answers = [];
  return {
    /** @param {Record<string, unknown>} message */
    send: (message) => {
      if (message.id !== undefined) answers.push({ jsonrpc: "2.0", ...message }); // only responses can be sent here
    },
    end: () => {
      if (answers.length === 0) return void response.writeHead(202, headers).end(); // all were cancelled
      const body = JSON.stringify(batch ? answers : answers[0]);
      response.writeHead(200, { ...headers, "content-type": "application/json", "cache-control": "no-store" }).end(body);
    },
  };
}

/**
 * Throws a Refusal for requests of web pages, by the Host and Origin that browsers send, and of other users of the machine, by the
 * token, which is only in our environment.
 * @param {IncomingMessage} request
 */
function check({ method, url, headers, socket }) {
  const hosts = [HOST, "localhost", "[::1]"].map((host) => `${host}:${socket.localPort}`);
  const token = process.env.TRAILBLAZE_SESSION_TOKEN;
  const version = headers["mcp-protocol-version"];
  if (!hosts.includes(headers.host?.toLowerCase() ?? "")) throw new Refusal(403, "the Host is not that of this server");
  if (headers.origin !== undefined) throw new Refusal(403, "web pages may not call tools: there is an Origin header");
  if (token && headers.authorization !== `Bearer ${token}`) {
    throw new Refusal(401, "the Authorization is not Bearer and this session's token", { "www-authenticate": "Bearer" });
  }
  if (url?.split("?")[0] !== PATH) throw new Refusal(404, `nothing is here; MCP is at ${PATH}`);
  if (method !== "POST" && method !== "DELETE") throw new Refusal(405, "use POST or DELETE", { allow: "POST, DELETE" });
  if (version !== undefined && !VERSIONS.includes(String(version))) {
    throw new Refusal(400, `MCP-Protocol-Version ${version} is unknown; known are ${VERSIONS.join(", ")}`);
  }
}

/**
 * @param {Map<string, Conversation>} conversations
 * @param {string | string[] | undefined} id
 */
function conversationOf(conversations, id) {
  if (id === undefined) throw new Refusal(400, "Mcp-Session-Id is missing; a session begins with initialize");
  const conversation = conversations.get(String(id));
  if (!conversation) throw new Refusal(404, "this session is over");
  return conversation;
}

/**
 * @param {IncomingMessage} request
 * @param {string} type
 */
function accepts({ headers }, type) {
  return headers.accept?.includes(type) ?? false;
}

/**
 * Reads the body. It uses events, because leaving a loop over the chunks would close the connection before a response is sent.
 * @param {IncomingMessage} request
 * @returns {Promise<string>}
 */
function read(request) {
  return new Promise((resolve, reject) => {
    if (Number(request.headers["content-length"]) > MAX_BODY_BYTES) return reject(TOO_LARGE);
    /** @type {Buffer[]} */
    let chunks = [];
    let size = 0;
    request.on("data", (chunk) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) return void chunks.push(chunk);
      chunks = [];
      reject(TOO_LARGE);
    });
    request.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
    request.on("close", () => reject(CUT_SHORT));
  });
}

/**
 * @param {string} text
 * @returns {{ messages: any[], batch: boolean }}
 */
function parse(text) {
  /** @type {any} */
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Refusal(400, "the body is not JSON", {}, PARSE_ERROR);
  }
  const batch = Array.isArray(body);
  const messages = batch ? body : [body];
  if (messages.length === 0 || messages.some((/** @type {unknown} */ message) => typeof message !== "object" || message === null)) {
    throw new Refusal(400, "the body is neither a message nor a list of messages");
  }
  return { messages, batch };
}

/**
 * @param {IncomingMessage} request
 * @param {ServerResponse} response
 * @param {unknown} thrown
 */
function refuse(request, response, thrown) {
  if (!(thrown instanceof Refusal)) console.error("@trailblaze/scripting: a request went wrong:", thrown);
  if (response.headersSent) return void response.destroy();
  const { status, headers, code, message } = thrown instanceof Refusal ? thrown : new Refusal(500, "the server's log says what went wrong");
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } });
  const head = { ...headers, "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
  if (request.complete) return void response.writeHead(status, head).end(body);
  // Many clients send the whole request before they read. If we closed the connection before that, they would lose the response.
  response.writeHead(status, { ...head, connection: "close" }).write(body);
  const end = () => void response.end();
  const timer = setTimeout(end, CLOSE_GRACE_MS);
  request.on("close", () => clearTimeout(timer));
  request.on("end", end).resume();
}
