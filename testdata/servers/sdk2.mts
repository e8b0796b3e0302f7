// Tools on the SDK of protocol 2026-07-28: @modelcontextprotocol/server. LEGACY=reject makes it refuse the older handshake.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

serveStdio(
  () => {
    const server = new McpServer({ name: "sdk2", version: "1.0.0" });

    server.registerTool(
      "echo",
      { description: "answers what it was sent", inputSchema: z.looseObject({ text: z.string() }), _meta: { "trailblaze/toolset": "sdk" } },
      async ({ text, ...rest }, ctx) => ({
        content: [{ type: "text", text }],
        structuredContent: { context: rest._trailblazeContext, meta: ctx.mcpReq._meta },
      }),
    );

    server.registerTool("fail", { description: "says no" }, async () => ({
      content: [{ type: "text", text: "no, on purpose" }],
      isError: true,
    }));

    server.registerTool("crawl", { description: "reports progress before it answers" }, async (ctx) => {
      for (let step = 1; step <= 3; step++) {
        await ctx.mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken: ctx.mcpReq._meta!.progressToken!, progress: step, total: 3, message: `step ${step}` },
        });
      }
      return { content: [{ type: "text", text: "done" }] };
    });
    return server;
  },
  { legacy: process.env.LEGACY === "reject" ? "reject" : "serve" },
);
