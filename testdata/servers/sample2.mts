// A tool that asks the model of its client, on the SDK of protocol 2026-07-28, in the older protocol that has such requests.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

serveStdio(() => {
  const server = new McpServer({ name: "sample2", version: "1.0.0" });
  server.registerTool("ask", { description: "asks the model" }, async (ctx) => {
    const r: any = await ctx.mcpReq.requestSampling({ maxTokens: 5, messages: [{ role: "user", content: { type: "text", text: "Which colour?" } }] });
    return { content: [{ type: "text", text: r.content.text }] };
  });
  return server;
});
