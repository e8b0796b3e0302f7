// The same as same1.ts on @modelcontextprotocol/server. LEGACY=reject makes it refuse the older handshake.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { TrailblazeClient } from "../../sdks/typescript/src/index.js";
import { big, fail, hang, relay } from "./same-work.mjs";

const text = (text: string) => ({ content: [{ type: "text" as const, text }] });

function build(): McpServer {
  const server = new McpServer({ name: "same2", version: "1.0.0" });
  server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, async (args) => text(args.text));
  server.registerTool("relay", { inputSchema: z.object({ tool: z.string(), times: z.number() }) }, async (args, ctx) =>
    text(JSON.stringify(await relay(TrailblazeClient.fromContext(ctx), args))));
  server.registerTool("remember", { inputSchema: z.object({ value: z.string() }) }, async ({ value }) => ({
    ...text("kept"), _meta: { trailblaze: { memoryDelta: { kept: value }, memoryDeletions: ["gone"] } },
  }));
  server.registerTool("hand", { inputSchema: z.object({ to: z.array(z.string()) }), _meta: { "trailblaze/isDelegating": true } }, async ({ to }) => ({
    ...text("handed on"), structuredContent: { _trailblaze_delegates: to.map((text) => ({ tool: "echo", args: { text } })) },
  }));
  server.registerTool(
    "structured",
    { inputSchema: z.object({ n: z.number() }), outputSchema: z.object({ n: z.number(), list: z.array(z.number()) }) },
    async ({ n }) => ({ content: [], structuredContent: { n, list: [1, n, -0.5, 1e21] } }),
  );
  server.registerTool("big", { inputSchema: z.object({ size: z.int() }) }, async (args) => text(big(args)));
  server.registerTool("fail", { inputSchema: z.object({ how: z.string() }) }, async (args) => text(String(await fail(args))));
  server.registerTool("crawl", {}, async (ctx) => {
    for (let step = 1; step <= 3; step++) {
      await ctx.mcpReq.notify({
        method: "notifications/progress",
        params: { progressToken: ctx.mcpReq._meta!.progressToken!, progress: step, total: 3, message: `step ${step}` },
      });
    }
    return text("done");
  });
  server.registerTool("hang", {}, async (ctx) => {
    await hang(ctx.mcpReq.signal, "cancelled");
    return text("nobody reads this");
  });
  return server;
}

serveStdio(build, { legacy: process.env.LEGACY === "reject" ? "reject" : "serve" });
