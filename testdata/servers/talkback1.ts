// A server on today's SDK whose tool calls another tool of the session.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";
import { TrailblazeClient } from "../../sdks/typescript/src/index.js";

const server = new McpServer({ name: "talkback1", version: "1.0.0" });

server.registerTool("relay", { inputSchema: { tool: z.string() } }, async ({ tool }, extra) => {
  const { text } = await TrailblazeClient.fromContext(extra).callTool(tool, {});
  return { content: [{ type: "text", text }] };
});

process.stdin.once("end", () => process.exit(0));
await server.connect(new StdioServerTransport());
