// The same tools over HTTP, to several clients at once.
import assert from "node:assert/strict";
import { createServer, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { argv, callbacks, fixture, meta, Peer, succeeded, until } from "./peer.ts";

const ACCEPT = "application/json, text/event-stream";

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  messages: any[];
  text: string;
}

/** A port below those that systems give to whoever asks for any, so that it stays free. */
async function freePort(): Promise<number> {
  const port = 10_000 + Math.floor(Math.random() * 10_000);
  const server = createServer();
  const listens = new Promise((resolve) => server.on("listening", () => resolve(true)).on("error", () => resolve(false)));
  server.listen(port, "127.0.0.1");
  if (!(await listens)) return freePort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Sends a request and reads its answer to the end. fetch would not send a Host or an Origin of ours. */
function send(port: number, method: string, headers: Record<string, string>, body?: unknown, path = "/mcp"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: "127.0.0.1", port, method, path, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode!, headers: response.headers, messages: messagesOf(text), text }));
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(typeof body === "string" || body === undefined ? body : JSON.stringify(body));
  });
}

/** Writes a whole request before it reads the answer, as many clients do. */
function writeFirst(port: number, head: string[], body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1").pause().setEncoding("utf8").on("error", reject);
    let text = "";
    socket.on("data", (chunk) => (text += chunk)).on("end", () => resolve(text));
    const lines = ["POST /mcp HTTP/1.1", `Host: 127.0.0.1:${port}`, "Content-Type: application/json", ...head, "", ""];
    socket.write(lines.join("\r\n") + body, () => socket.resume());
  });
}

function messagesOf(text: string): any[] {
  if (text.startsWith("event:")) return [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data));
  return text === "" ? [] : [JSON.parse(text)].flat();
}

/** A server with what speaks to it. */
class Http {
  readonly peer: Peer;
  readonly port: number;

  constructor(peer: Peer, port: number) {
    this.peer = peer;
    this.port = port;
  }

  static async start(t: TestContext, env: NodeJS.ProcessEnv = {}, script = fixture("tools.mjs")): Promise<Http> {
    const port = await freePort();
    const args = [...argv(script), "--verbose", "--transport", "http", `--port=${port}`, "--more"];
    const http = new Http(Peer.start(t, "", { args, env: { TRAILBLAZE_SESSION_ID: "shared", ...env } }), port);
    for (const deadline = Date.now() + 20_000; ; await new Promise((resolve) => setTimeout(resolve, 5))) {
      if (await send(port, "GET", {}).catch(() => undefined)) return http;
      if (Date.now() > deadline || http.peer.exited) http.peer.fail("the server does not answer");
    }
  }

  post(body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return send(this.port, "POST", { "content-type": "application/json", accept: ACCEPT, ...headers }, body);
  }

  async session(): Promise<Session> {
    const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } };
    const { headers, messages } = await this.post(initialize);
    assert.equal(messages[0].result.protocolVersion, "2025-11-25");
    const session = new Session(this, headers["mcp-session-id"] as string);
    const { status, text } = await session.post({ jsonrpc: "2.0", method: "notifications/initialized" });
    assert.deepEqual({ status, text }, { status: 202, text: "" });
    return session;
  }
}

class Session {
  readonly http: Http;
  readonly id: string;
  #id = 1;

  constructor(http: Http, id: string) {
    this.http = http;
    this.id = id;
  }

  post(body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.http.post(body, { "mcp-session-id": this.id, "mcp-protocol-version": "2025-11-25", ...headers });
  }

  async call(name: string, args: Record<string, unknown> = {}, _meta: unknown = undefined): Promise<any[]> {
    const id = ++this.#id;
    const { messages } = await this.post({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args, _meta } });
    return messages;
  }

  async text(name: string, args: Record<string, unknown> = {}, _meta: unknown = undefined): Promise<string> {
    return (await this.call(name, args, _meta)).at(-1).result.content[0].text;
  }
}

test("with the flags a script serves HTTP and does not use stdin and stdout", async (t) => {
  const http = await Http.start(t);
  const session = await http.session();
  assert.equal(await session.text("greet", { name: "Ann" }), "hello Ann");
  assert.equal(await session.text("noise"), "quiet");
  http.peer.write('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\nrubbish\n');
  assert.equal(await session.text("greet", { name: "Bob" }), "hello Bob");
  assert.deepEqual(http.peer.messages, []);
  assert.match(http.peer.stderr, /log formatted/);
});

test("each session has its own state", async (t) => {
  const http = await Http.start(t);
  const [a, b] = [await http.session(), await http.session()];
  assert.notEqual(a.id, b.id);
  // One request id in both: cancelling it in one leaves the other alone.
  const wait = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "wait", _meta: meta() } };
  const nap = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "nap", arguments: { ms: 300 } } };
  const [waiting, napping] = [a.post(wait), b.post(nap)];
  await until("the call", () => http.peer.stderr.includes("waiting"));
  await a.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } });
  assert.deepEqual((await waiting).messages, []);
  assert.equal((await napping).messages[0].result.content[0].text, "rested");
  await until("the abort", () => http.peer.stderr.includes("stopped waiting"));
});

