// Tools without any SDK: lines in, lines out.
import { createInterface } from "node:readline";

const schema = { type: "object", properties: { text: { type: "string" } } };
const tools = [
  { name: "echo", description: "answers what it was sent", inputSchema: schema, _meta: { "trailblaze/toolset": "sdk" } },
  { name: "fail", description: "says no", inputSchema: { type: "object" } },
  { name: "crawl", description: "reports progress before it answers", inputSchema: { type: "object" } },
];
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");

const calls = {
  echo: ({ arguments: { text, _trailblazeContext }, _meta }) => ({
    content: [{ type: "text", text }],
    structuredContent: { context: _trailblazeContext, meta: _meta },
  }),
  fail: () => ({ content: [{ type: "text", text: "no, on purpose" }], isError: true }),
  crawl: ({ _meta: { progressToken } }) => {
    for (let step = 1; step <= 3; step++) {
      send({ method: "notifications/progress", params: { progressToken, progress: step, total: 3, message: `step ${step}` } });
    }
    return { content: [{ type: "text", text: "done" }] };
  },
};

const methods = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "hand", version: "1" } }),
  "tools/list": () => ({ tools }),
  "tools/call": (params) => calls[params.name](params),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  if (method in methods) send({ id, result: methods[method](params) });
  else send({ id, error: { code: -32601, message: `unknown method ${method}` } });
}
