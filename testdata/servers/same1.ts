// Every kind of answer, on today's SDK. The other files of this name are the same on other SDKs.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";
import { TrailblazeClient } from "../../sdks/typescript/src/index.js";
import { big, fail, hang, relay } from "./same-work.mjs";

const server = new McpServer({ name: "same1", version: "1.0.0" });
const text = (text: string) => ({ content: [{ type: "text" as const, text }] });

server.registerTool("echo", { inputSchema: { text: z.string() } }, async (args) => text(args.text));
server.registerTool("relay", { inputSchema: { tool: z.string(), times: z.number() } }, async (args, extra) =>
  text(JSON.stringify(await relay(TrailblazeClient.fromContext(extra), args))));
server.registerTool("remember", { inputSchema: { value: z.string() } }, async ({ value }) => ({
  ...text("kept"), _meta: { trailblaze: { memoryDelta: { kept: value }, memoryDeletions: ["gone"] } },
}));
server.registerTool("hand", { inputSchema: { to: z.array(z.string()) }, _meta: { "trailblaze/isDelegating": true } }, async ({ to }) => ({
  ...text("handed on"), structuredContent: { _trailblaze_delegates: to.map((text) => ({ tool: "echo", args: { text } })) },
}));
server.registerTool(
  "structured",
  { inputSchema: { n: z.number() }, outputSchema: { n: z.number(), list: z.array(z.number()) } },
  async ({ n }) => ({ content: [], structuredContent: { n, list: [1, n, -0.5, 1e21] } }),
);
server.registerTool("big", { inputSchema: { size: z.int() } }, async (args) => text(big(args)));
server.registerTool("fail", { inputSchema: { how: z.string() } }, async (args) => text(String(await fail(args))));
server.registerTool("crawl", {}, async (extra) => {
  for (let step = 1; step <= 3; step++) {
    await extra.sendNotification({
      method: "notifications/progress",
      params: { progressToken: extra._meta!.progressToken!, progress: step, total: 3, message: `step ${step}` },
    });
  }
  return text("done");
});
server.registerTool("hang", {}, async (extra) => {
  await hang(extra.signal, "cancelled");
  return text("nobody reads this");
});

process.stdin.once("end", () => process.exit(0));
await server.connect(new StdioServerTransport());