test("hundreds of calls of several sessions run in parallel, each with its own memory and callbacks", async (t) => {
  const http = await Http.start(t);
  const { baseUrl, received } = await callbacks(t, async ({ body }) => {
    await until("all of them", () => received.length === 200);
    return succeeded(`${body.session_id} ${body.invocation_id} ${body.action.arguments_json}`);
  });
  const sessions = await Promise.all(Array.from({ length: 4 }, () => http.session()));
  const all = sessions.flatMap((session, s) =>
    Array.from({ length: 50 }, async (_, i) => {
      const given = meta({ baseUrl, sessionId: `session-${s}`, invocationId: `tbk_${s}_${i}` });
      const answer = JSON.parse(await session.text("relay", { tool: "echo", args: { s, i } }, given));
      assert.equal(answer.text, `session-${s} tbk_${s}_${i} {"s":${s},"i":${i}}`);
    }),
  );
  assert.equal((await Promise.all(all)).length, 200);
});

test("progress is sent before the response, on the stream of its call", async (t) => {
  const session = await (await Http.start(t)).session();
  const messages = await session.call("steps", {}, meta());
  assert.deepEqual(
    messages.map(({ method, params, result }) => params?.message ?? method ?? result.content[0].text),
    ["one", "two", "done"],
  );
});

test("a client that does not accept a stream gets one document", async (t) => {
  const session = await (await Http.start(t)).session();
  const steps = { jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "steps", _meta: meta() } };
  const { headers, messages } = await session.post(steps, { accept: "application/json" });
  assert.equal(headers["content-type"], "application/json");
  assert.deepEqual(
    messages.map(({ id, result }) => [id, result.content[0].text]),
    [[5, "done"]],
  );
  const ping = { jsonrpc: "2.0", id: 6, method: "ping" };
  const batch = await session.post([ping, { jsonrpc: "2.0", method: "notifications/initialized" }, { ...ping, id: 7 }]);
  assert.equal(batch.text, '[{"jsonrpc":"2.0","id":6,"result":{}},{"jsonrpc":"2.0","id":7,"result":{}}]');
});

test("rejects unauthorized requests", async (t) => {
  const http = await Http.start(t, { TRAILBLAZE_SESSION_TOKEN: "secret" });
  const json = { "content-type": "application/json", accept: ACCEPT };
  const ours = { ...json, authorization: "Bearer secret" };
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  for (const [what, status, method, headers, body, path] of [
    ["a page that has rebound its name", 403, "POST", { ...ours, host: `evil.example:${http.port}` }, ping],
    ["another port", 403, "POST", { ...ours, host: "127.0.0.1:1" }, ping],
    ["a page", 403, "POST", { ...ours, origin: "http://localhost" }, ping],
    ["another user", 401, "POST", json, ping],
    ["a wrong token", 401, "POST", { ...json, authorization: "Bearer Secret" }, ping],
    ["another path", 404, "POST", ours, ping, "/"],
    ["a listener", 405, "GET", ours, undefined],
    ["no session", 400, "POST", ours, ping],
    ["a session that is over", 404, "POST", { ...ours, "mcp-session-id": "x" }, ping],
    ["the end of none", 404, "DELETE", { ...ours, "mcp-session-id": "x" }, undefined],
    ["a version of tomorrow", 400, "POST", { ...ours, "mcp-protocol-version": "2099-01-01" }, ping],
    ["rubbish", 400, "POST", ours, "rubbish"],
    ["nothing", 400, "POST", ours, "[]"],
    ["no message", 400, "POST", ours, "[1]"],
    ["too much", 413, "POST", ours, "x".repeat((64 << 20) + 1)],
  ] as [string, number, string, Record<string, string>, string | undefined, string | undefined][]) {
    const answer = await send(http.port, method, headers, body, path).catch((error) => ({ status: String(error) }));
    assert.equal(answer.status, status, what);
  }
  assert.equal((await http.post(ping, { authorization: "Bearer secret" })).status, 400); // and it lives
});

test("a client that sends all before it reads gets the rejection", async (t) => {
  const http = await Http.start(t, { TRAILBLAZE_SESSION_TOKEN: "secret" });
  const much = "x".repeat((64 << 20) + 1);
  const token = "Authorization: Bearer secret";
  for (const [what, status, head, body] of [
    ["too much", 413, [token, `Content-Length: ${much.length}`, "Connection: close"], much],
    ["too much in pieces", 413, [token, "Transfer-Encoding: chunked"], `${much.length.toString(16)}\r\n${much}\r\n0\r\n\r\n`],
    ["another user", 401, ["Content-Length: 7654321", "Connection: close"], much.slice(0, 7654321)],
    ["more than is written", 413, [token, "Content-Length: 987654321"], "x"],
  ] as [string, number, string[], string][]) {
    const answer = await writeFirst(http.port, head, body).catch(String);
    assert.match(answer, new RegExp(`^HTTP/1.1 ${status} [^]*\\r\\n\\r\\n{"jsonrpc"[^]*}$`), what);
  }
});

