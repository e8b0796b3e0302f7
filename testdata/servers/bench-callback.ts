// The server that the benchmark of callbacks starts: the official SDK, and tools that ask for a built-in. BENCH_SUFFIX tells
// copies apart.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";
import { TrailblazeClient } from "../../sdks/typescript/src/index.js";

const suffix = process.env.BENCH_SUFFIX ?? "";
const server = new McpServer({ name: `callback${suffix}`, version: "1.0.0" });
const args = { expected: "hello", actual: "hello" };
const headers = { "content-type": "application/json", authorization: `Bearer ${process.env.TRAILBLAZE_SESSION_TOKEN}` };
const said = (text: string) => ({ content: [{ type: "text" as const, text }] });

function question(meta: any, tool: string, args: object) {
  const { sessionId, invocationId } = meta.trailblaze;
  const action = { type: "call_tool", tool_name: tool, arguments_json: JSON.stringify(args) };
  return JSON.stringify({ version: 1, session_id: sessionId, invocation_id: invocationId, action });
}

async function post(url: string, body: string) {
  const response = await fetch(url, { method: "POST", headers, body });
  const answer = await response.text();
  if (response.status !== 200 || JSON.parse(answer).result.success !== true) throw new Error(`${response.status} ${answer}`);
}

const callback = process.env.TRAILBLAZE_CALLBACK_URL!;

// alternate returns the medians of two ways to ask, in nanoseconds, of the second half: the first one warms up the runtime.
async function alternate(rounds: number, ...ways: (() => Promise<unknown>)[]) {
  const took: number[][] = ways.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, ask] of ways.entries()) {
      const begun = process.hrtime.bigint();
      await ask();
      if (round >= rounds / 2) took[i].push(Number(process.hrtime.bigint() - begun));
    }
  }
  return took.map((times) => times.sort((a, b) => a - b)[times.length >> 1]);
}

// compare holds a callback against the same bytes posted to url; once by hand, and once through our client.
server.registerTool(`compare${suffix}`, { inputSchema: { url: z.string(), rounds: z.number() } }, async ({ url, rounds }, extra) => {
  const body = question(extra._meta, "assertEquals", args);
  const client = TrailblazeClient.fromContext(extra);
  const bare = () => post(url, body);
  const plain = await alternate(rounds, () => post(callback, body), bare);
  return said(JSON.stringify({ plain, client: await alternate(rounds, () => client.callTool("assertEquals", args), bare) }));
});

// ask makes so many callbacks, one after the other.
server.registerTool(`ask${suffix}`, { inputSchema: { callbacks: z.number() } }, async ({ callbacks }, { _meta }) => {
  const body = question(_meta, "assertEquals", args);
  for (let i = 0; i < callbacks; i++) await post(callback, body);
  return said("done");
});

// crowd has several tools ask at once.
server.registerTool(`crowd${suffix}`, { inputSchema: { tools: z.array(z.string()), callbacks: z.number() } }, async ({ tools, callbacks }, { _meta }) => {
  await Promise.all(tools.map((tool) => post(callback, question(_meta, tool, { callbacks }))));
  return said("done");
});

await server.connect(new StdioServerTransport());
