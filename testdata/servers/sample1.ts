// Tools that ask the model of their client, on the SDK that today's toolsets use. With PORT they are behind a URL.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CreateMessageResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { z } from "zod";

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function tools() {
  const server = new McpServer({ name: "sample1", version: "1.0.0" });
  const input = { question: z.string(), times: z.number().optional(), picture: z.boolean().optional(), tools: z.boolean().optional(), maxTokens: z.number().optional() };
  server.registerTool("ask", { description: "asks the model", inputSchema: z.looseObject(input) }, async (args, extra) => {
    const content = args.picture ? { type: "image", data: pixel, mimeType: "image/png" } : { type: "text", text: args.question };
    const params: any = {
      systemPrompt: "You name a colour.", maxTokens: args.maxTokens ?? 9000,
      messages: [{ role: "user", content: { type: "text", text: "Of a mug" } }, { role: "user", content }],
    };
    if (args.tools) params.tools = [{ name: "t", inputSchema: { type: "object" } }];
    const answers: string[] = [];
    for (let i = 0; i < (args.times ?? 1); i++) {
      try {
        const r: any = await extra.sendRequest({ method: "sampling/createMessage", params }, CreateMessageResultSchema);
        answers.push(`${r.model} ${r.role} ${r.stopReason}: ${r.content.text}`);
      } catch (e: any) {
        answers.push(`${e.code}: ${e.message}`);
      }
    }
    const told = (extra._meta as any)?.trailblaze?.capabilities?.sampling === true;
    return { content: [{ type: "text", text: `${answers.join("\n")}\ncapability ${!!server.server.getClientCapabilities()?.sampling}, told ${told}` }] };
  });
  server.registerTool("createMessage", { description: "asks by the method of the SDK" }, async () => {
    const r: any = await server.server.createMessage({ maxTokens: 5, messages: [{ role: "user", content: { type: "text", text: "Which colour?" } }] });
    return { content: [{ type: "text", text: r.content.text }] };
  });
  return server;
}

if (process.env.PORT === undefined) {
  await tools().connect(new StdioServerTransport());
} else {
  const open = new Map<string, StreamableHTTPServerTransport>();
  const http = createServer(async (req, res) => {
    let transport = open.get(String(req.headers["mcp-session-id"]));
    if (!transport) {
      const created: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID, onsessioninitialized: (id) => void open.set(id, created),
      });
      transport = created;
      await tools().connect(transport);
    }
    await transport.handleRequest(req, res);
  });
  http.listen(Number(process.env.PORT), "127.0.0.1", () => console.log(`listening on ${(http.address() as any).port}`));
}
