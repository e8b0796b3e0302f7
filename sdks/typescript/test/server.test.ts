import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { argv, callbacks, fixture, meta, Peer, succeeded, until } from "./peer.ts";

const start = (t: Parameters<typeof Peer.start>[0], env = {}) => Peer.start(t, fixture("tools.mjs"), { env });
const text = (result: any) => result.content[0].text;

test("the handshake selects a version that both support", async (t) => {
  const peer = start(t);
  for (const [asked, agreed] of [
    ["2024-11-05", "2024-11-05"],
    ["2025-03-26", "2025-03-26"],
    ["2025-06-18", "2025-06-18"],
    ["2025-11-25", "2025-11-25"],
    ["2026-07-28", "2025-11-25"],
    [undefined, "2025-11-25"],
  ]) {
    const { result } = await peer.request("initialize", {
      protocolVersion: asked,
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    });
    assert.deepEqual(result, {
      protocolVersion: agreed,
      capabilities: { tools: {} },
      serverInfo: { name: "tools", version: "1.2.3" },
    });
  }
  peer.notify("notifications/initialized");
  assert.deepEqual((await peer.request("ping")).result, {});
});

test("a tool is listed with its metadata", async (t) => {
  const { result } = await start(t).request("tools/list");
  assert.deepEqual(
    result.tools.find((tool: any) => tool.name === "greet"),
    {
      name: "greet",
      title: "Greeter",
      description: "greets",
      annotations: { readOnlyHint: true },
      outputSchema: { type: "object" },
      inputSchema: {
        type: "object",
        properties: {
          name: { type: "string" },
          times: { type: "integer", default: 1, minimum: -9007199254740991, maximum: 9007199254740991 },
        },
        required: ["name"],
        additionalProperties: false,
      },
      _meta: {
        "acme/owner": "team a",
        "trailblaze/toolset": "manners",
        "trailblaze/supportedPlatforms": ["WEB"],
        "trailblaze/isRecordable": false,
        "trailblaze/timeoutMs": 5000,
      },
    },
  );
  assert.deepEqual(
    result.tools.find((tool: any) => tool.name === "nothing"),
    {
      name: "nothing",
      inputSchema: { type: "object", properties: {}, additionalProperties: false },
    },
  );
  assert.deepEqual(result.tools.find((tool: any) => tool.name === "yes").outputSchema, {
    type: "object",
    properties: { ok: { type: "boolean" } },
    required: ["ok"],
  });
});

test("unknown and invalid messages get error responses", async (t) => {
  const peer = start(t);
  assert.equal((await peer.request("server/discover")).error.code, -32601);
  assert.equal((await peer.request("constructor")).error.code, -32601);
  assert.equal((await peer.request("tools/call", { name: "absent" })).error.code, -32602);
  assert.equal((await peer.request("tools/call")).error.code, -32602);
  peer.write('no json\n\n[]\nnull\n{"jsonrpc":"2.0","id":77,"result":{}}\n\ufeff{"jsonrpc":"2.0",');
  peer.write('"id":"text","method":"ping"}\r\n');
  await until("the answer to a request in pieces", () => peer.messages.some((message) => message.id === "text"));
  peer.notify("notifications/unheardOf");
  peer.notify("notifications/cancelled", { requestId: 4711 });
  assert.deepEqual((await peer.request("ping")).result, {});
  assert.match(peer.stderr, /ignored a line on stdin that is not a message: no json/);
});

/** The position of the first statement in a handler of the fixture. */
function thrownAt(tool: string): string {
  const lines = readFileSync(fixture("tools.mjs"), "utf8").split("\n");
  return `${fixture("tools.mjs")}:${2 + lines.findIndex((line) => line.includes(`"${tool}"`))}`;
}

