// The server that the benchmark starts: the official SDK, one tool.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "echo", version: "1.0.0" });
const name = `echo${process.env.BENCH_SUFFIX ?? ""}`; // BENCH_SUFFIX tells copies apart
server.registerTool(name, { description: "Echoes.", inputSchema: { text: z.string() } }, async ({ text }) => ({
  content: [{ type: "text", text }],
}));
await server.connect(new StdioServerTransport());
