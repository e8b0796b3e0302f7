// Tools behind a URL, on the SDK that today's toolsets use. MODE says how: stateful, stateless, json (stateless, answers that are
// no streams), resumable (closes its streams and goes on when asked) or sse (the transport of 2024-11-05). PORT 0 takes any.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport, type EventStore } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { z } from "zod";
import { TrailblazeClient } from "../../sdks/typescript/src/index.js";

const mode = process.env.MODE ?? "stateful";

function tools() {
  const server = new McpServer({ name: "http1", version: "1.0.0" });
  const text = (text: string) => ({ content: [{ type: "text" as const, text }] });
  server.registerTool("echo", { inputSchema: z.looseObject({ text: z.string() }) }, async ({ text, ...rest }, extra) => ({
    content: [{ type: "text", text }],
    structuredContent: { context: rest._trailblazeContext, meta: extra._meta, headers: extra.requestInfo?.headers },
  }));
  server.registerTool("fail", {}, async () => ({ ...text("no, on purpose"), isError: true }));
  server.registerTool("crawl", {}, async (extra) => {
    for (let step = 1; step <= 3; step++) {
      await extra.sendNotification({
        method: "notifications/progress",
        params: { progressToken: extra._meta!.progressToken!, progress: step, total: 3, message: `step ${step}` },
      });
    }
    return text("done");
  });
  server.registerTool("remember", {}, async () => ({ ...text("kept"), _meta: { trailblaze: { memoryDelta: { code: "4711" } } } }));
  server.registerTool("big", { inputSchema: z.looseObject({ size: z.number() }) }, async ({ size }) => text("x".repeat(size)));
  server.registerTool("hang", {}, async (extra) => {
    await new Promise<void>((resolve) => extra.signal.addEventListener("abort", () => resolve()));
    console.log("cancelled");
    return text("cancelled");
  });
  server.registerTool("relay", { inputSchema: { tool: z.string() } }, async ({ tool }, extra) =>
    text((await TrailblazeClient.fromContext(extra).callTool(tool, { text: "called back" })).text));
  server.registerTool("die", {}, async () => process.exit(3));
  server.registerTool("pause", {}, async (extra) => {
    extra.closeSSEStream!();
    return text("gone on");
  });
  return server;
}

// The events of all streams, to go on from any of them.
const events: { stream: string; message: any }[] = [];
const eventStore: EventStore = {
  async storeEvent(stream, message) {
    return String(events.push({ stream, message }));
  },
  async replayEventsAfter(last, { send }) {
    const { stream } = events[Number(last) - 1];
    for (let i = Number(last); i < events.length; i++) {
      if (events[i].stream === stream && events[i].message.jsonrpc) await send(String(i + 1), events[i].message);
    }
    return stream;
  },
};

const sessions = new Map<string, StreamableHTTPServerTransport>();
const streams = new Map<string, SSEServerTransport>();

async function streamable(req: IncomingMessage, res: ServerResponse) {
  const known = sessions.get(String(req.headers["mcp-session-id"]));
  if (known) return known.handleRequest(req, res);
  if (req.headers["mcp-session-id"]) return refuse(res, 404, "Session not found");
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: mode === "stateful" || mode === "resumable" ? randomUUID : undefined,
    enableJsonResponse: mode === "json",
    eventStore: mode === "resumable" ? eventStore : undefined,
    retryInterval: 50,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  transport.onclose = () => {
    if (transport.sessionId) console.log("closed");
    sessions.delete(transport.sessionId!);
  };
  await tools().connect(transport);
  await transport.handleRequest(req, res);
}

async function legacy(req: IncomingMessage, res: ServerResponse) {
  const url = new URL(req.url!, "http://localhost");
  if (req.method === "GET" && url.pathname === "/sse") {
    const transport = new SSEServerTransport("/messages", res);
    streams.set(transport.sessionId, transport);
    transport.onclose = () => console.log("closed");
    return tools().connect(transport);
  }
  const transport = streams.get(url.searchParams.get("sessionId") ?? "");
  if (req.method === "POST" && url.pathname === "/messages" && transport) return transport.handlePostMessage(req, res);
  res.writeHead(404, { "Content-Type": "text/html" }).end(`<!DOCTYPE html><html><head><title>Error</title></head><body>Cannot ${req.method}</body></html>`);
}

function refuse(res: ServerResponse, status: number, message: string) {
  res.writeHead(status, { "Content-Type": "application/json" });
  res.end(JSON.stringify({ jsonrpc: "2.0", error: { code: -32001, message }, id: null }));
}

const server = createServer((req, res) => {
  (mode === "sse" ? legacy(req, res) : streamable(req, res)).catch((error) => console.error(error));
});
server.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () =>
  process.stdout.write(`listening on ${(server.address() as { port: number }).port}\n`)); // console is redirected by our SDK
