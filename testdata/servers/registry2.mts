// The same as registry1.ts on @modelcontextprotocol/server. LEGACY=reject makes it refuse the older handshake.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const text = (text: string) => ({ content: [{ type: "text" as const, text }] });

function build(): McpServer {
  const server = new McpServer({ name: "registry2", version: "1.0.0" });
  const registry: { tools: Record<string, object>; groups: Record<string, object> } = {
    tools: { echo: { platforms: ["android", "web"], groups: ["sdk"], isRecordable: false } },
    groups: { sdk: { description: "Of an SDK", defaultEnabled: false } },
  };
  const uri = process.env.REGISTRY === "elsewhere" ? "trailblaze://other" : "trailblaze://registry";
  server.registerResource("registry", uri, { mimeType: "application/json" }, async () => ({
    contents: [{ uri, mimeType: "application/json", text: JSON.stringify(registry) }],
  }));

  server.registerTool("echo", { description: "answers what it was sent", inputSchema: z.object({ text: z.string() }) }, async (args) => text(args.text));
  const old = server.registerTool("old", { description: "there until the change" }, async () => text("old"));
  server.registerTool("change", { description: "takes old away and brings fresh" }, async () => {
    old.remove();
    server.registerTool("fresh", { description: "new", inputSchema: z.object({ word: z.enum(["hi", "ho"]) }) }, async ({ word }) => text(`fresh: ${word}`));
    registry.tools.fresh = { groups: ["late"] };
    registry.groups.late = { description: "Came later" };
    return text("changed");
  });
  return server;
}

serveStdio(build, { legacy: process.env.LEGACY === "reject" ? "reject" : "serve" });
