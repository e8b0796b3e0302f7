// Tools that have other tools work for them, without any SDK: they say which calls are to be made in their place, or ask for them
// while they run. What they do is in their arguments.
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const text = (text) => ({ content: [{ type: "text", text }] });
const leaving = (delta) => ({ _meta: { trailblaze: { memoryDelta: delta } } });

// delegates puts a list of calls into an answer, in its structured content, its text, or both.
function delegates({ to, where = "structured", remember = {} }) {
  const list = { _trailblaze_delegates: to };
  const answer = { ...text(where === "structured" ? `these ${to.length}` : JSON.stringify(list)), ...leaving(remember) };
  return where === "text" ? answer : { ...answer, structuredContent: list };
}

async function ask({ tool, args = {} }, { baseUrl, sessionId, invocationId }) {
  const action = { type: "call_tool", tool_name: tool, arguments_json: JSON.stringify(args) };
  const response = await fetch(`${baseUrl}/scripting/callback`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${process.env.TRAILBLAZE_SESSION_TOKEN}` },
    body: JSON.stringify({ version: 1, session_id: sessionId, invocation_id: invocationId, action }),
  });
  const { result } = await response.json();
  if (!result.success) throw new Error(result.error_message ?? result.message);
  return text(result.text_content);
}

// failFirst fails in the first process that is asked, and answers in every later one.
function failFirst() {
  if (existsSync("asked")) return text("now");
  writeFileSync("asked", "");
  throw new Error("not yet");
}

function hang() {
  writeFileSync("reached-call", "");
  return new Promise(() => {});
}

const list = { type: "array", items: { type: "object" } };
const delegation = { to: list, where: { enum: ["structured", "text", "both"] }, remember: { type: "object" } };
const flags = (meta) => Object.fromEntries(Object.entries(meta).map(([name, value]) => [`trailblaze/${name}`, value]));

// name: [properties, required, _meta, what it does]
const tools = {
  echo: [{ text: { type: "string" } }, [], {}, ({ text: said = "" }) => text(said)],
  take: [{ value: {} }, [], {}, ({ value }) => text(JSON.stringify(value))],
  typed: [
    {
      name: { type: "string" }, count: { type: "integer" }, ratio: { type: "number" }, on: { type: "boolean" }, list: { type: "array" },
      map: { type: "object" }, kind: { enum: ["one", "two"] }, level: { enum: [1, 2] }, either: { type: ["string", "number"] }, some: { type: ["array", "string"] }, any: {},
    }, [], {},
    (args) => ({ ...text(JSON.stringify(args)), structuredContent: args }),
  ],
  needs: [{ sku: { type: "string" }, count: { type: "integer" } }, ["sku", "count"], {}, () => text("")],
  quiet: [{}, [], {}, () => ({ content: [], structuredContent: { said: "nothing" } })],
  remember: [{ name: { type: "string" }, value: { type: "string" } }, [], {}, ({ name, value }) => ({ ...text("kept"), ...leaving({ [name]: value }) })],
  unrecorded: [{ text: { type: "string" } }, [], { isRecordable: false }, ({ text: said = "" }) => text(said)],
  delegate: [delegation, ["to"], { isDelegating: true }, delegates],
  sometimes: [delegation, ["to"], {}, delegates],
  silent: [{}, [], { isDelegating: true }, () => text("nothing to delegate")],
  deeper: [{ levels: { type: "integer" } }, ["levels"], { isDelegating: true }, ({ levels }) =>
    delegates({ to: levels > 1 ? [{ tool: "deeper", args: { levels: levels - 1 } }] : [{ tool: "echo", args: { text: "the bottom" } }] })],
  ask: [{ tool: { type: "string" }, args: { type: "object" } }, ["tool"], {}, ask],
  askAndDelegate: [{ question: { type: "object" }, to: list }, ["question", "to"], { isDelegating: true }, async ({ question, to }, session) =>
    (await ask(question, session), delegates({ to }))],
  tell: [{}, [], {}, (_, { invocationId }) => text(invocationId)],
  fail: [{ text: { type: "string" } }, [], {}, ({ text: why = "no, on purpose" }) => { throw new Error(why); }],
  fatal: [{}, [], {}, () => ({ ...text("the farm burns"), isError: true, _meta: { trailblaze: { variant: "FatalError" } } })],
  failFirst: [{}, [], {}, failFirst],
  crash: [{}, [], {}, () => process.exit(3)],
  hang: [{}, [], {}, hang],
};
if (process.env.ALSO) tools[process.env.ALSO] = tools.echo; // a name that somebody else has

const methods = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "delegate", version: "1" } }),
  "tools/list": () => ({
    tools: Object.entries(tools).map(([name, [properties, required, meta]]) => ({
      name, description: `the tool ${name}`, inputSchema: { type: "object", properties, required, additionalProperties: false }, _meta: flags(meta),
    })),
  }),
  "tools/call": async ({ name, arguments: args, _meta }) => {
    if (process.env.CALLS) appendFileSync(`${process.env.CALLS}/${process.env.TRAILBLAZE_SESSION_ID}`, JSON.stringify([name, args]) + "\n");
    try {
      return await tools[name][3](args, _meta.trailblaze);
    } catch (error) {
      return { ...text(error.message), isError: true };
    }
  },
};

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method in methods) send({ id, result: await methods[method](params) });
  else send({ id, error: { code: -32601, message: `unknown method ${method}` } });
}).on("close", () => process.exit(0));