test("deleting a session cancels its calls", async (t) => {
  const http = await Http.start(t);
  const session = await http.session();
  const waiting = session.call("wait", {}, meta());
  await until("the call", () => http.peer.stderr.includes("waiting"));
  assert.equal((await send(http.port, "DELETE", { "mcp-session-id": session.id })).status, 204);
  assert.deepEqual(await waiting, []);
  await until("the abort", () => http.peer.stderr.includes("stopped waiting"));
  assert.equal((await session.post({ jsonrpc: "2.0", id: 1, method: "ping" })).status, 404);
});

test("a client that disconnects during a call does not affect others", async (t) => {
  const http = await Http.start(t);
  const [a, b] = [await http.session(), await http.session()];
  const body = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "nap", arguments: { ms: 200 } } });
  const headers = { "content-type": "application/json", accept: ACCEPT, "mcp-session-id": a.id };
  await new Promise<void>((resolve) => {
    const request = httpRequest({ host: "127.0.0.1", port: http.port, method: "POST", path: "/mcp", headers }, (response) => {
      response.on("error", () => {});
      response.destroy();
      resolve();
    });
    request.on("error", () => {});
    request.end(body);
  });
  assert.equal(await b.text("nap", { ms: 400 }), "rested");
  assert.equal(http.peer.exited, undefined);
});

test("a client that disconnects during a request does not affect the server", async (t) => {
  const http = await Http.start(t);
  for (const length of [100, 987654321]) {
    const socket = connect(http.port, "127.0.0.1");
    socket.write(`POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${http.port}\r\nContent-Length: ${length}\r\n\r\nx`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    socket.resetAndDestroy();
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(await (await http.session()).text("greet", { name: "Ann" }), "hello Ann");
});

for (const how of ["the end of stdin", "SIGTERM", "SIGINT"] as const) {
  test(`the process ends with ${how}`, async (t) => {
    const http = await Http.start(t);
    const session = await http.session();
    if (how !== "the end of stdin") {
      http.peer.child.kill(how);
      assert.equal((await http.peer.exit()).signal, how);
      return;
    }
    const napping = session.text("nap", { ms: 200 });
    await session.text("greet", { name: "Ann" });
    assert.deepEqual(await http.peer.end(), { code: 0, signal: null });
    await napping.catch(() => {});
  });
}

test("a server that trailblaze did not start ignores the end of stdin", async (t) => {
  const port = await freePort();
  const env = { TRAILBLAZE_SESSION_ID: undefined };
  const peer = Peer.start(t, "", { args: [...argv(fixture("tools.mjs")), "--transport=http", "--port", String(port)], env });
  peer.child.stdin!.end();
  await until("the start", () => peer.exited !== undefined || peer.stderr !== "");
  const http = new Http(peer, port);
  for (const deadline = Date.now() + 20_000; !(await send(port, "GET", {}).catch(() => undefined)); ) {
    if (Date.now() > deadline) peer.fail("the server does not answer");
  }
  assert.equal(await (await http.session()).text("greet", { name: "Ann" }), "hello Ann");
});

for (const [args, says] of [
  [["--transport", "http"], "--transport http goes with --port NUMBER"],
  [["--transport", "http", "--port"], "--port  is not a port"],
  [["--transport", "http", "--port", "70000"], "--port 70000 is not a port"],
  [["--transport", "http", "--port", "8080x"], "--port 8080x is not a port"],
  [["--transport", "sse", "--port", "8080"], "--transport sse is unknown"],
] as const) {
  test(`${args.join(" ")} is an error`, async (t) => {
    const peer = Peer.start(t, "", { args: [...argv(fixture("tools.mjs")), ...args] });
    assert.equal((await peer.exit()).code, 1);
    assert.ok(peer.stderr.includes(says), peer.stderr);
  });
}

test("a port in use is an error that names it", async (t) => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  t.after(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  const peer = Peer.start(t, "", { args: [...argv(fixture("tools.mjs")), "--transport", "http", "--port", String(port)] });
  assert.equal((await peer.exit()).code, 1);
  assert.match(peer.stderr, new RegExp(`cannot serve at 127.0.0.1:${port}: EADDRINUSE`));
});

test("--transport stdio is the default", async (t) => {
  const peer = Peer.start(t, "", { args: [...argv(fixture("tools.mjs")), "--transport", "stdio"] });
  assert.equal((await peer.call("greet", { name: "Ann" })).content[0].text, "hello Ann");
});