test("what a handler returns or throws becomes a result", async (t) => {
  const peer = start(t);
  const one = (text: string) => [{ type: "text", text }];
  const delegates = [{ tool: "tap", args: { id: "{{button}}" } }, { tool: "look" }];
  for (const [name, want] of Object.entries({
    nothing: { content: one("") },
    list: { content: one('[1,{"two":2}]') },
    yes: { content: one('{"ok":true}'), structuredContent: { ok: true } },
    date: { content: one('"1970-01-01T00:00:00.000Z"') },
    raw: { content: [{ type: "image", data: "AA==", mimeType: "image/png" }], _meta: { "acme/x": 1 } },
    no: { content: one("no, on purpose"), isError: true },
    throws: { content: one("three items expected, two found"), isError: true, _meta: { trailblaze: { thrownAt: thrownAt("throws") } } },
    wraps: {
      content: one("the helper failed: Error: no\n    at help (/elsewhere/helper.js:1:2)"),
      isError: true,
      _meta: { trailblaze: { thrownAt: thrownAt("wraps") } },
    },
    fatal: { content: one("the backend is gone"), isError: true, _meta: { trailblaze: { variant: "FatalError" } } },
    handOver: {
      content: one(JSON.stringify({ _trailblaze_delegates: delegates })),
      structuredContent: { _trailblaze_delegates: delegates },
    },
  })) {
    assert.deepEqual(await peer.call(name, {}, meta()), want, name);
  }
  assert.match(text(await peer.call("circle")), /circular|cyclic/i);
  assert.equal((await peer.request("tools/call", { name: "unsayable" })).error.code, -32603);
  assert.match(peer.stderr, /throws failed: .*three items expected[^]*tools\.mjs/, "the stack is on stderr");
});

test("arguments are checked and completed", async (t) => {
  const peer = start(t);
  assert.equal(text(await peer.call("greet", { name: "Ada", times: 2, _trailblazeContext: {} })), "hello Ada, hello Ada");
  assert.equal(text(await peer.call("greet", { name: "Ada", unheardOf: 1 })), "hello Ada");
  const refused = await peer.call("greet", { times: "two" });
  assert.equal(refused.isError, true);
  assert.match(text(refused), /^invalid arguments for greet: name: .*; times: /);
});

test("ctx has the values of _meta.trailblaze, and is undefined without it", async (t) => {
  const peer = start(t);
  const target = { id: "myapp", appIds: ["com.example.myapp"] };
  const inside = await peer.call(
    "look",
    { a: 1, _trailblazeContext: { memory: {} } },
    meta({ target, baseUrl: "http://127.0.0.1:1" }),
  );
  assert.deepEqual(inside.structuredContent, {
    args: { a: 1 },
    ctx: { ...meta().trailblaze, target, baseUrl: "http://127.0.0.1:1", signal: false },
  });
  assert.deepEqual((await peer.call("look", {}, { trailblaze: null })).structuredContent, { args: {} });
  assert.deepEqual(
    (await peer.call("look", {}, { trailblaze: { sessionId: "s", memory: null } })).structuredContent.ctx.memory,
    {},
  );

  assert.match(text(await peer.call("sessionOnly")), /sessionOnly works only in a trailblaze session/);
  assert.equal(text(await peer.call("sessionOnly", {}, meta())), "session-1");
  assert.match(text(await peer.call("careless")), /ctx is undefined: the call was not made by a trailblaze session/);
  assert.match(text(await peer.call("relay", { tool: "x" })), /cannot call x: this call was not made by a trailblaze session/);
});

test("memory that no callback has sent is in the result", async (t) => {
  const result = await start(t).call("remember", {}, meta());
  assert.deepEqual(result._meta, {
    trailblaze: { memoryDelta: { plan: "pro", count: "3", user: '{"id":7}' }, memoryDeletions: ["email"] },
  });
});

test("progress is sent to the client that requested it", async (t) => {
  const peer = start(t);
  assert.equal(text(await peer.call("steps", {}, meta())), "done");
  assert.deepEqual(
    peer.messages.filter((message) => message.method).map(({ method, params }) => ({ method, params })),
    ["one", "two"].map((message, i) => ({
      method: "notifications/progress",
      params: { progressToken: "p-1", progress: i + 1, message },
    })),
  );
  const { trailblaze } = meta();
  await peer.call("steps", {}, { trailblaze });
  assert.equal(peer.messages.filter((message) => message.method).length, 2);
});

