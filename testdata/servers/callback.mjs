// Tools that call tools, without an SDK and without a client library: lines in, lines out, and fetch. PREFIX stands before the
// name of every tool, PEER is the prefix of another such server. The files that tools write and wait for lie in the working
// directory.
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const { PREFIX = "", PEER = "", TRAILBLAZE_SESSION_TOKEN, TRAILBLAZE_BASE_URL, TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS } = process.env;
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const text = (text, more) => ({ content: [{ type: "text", text }], ...more });

async function post(path, body, token) {
  const response = await fetch(TRAILBLAZE_BASE_URL + path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(Number(TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS)),
  });
  const answer = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${answer}`);
  return JSON.parse(answer);
}

// ask makes a callback for the call that meta belongs to; more goes into its action.
async function ask({ trailblaze: { sessionId, invocationId } }, tool, args = {}, more = {}, token = TRAILBLAZE_SESSION_TOKEN) {
  const action = { type: "call_tool", tool_name: tool, arguments_json: JSON.stringify(args), ...more };
  return (await post("/scripting/callback", { version: 1, session_id: sessionId, invocation_id: invocationId, action }, token)).result;
}

// must is the text of a callback that has to succeed.
async function must(...question) {
  const { success, text_content, error_message, message } = await ask(...question);
  if (!success) throw new Error(error_message ?? message);
  return text_content;
}

async function expect(want, ...question) {
  const got = await must(...question);
  if (got !== want) throw new Error(`asked for ${want}, got ${got}`);
}

async function appears(file) {
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 5));
}

// write lets nobody see half a file.
function write(file, content) {
  writeFileSync(`${file}.part`, content);
  renameSync(`${file}.part`, file);
}

const look = (file, args, meta) => write(`${file}.json`, JSON.stringify({ arguments: args, meta, env: process.env }));

let touched = 0;
let running = 0; // calls of alone
let kept; // the _meta of a call that has returned

const tools = {
  // calling
  echo: ({ key }) => text(key),
  relay: async ({ tool, args, more, bare }, meta) => text(await must(meta, tool, args, more, bare ? "" : undefined)),
  tolerate: async ({ tool, args }, meta) => text(JSON.stringify(await ask(meta, tool, args))),
  short: async ({ tool, args }) =>
    text(JSON.stringify(await post("/scripting/primitives/ExecuteTool", { tool_name: tool, params_json: JSON.stringify(args) }, TRAILBLAZE_SESSION_TOKEN))),
  down: async ({ left }, meta) => text(left === 0 ? "bottom" : await must(meta, `${PEER}down`, { left: left - 1 })),
  // All of these answer with their key.
  fan: async ({ key, n, tool, args }, meta) => {
    const branch = (i) => expect(`${key}.${i}`, meta, tool, { ...args, key: `${key}.${i}` });
    await Promise.all(Array.from({ length: n }, (_, i) => branch(i)));
    return text(key);
  },
  spin: async ({ key }, meta) => {
    await expect(key, meta, `${PEER}echo`, { key });
    return text(key);
  },
  // what they are given, and what they leave
  look: ({ file, ...args }, meta) => {
    look(file, args, meta);
    return text("seen");
  },
  remember: ({ name, value, forget }) =>
    text("", { _meta: { trailblaze: { memoryDelta: name && { [name]: value }, memoryDeletions: forget && [forget] } } }),
  late: (_, meta) => {
    kept = meta;
    return text("too early");
  },
  replay: async () => text(JSON.stringify(await ask(kept, `${PREFIX}touch`))),
  // gate waits until it is let through, and says how often touch was called until then.
  gate: async ({ file, ...args }, meta) => {
    look(file, args, meta);
    await appears(`${file}.go`);
    return text(`touched ${touched}`);
  },
  touch: () => text(`answer ${++touched}`),
  // alone fails if another call of it runs at the same time.
  alone: async ({ key }) => {
    if (running++ > 0) throw new Error("another call runs");
    await new Promise((resolve) => setTimeout(resolve, 5));
    running--;
    return text(key);
  },
  // going wrong
  crash: () => process.exit(3),
  hang: () => {
    write("reached-hang", "");
    return new Promise(() => {});
  },
  dieAsking: (_, meta) => {
    ask(meta, `${PEER}hang`).catch(() => {});
    return appears("reached-hang").then(() => process.kill(process.pid, "SIGKILL"));
  },
  noisy: async ({ fail }, meta) => {
    const { invocationId } = meta.trailblaze;
    const both = `${invocationId} ${TRAILBLAZE_SESSION_TOKEN}`;
    for (let i = 0; i < both.length; i += 3) process.stderr.write(both.slice(i, i + 3));
    process.stdout.write(`${both}\n`);
    send({ method: "notifications/progress", params: { progressToken: meta.progressToken, progress: 1, message: `at ${both}` } });
    await ask(meta, `${PEER}echo`, { key: both });
    if (fail) await must(meta, invocationId);
    const delegates = [{ tool: `${PEER}echo`, args: { key: both } }];
    return text(JSON.stringify({ _trailblaze_delegates: delegates }), { _meta: { trailblaze: { memoryDelta: { found: both } } } });
  },
};

const methods = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: PREFIX, version: "1" } }),
  "tools/list": () => ({ tools: Object.keys(tools).map((name) => ({ name: PREFIX + name, inputSchema: { type: "object" } })) }),
  "tools/call": ({ name, arguments: args, _meta }) => tools[name.slice(PREFIX.length)](args, _meta),
};

// Calls overlap: one that waits for a callback keeps nobody else waiting.
async function answer({ id, method, params }) {
  try {
    send({ id, result: await methods[method](params) });
  } catch (error) {
    send({ id, result: text(String(error.cause ?? error), { isError: true }) });
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.id !== undefined) answer(message);
}
if (kept) {
  const outcome = await ask(kept, `${PREFIX}touch`).catch((error) => ({ thrown: String(error) }));
  write("late.json", JSON.stringify({ outcome, touched }));
}
process.exit(0);
