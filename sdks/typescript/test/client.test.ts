import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { TrailblazeCallbackError, TrailblazeClient, TrailblazeToolError } from "@trailblaze/scripting";
import { contextOf } from "../src/context.js";
import { callbacks, meta, root, succeeded } from "./peer.ts";

const vectors = JSON.parse(readFileSync(`${root}testdata/protocol/vectors.json`, "utf8"));
const clientOf = (given: unknown, signal = new AbortController().signal) => {
  const ctx = contextOf(given, signal, () => {})!;
  return { ctx, client: new (TrailblazeClient as any)(ctx) as TrailblazeClient };
};

/** A request's body with its arguments as JSON, whatever their spacing. */
const read = ({ action, ...rest }: any) => ({
  ...rest,
  action: { ...action, arguments_json: JSON.parse(action.arguments_json) },
});

test("vectors: requests and results of responses", async (t) => {
  Object.assign(process.env, vectors.env);
  t.after(() => Object.keys(vectors.env).forEach((name) => delete process.env[name]));
  assert.ok(vectors.calls.length > 4);
  for (const { name, set = {}, delete: deleted = [], call, request, response, outcome } of vectors.calls) {
    const { baseUrl, received } = await callbacks(t, () => response);
    const { ctx, client } = clientOf({ ...vectors.meta, trailblaze: { ...vectors.meta.trailblaze, baseUrl } });
    for (const [key, value] of Object.entries<string>(set)) ctx.memory.set(key, value);
    for (const key of deleted) ctx.memory.delete(key);

    const reply = await client.callTool(call.tool, call.args).catch((error) => error);
    assert.equal(received[0].path, request.path, name);
    assert.deepEqual(read(received[0].body), read(request.body), name);
    for (const [header, value] of Object.entries(request.headers ?? {})) assert.equal(received[0].headers[header], value, name);

    if (outcome.ok) assert.equal(reply.text, outcome.text, name);
    else
      assert.ok(
        reply instanceof TrailblazeToolError && reply.tool === call.tool && reply.reason === outcome.error,
        `${name}: ${reply}`,
      );
    if ("json" in outcome) assert.deepEqual(reply.json(), outcome.json, name);
    if (outcome.memory) assert.deepEqual(Object.fromEntries(ctx.memory.entries()), outcome.memory, name);
  }
});

test("tools has a function for each name", async (t) => {
  const { baseUrl, received } = await callbacks(t, () => succeeded("done"));
  const { tools } = clientOf(meta({ baseUrl })).client;
  assert.equal((await tools["cart.add"]!({ sku: 1 })).text, "done");
  assert.equal((await tools.constructor!()).text, "done");
  assert.deepEqual(
    received.map(({ body }: any) => [body.action.tool_name, body.action.arguments_json]),
    [["cart.add", '{"sku":1}'], ["constructor", "{}"]],
  );
  assert.equal(await tools, tools); // it is not a promise
});

test("vectors: rejections", async (t) => {
  assert.ok(vectors.refusals.length > 2);
  for (const { name, response, outcome } of vectors.refusals) {
    const { baseUrl } = await callbacks(t, () => response);
    await assert.rejects(clientOf(meta({ baseUrl })).client.callTool("greet"), (error) => {
      assert.ok(error instanceof TrailblazeCallbackError, name);
      assert.equal(error.reason, outcome.error);
      assert.equal(error.message, `cannot call greet: ${outcome.error}`);
      return true;
    });
  }
});

test("other failures have a reason and a hint", async (t) => {
  for (const [answer, reason] of [
    [{ status: 401, body: "the token is not this session's" }, /^refused with status 401: "the token is not this session's"$/],
    [
      { status: 502, body: "<html>no route</html>" },
      /^refused with status 502: "<html>no route<\/html>"; the session may be over/,
    ],
    [
      { status: 200, body: "<html>sign in</html>" },
      /^the answer is of an unknown kind; this @trailblaze\/scripting speaks version 1.*: "<html>/,
    ],
    [{ result: { type: "call_tool_stream" } }, /^the answer is of an unknown kind; .* upgrade it if trailblaze is newer/],
    [{ result: { type: "call_tool_result", success: "yes" } }, /^the answer is of an unknown kind/],
    [[], /^the answer is of an unknown kind/],
  ] as const) {
    const { baseUrl } = await callbacks(t, () => answer);
    await assert.rejects(clientOf(meta({ baseUrl })).client.callTool("x"), (error: any) => {
      assert.ok(error instanceof TrailblazeCallbackError);
      assert.match(error.reason, reason);
      return true;
    });
  }
  await assert.rejects(
    clientOf(meta({ baseUrl: "http://127.0.0.1:9" })).client.callTool("x"),
    /cannot call x: .* does not answer \(.+\); the session/,
  );
  await assert.rejects(clientOf(meta()).client.callTool("x"), /no callback server/);
  await assert.rejects(TrailblazeClient.fromContext({}).callTool("x"), /not made by a trailblaze session/);
  await assert.rejects(TrailblazeClient.fromContext(undefined).callTool("x"), /not made by a trailblaze session/);
  await assert.rejects(
    clientOf(meta({ baseUrl: "http://127.0.0.1:9" })).client.callTool("x", { text: "é".repeat(1 << 19) }),
    /at most 1048576 are allowed/,
  );
});

