// Tools on the SDK that today's toolsets use: @modelcontextprotocol/sdk.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "sdk1", version: "1.0.0" });

server.registerTool(
  "echo",
  { description: "answers what it was sent", inputSchema: z.looseObject({ text: z.string() }), _meta: { "trailblaze/toolset": "sdk" } },
  async ({ text, ...rest }, extra) => ({
    content: [{ type: "text", text }],
    structuredContent: { context: rest._trailblazeContext, meta: extra._meta },
  }),
);

server.registerTool("fail", { description: "says no" }, async () => ({
  content: [{ type: "text", text: "no, on purpose" }],
  isError: true,
}));

server.registerTool("crawl", { description: "reports progress before it answers" }, async (extra) => {
  for (let step = 1; step <= 3; step++) {
    await extra.sendNotification({
      method: "notifications/progress",
      params: { progressToken: extra._meta!.progressToken!, progress: step, total: 3, message: `step ${step}` },
    });
  }
  return { content: [{ type: "text", text: "done" }] };
});

await server.connect(new StdioServerTransport());
