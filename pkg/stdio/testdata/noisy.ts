// A tool server whose author debugs with console.log.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

console.log("loading");
process.stdout.write("no newline: ");

const server = new McpServer({ name: "noisy", version: "1" });
const size: number = Number(process.env.ANSWER_SIZE ?? "2");
server.registerTool("talk", { description: "talks", inputSchema: { text: z.string() } }, async ({ text }) => {
  console.log("called with", { text });
  console.error("stderr is fine");
  return { content: [{ type: "text", text: text.repeat(size) }] };
});
if (process.env.KEEP_ALIVE) {
  setInterval(() => {}, 1000);
}
await server.connect(new StdioServerTransport());