test("a tool that fails without a reason has a default one", async (t) => {
  const { baseUrl } = await callbacks(t, () => ({ result: { type: "call_tool_result", success: false } }));
  await assert.rejects(clientOf(meta({ baseUrl })).client.callTool("x"), {
    name: "TrailblazeToolError",
    message: "x: failed without a reason",
  });
});

test("the message names the failed tool once", async (t) => {
  for (const [reason, message] of [
    ["payment refused", "pay: payment refused"],
    ["pay: argument amount is missing", "pay: argument amount is missing"],
    ['unknown tool "pay"; did you mean "play"?', 'unknown tool "pay"; did you mean "play"?'],
  ]) {
    const { baseUrl } = await callbacks(t, () => ({
      result: { type: "call_tool_result", success: false, error_message: reason },
    }));
    await assert.rejects(clientOf(meta({ baseUrl })).client.callTool("pay"), { message, reason, tool: "pay" });
  }
});

test("a call without a response ends at the limit, or when it is cancelled", async (t) => {
  const { baseUrl } = await callbacks(t, () => undefined);
  process.env.TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS = "50";
  t.after(() => delete process.env.TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS);
  await assert.rejects(
    clientOf(meta({ baseUrl })).client.callTool("x"),
    /no answer within 50 ms; it may or may not have run; callbackTimeout in/,
  );
  await assert.rejects(
    clientOf(meta({ baseUrl }), AbortSignal.abort()).client.callTool("x"),
    /the call that asked for it was cancelled/,
  );
});

test("json() prefers structured content, and its error quotes text that is not JSON", async (t) => {
  const { baseUrl } = await callbacks(t, ({ body }) =>
    body.action.tool_name === "both" ? succeeded('{"a":1}', { structured_content: { b: 2 } }) : succeeded("plain text"),
  );
  const { client } = clientOf(meta({ baseUrl }));
  const both = await client.callTool("both");
  assert.deepEqual([both.text, both.structured, both.json()], ['{"a":1}', { b: 2 }, { b: 2 }]);
  const plain = await client.callTool("plain");
  assert.equal(plain.structured, undefined);
  assert.throws(() => plain.json(), /plain did not answer with JSON but with "plain text"/);
});

test("a change of memory is sent once, again if it was lost, and takes precedence over the response", async (t) => {
  const answers: unknown[] = [
    { result: { type: "error", message: "no" } },
    succeeded("", { memory_delta: { plan: "basic", other: "x" }, memory_deletions: ["email"] }),
    succeeded(""),
  ];
  const { baseUrl, received } = await callbacks(t, () => answers.shift());
  const { ctx, client } = clientOf(meta({ baseUrl }));
  ctx.memory.set("plan", "pro");
  await assert.rejects(client.callTool("x"));
  const second = client.callTool("x");
  ctx.memory.set("plan", "max"); // while the callback is on its way
  await second;
  assert.deepEqual(Object.fromEntries(ctx.memory.entries()), { plan: "max", other: "x" });
  await client.callTool("x");
  assert.deepEqual(
    received.map(({ body }) => body.action.memory_delta),
    [{ plan: "pro" }, { plan: "pro" }, { plan: "max" }],
  );
  assert.equal(ctx.memory.changes().size, 0);
});

test("memory is like a Map whose values are text", () => {
  const { memory } = clientOf({ trailblaze: { sessionId: "s", memory: { email: "a@example.com", count: 2 } } }).ctx;
  memory
    .set("n", 1.5)
    .set("b", true)
    .set("o", { a: [1] })
    .set("t", "text");
  assert.deepEqual(
    [...memory.entries()],
    [
      ["email", "a@example.com"],
      ["count", 2],
      ["n", "1.5"],
      ["b", "true"],
      ["o", '{"a":[1]}'],
      ["t", "text"],
    ],
  );
  assert.deepEqual(
    [memory.delete("email"), memory.delete("email"), memory.has("email"), memory.get("email")],
    [true, false, false, undefined],
  );
  assert.deepEqual([...memory.keys()], ["count", "n", "b", "o", "t"]);
  for (const nothing of [undefined, null])
    assert.throws(() => memory.set("x", nothing), /memory.set\("x", (undefined|null)\): a value is required/);
});
