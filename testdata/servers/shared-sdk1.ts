// A server on version 1 of the SDK that parses --transport http --port N by hand.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";
import { TrailblazeClient } from "../../sdks/typescript/src/index.js";
import { gather, meet } from "./shared-tools.mjs";

const text = (text: string) => ({ content: [{ type: "text" as const, text }] });
const sessionOf = (extra: any): string => extra._meta.trailblaze.sessionId;
const meeting = { at: z.string().optional(), of: z.number() };

/** Returns a server for one session, because a server is connected to one client. */
function makeServer(): McpServer {
  const server = new McpServer({ name: "shared-sdk1", version: "1.0.0" });
  server.registerTool("meet", { inputSchema: meeting }, async (args, extra) => text(await meet(sessionOf(extra), args)));
  server.registerTool("say", { inputSchema: { text: z.string() } }, async (args, extra) => text(`${sessionOf(extra)} ${args.text}`));
  server.registerTool("gather", { inputSchema: { n: z.number() } }, async (args, extra) =>
    text(await gather(sessionOf(extra), TrailblazeClient.fromContext(extra), args)),
  );
  server.registerTool("crash", { inputSchema: meeting }, async (args, extra) => {
    await meet(sessionOf(extra), args);
    console.error("this is the end");
    process.exit(3);
  });
  return server;
}

/** Serves every client with its own server. The session id, which the transport creates, identifies the client. */
function serveHttp(port: number) {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  createServer(async (request, response) => {
    const id = request.headers["mcp-session-id"] as string | undefined;
    let transport = id === undefined ? undefined : transports.get(id);
    if (id !== undefined && !transport) return void response.writeHead(404).end();
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void transports.set(id, transport!),
        onsessionclosed: (id) => void transports.delete(id),
      });
      await makeServer().connect(transport);
    }
    await transport.handleRequest(request, response);
  }).listen(port, "127.0.0.1", () => console.log(`listening at port ${port}`));
}

process.stdin.resume().once("end", () => process.exit(0));
const flag = (name: string) => process.argv[process.argv.indexOf(name) + 1];
if (process.argv.includes("--transport") && flag("--transport") === "http") serveHttp(Number(flag("--port")));
else await makeServer().connect(new StdioServerTransport());
