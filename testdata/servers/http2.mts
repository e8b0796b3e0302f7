// Tools behind a URL, on the SDK of protocol 2026-07-28. LEGACY=reject makes it refuse the older handshake. It runs on bun.
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

declare const Bun: { serve(options: { port: number; hostname: string; idleTimeout: number; fetch(request: Request): Promise<Response> }): { port: number } };

const handler = createMcpHandler(
  () => {
    const server = new McpServer({ name: "http2", version: "1.0.0" });
    const text = (text: string) => ({ content: [{ type: "text" as const, text }] });
    server.registerTool("echo", { inputSchema: z.looseObject({ text: z.string() }) }, async ({ text, ...rest }, ctx) => ({
      content: [{ type: "text", text }],
      structuredContent: { context: rest._trailblazeContext, meta: ctx.mcpReq._meta, headers: Object.fromEntries(ctx.http!.req!.headers) },
    }));
    server.registerTool("fail", {}, async () => ({ ...text("no, on purpose"), isError: true }));
    server.registerTool("crawl", {}, async (ctx) => {
      for (let step = 1; step <= 3; step++) {
        await ctx.mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken: ctx.mcpReq._meta!.progressToken!, progress: step, total: 3, message: `step ${step}` },
        });
      }
      return text("done");
    });
    server.registerTool("remember", {}, async () => ({ ...text("kept"), _meta: { trailblaze: { memoryDelta: { code: "4711" } } } }));
    server.registerTool("big", { inputSchema: z.looseObject({ size: z.number() }) }, async ({ size }) => text("x".repeat(size)));
    server.registerTool("hang", {}, async (ctx) => {
      await new Promise<void>((resolve) => ctx.mcpReq.signal.addEventListener("abort", () => resolve()));
      console.log("cancelled");
      return text("cancelled");
    });
    server.registerTool("die", {}, async () => process.exit(3));
    return server;
  },
  { legacy: process.env.LEGACY === "reject" ? "reject" : "stateless" },
);

const { port } = Bun.serve({ port: Number(process.env.PORT ?? 0), hostname: "127.0.0.1", idleTimeout: 0, fetch: (request) => handler.fetch(request) });
console.log(`listening on ${port}`);