test("a cancelled call is aborted and gets no response", async (t) => {
  const peer = start(t);
  const id = peer.ask("tools/call", { name: "wait", _meta: meta() });
  await until("the call", () => peer.stderr.includes("waiting"));
  peer.notify("notifications/cancelled", { requestId: id });
  await until("the end of the wait", () => peer.stderr.includes("stopped waiting"));
  await peer.request("ping");
  assert.equal(
    peer.messages.some((message) => message.id === id),
    false,
  );
});

test("cancelling a call cancels its callbacks", async (t) => {
  const { baseUrl, received } = await callbacks(t, () => undefined);
  const peer = start(t);
  const id = peer.ask("tools/call", { name: "relay", arguments: { tool: "never" }, _meta: meta({ baseUrl }) });
  await until("the callback", () => received.length === 1);
  peer.notify("notifications/cancelled", { requestId: id });
  await until("the end of the call", () => peer.stderr.includes("the call that asked for it was cancelled"));
});

test("the error of a failed call names both tools", async (t) => {
  const { baseUrl } = await callbacks(t, () => ({ result: { type: "error", message: 'unknown argument "nam"' } }));
  const peer = start(t);
  const { content } = await peer.call("relay", { tool: "greet" }, meta({ baseUrl }));
  assert.equal(content[0].text, 'relay: cannot call greet: unknown argument "nam"');
  assert.match(peer.stderr, /relay failed: .*cannot call greet[^]*tools\.mjs/, "the stack is on stderr");
});

test("parallel calls do not affect each other", async (t) => {
  const waiting: (() => void)[] = [];
  const { baseUrl } = await callbacks(t, async ({ body }) => {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 8) for (const go of waiting.reverse()) go();
    });
    return succeeded(`${body.session_id} ${body.invocation_id}`);
  });
  const peer = start(t);
  const names = Array.from({ length: 8 }, (_, i) => i);
  const answers = await Promise.all(
    names.map((i) => peer.call("relay", { tool: "who" }, meta({ baseUrl, sessionId: `s-${i}`, invocationId: `tbk_${i}` }))),
  );
  assert.deepEqual(
    answers.map((answer) => answer.structuredContent.text),
    names.map((i) => `s-${i} tbk_${i}`),
  );
});

test("a callback does not use a proxy that NO_PROXY excludes, and its error names another proxy", async (t) => {
  const { baseUrl, received } = await callbacks(t, () => succeeded("direct"));
  const dead = { HTTP_PROXY: "http://127.0.0.1:9", http_proxy: "http://127.0.0.1:9" };
  const env = {
    ...dead,
    NO_PROXY: "127.0.0.1,localhost,::1",
    no_proxy: "127.0.0.1,localhost,::1",
    TRAILBLAZE_SESSION_TOKEN: "secret",
  };
  const relayed = await start(t, env).call("relay", { tool: "x" }, meta({ baseUrl }));
  assert.deepEqual(relayed.structuredContent, { text: "direct" });
  assert.equal(received[0].headers.authorization, "Bearer secret");

  const lost = await start(t, { ...dead, NO_PROXY: "", no_proxy: "" }).call(
    "relay",
    { tool: "x" },
    meta({ baseUrl: "http://127.0.0.1:9" }),
  );
  assert.match(
    text(lost),
    /cannot call x: http:\/\/127\.0\.0\.1:9 does not answer \(.+\); HTTP_PROXY is set, so NO_PROXY must name 127\.0\.0\.1/,
  );
});

