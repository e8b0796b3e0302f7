// The back office's product catalogue: a file with one JSON object per line, private to the session.
//
// Copy this file for a server with version 2 of the MCP SDK (@modelcontextprotocol/server), and for tools that write memory.
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const product = z.object({
  sku: z.string().min(1),
  name: z.string().min(1),
  category: z.string().min(1),
  price: z.string().regex(/^\d+\.\d{2}$/).describe("such as 12.50"),
});
type Product = z.infer<typeof product>;

// The working directory is this file's folder; the session id keeps sessions that run at the same time apart.
const folder = join("..", ".data");
const file = join(folder, `catalog-${process.env.TRAILBLAZE_SESSION_ID ?? "local"}.jsonl`);

function readProducts(): Product[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
}

function json(value: Record<string, unknown>) {
  return { content: [{ type: "text" as const, text: JSON.stringify(value) }], structuredContent: value };
}

const meta = {
  "trailblaze/toolset": "catalog",
  "trailblaze/requiresHost": true, // it writes a file, which a server in on-device mode cannot do
};

function build(): McpServer {
  const server = new McpServer({ name: "shop-catalog", version: "1.0.0" });

  server.registerTool(
    "seedCatalog",
    {
      description: "Adds products to the catalogue. Remembers how many there are as {{catalogSize}}.",
      inputSchema: z.object({ products: z.array(product).min(1) }),
      _meta: meta,
    },
    async ({ products }) => {
      const known = new Set(readProducts().map((p) => p.sku));
      for (const { sku } of products) {
        if (known.has(sku)) throw new Error(`sku ${sku} is in the catalogue already`);
        known.add(sku);
      }
      mkdirSync(folder, { recursive: true });
      appendFileSync(file, products.map((p) => JSON.stringify(p) + "\n").join(""));
      return {
        ...json({ added: products.length, size: known.size }),
        _meta: { trailblaze: { memoryDelta: { catalogSize: String(known.size) } } }, // values are text
      };
    },
  );

  server.registerTool(
    "queryCatalog",
    {
      description: "Finds products. `total` counts every match, `products` holds at most `limit` of them.",
      inputSchema: z.object({
        category: z.string().optional(),
        maxPrice: z.number().optional(),
        sortBy: z.enum(["sku", "name", "price"]).default("sku"),
        descending: z.boolean().default(false),
        limit: z.int().min(1).max(100).default(20),
      }),
      _meta: { ...meta, "trailblaze/isRecordable": false },
    },
    async ({ category, maxPrice, sortBy, descending, limit }) => {
      const found = readProducts().filter(
        (p) => (category === undefined || p.category === category) && (maxPrice === undefined || Number(p.price) <= maxPrice),
      );
      const order = (a: Product, b: Product) =>
        sortBy === "price" ? Number(a.price) - Number(b.price) : a[sortBy] < b[sortBy] ? -1 : 1;
      found.sort((a, b) => (descending ? -order(a, b) : order(a, b)));
      return json({ total: found.length, products: found.slice(0, limit) });
    },
  );

  server.registerTool(
    "clearCatalog",
    { description: "Removes every product and forgets {{catalogSize}}.", _meta: meta },
    async () => {
      const removed = readProducts().length;
      rmSync(file, { force: true });
      return { ...json({ removed }), _meta: { trailblaze: { memoryDeletions: ["catalogSize"] } } };
    },
  );

  return server;
}

serveStdio(build); // it exits when its input ends
