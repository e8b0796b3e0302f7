// A server that crashes in every third call of each of its processes, and with ROLE=patient one whose tool calls it until that fails
// for good, whatever happens on the way. DIARY is a file that tells of every call.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { appendFileSync } from "node:fs";
import { z } from "zod";
import { TrailblazeClient } from "../../sdks/typescript/src/index.js";

const server = new McpServer({ name: "crash3", version: "1.0.0" });
let calls = 0;

if (process.env.ROLE === "patient") {
  server.registerTool("insist", { inputSchema: { times: z.number() } }, async ({ times }, extra) => {
    const said: string[] = [];
    for (let n = 1; n <= times; n++) {
      said.push(await TrailblazeClient.fromContext(extra).callTool("count", { n }).then(({ text }) => text, () => "lost"));
    }
    return { content: [{ type: "text", text: said.join(" ") }] };
  });
} else {
  server.registerTool("count", { inputSchema: { n: z.number() } }, async ({ n }) => {
    appendFileSync(process.env.DIARY!, `${n} `);
    calls++;
    if (calls === 3) process.exit(3);
    return { content: [{ type: "text", text: String(n) }] };
  });
}

process.stdin.once("end", () => process.exit(0));
await server.connect(new StdioServerTransport());
