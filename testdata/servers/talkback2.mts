// The same on the SDK of protocol 2026-07-28.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { TrailblazeClient } from "../../sdks/typescript/src/index.js";

serveStdio(() => {
  const server = new McpServer({ name: "talkback2", version: "1.0.0" });
  server.registerTool("relay", { inputSchema: z.object({ tool: z.string() }) }, async ({ tool }, ctx) => {
    const { text } = await TrailblazeClient.fromContext(ctx).callTool(tool, {});
    return { content: [{ type: "text", text }] };
  });
  return server;
});