test("stdout has only MCP messages, while modules load and while tools run", async (t) => {
  const peer = start(t);
  assert.equal(text(await peer.call("noise")), "quiet");
  assert.deepEqual(await peer.end(), { code: 0, signal: null });
  assert.deepEqual(peer.stray, []);
  for (const line of [
    "a module that logs while it loads",
    "and informs",
    "log formatted",
    "info",
    "debug",
    "(index)",
    "{ a: 1 }",
    "group",
    "default: 1",
    "t: ",
    "write",
  ]) {
    assert.ok(peer.stderr.includes(line), `${line} in ${peer.stderr}`);
  }
});

test("the process exits at the end of stdin, after its responses were written, even if timers are active", async (t) => {
  const peer = start(t);
  const big = peer.ask("tools/call", { name: "big", arguments: { bytes: 8 << 20 } });
  assert.deepEqual(await peer.end(), { code: 0, signal: null });
  assert.equal(Buffer.byteLength(text((await peer.answer(big)).result)), 8 << 20);
});

test("pending calls may finish after the end of stdin, for a limited time", async (t) => {
  const peer = start(t);
  const nap = peer.ask("tools/call", { name: "nap", arguments: { ms: 200 } });
  peer.ask("tools/call", { name: "wait", _meta: meta() });
  await until("the call", () => peer.stderr.includes("waiting"));
  assert.deepEqual(await peer.end(), { code: 0, signal: null });
  assert.equal(text((await peer.answer(nap)).result), "rested");
});

test("SIGTERM ends the process, also while it reads stdin", async (t) => {
  const peer = start(t);
  await peer.request("ping");
  peer.child.stdin!.on("error", () => {}); // the pipe breaks while we write
  const flood = setInterval(() => peer.notify("notifications/unheardOf", { text: "x".repeat(10_000) }), 1);
  t.after(() => clearInterval(flood));
  peer.child.kill("SIGTERM");
  assert.deepEqual(await peer.exit(), { code: null, signal: "SIGTERM" });
});

test("the process exits when its stdout is closed", async (t) => {
  const peer = start(t);
  await peer.request("ping");
  peer.child.stdout!.destroy();
  for (let i = 0; i < 10; i++) peer.ask("ping");
  await peer.exit();
});

test("big messages pass in both directions", async (t) => {
  const peer = start(t);
  const name = "n".repeat(5 << 20);
  assert.equal(text(await peer.call("greet", { name })), `hello ${name}`);
});

test("a test may import a file that calls run()", async (t) => {
  const script = fixture("imports.test.ts");
  const args = process.versions.bun ? ["test", "--no-install", script] : [...argv(script).slice(0, -1), "--test", script];
  const peer = Peer.start(t, "", { args });
  assert.deepEqual(await peer.end(), { code: 1, signal: null });
  const output = peer.stderr + peer.stray.join("\n");
  assert.match(output, /no tools are served here, since imports\.test\.ts is a test/);
  assert.match(output, /as it should/);
});

test("a failed call that is not awaited is logged, and does not affect later calls", async (t) => {
  const { baseUrl, received } = await callbacks(t, () => ({
    result: { type: "call_tool_result", success: false, error_message: "no such user" },
  }));
  const peer = start(t);
  await peer.call("forget", { tool: "findUser" }, meta({ baseUrl }));
  const told = /findUser was called without await: write await client\.callTool.*; findUser: no such user\n/g;
  await until("both are told", () => peer.stderr.match(told)?.length === 2);
  assert.equal(received.length, 2);
  assert.equal(text(await peer.call("greet", { name: "you" })), "hello you");
  peer.child.stdin!.end();
  assert.deepEqual(await peer.exit(), { code: 0, signal: null });
});

test("other unhandled rejections are not changed", async (t) => {
  const { baseUrl } = await callbacks(t, () => succeeded("hi"));
  const peer = start(t);
  await peer.call("relay", { tool: "x" }, meta({ baseUrl }));
  peer.ask("tools/call", { name: "reject" });
  await until("it is told", () => peer.stderr.includes("somebody else's"));
  peer.child.stdin!.end();
  assert.notEqual((await peer.exit()).code, 0);
});
