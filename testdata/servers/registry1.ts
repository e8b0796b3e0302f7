// Tools with a registry, on @modelcontextprotocol/sdk. `change` swaps a tool for another while the server runs; REGISTRY=elsewhere
// gives the resource another URI.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "registry1", version: "1.0.0" });
const text = (text: string) => ({ content: [{ type: "text" as const, text }] });

const registry: { tools: Record<string, object>; groups: Record<string, object> } = {
  tools: { echo: { platforms: ["android", "web"], groups: ["sdk"], isRecordable: false } },
  groups: { sdk: { description: "Of an SDK", defaultEnabled: false } },
};
const uri = process.env.REGISTRY === "elsewhere" ? "trailblaze://other" : "trailblaze://registry";
server.registerResource("registry", uri, { mimeType: "application/json" }, async () => ({
  contents: [{ uri, mimeType: "application/json", text: JSON.stringify(registry) }],
}));

server.registerTool("echo", { description: "answers what it was sent", inputSchema: { text: z.string() } }, async (args) => text(args.text));
const old = server.registerTool("old", { description: "there until the change" }, async () => text("old"));
server.registerTool("change", { description: "takes old away and brings fresh" }, async () => {
  old.remove();
  server.registerTool("fresh", { description: "new", inputSchema: { word: z.enum(["hi", "ho"]) } }, async ({ word }) => text(`fresh: ${word}`));
  registry.tools.fresh = { groups: ["late"] };
  registry.groups.late = { description: "Came later" };
  return text("changed");
});

process.stdin.once("end", () => process.exit(0));
await server.connect(new StdioServerTransport());
