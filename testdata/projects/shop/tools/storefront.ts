// The shop's web pages, served on this machine by the tool server itself. Every session has a shop of its own, at a port of its own.
//
// Copy this file for pages that trails open in a browser, for tools that check the state behind the pages, and for a server that
// trailblaze starts once for several devices (multiDevice in trailblaze-config/targets/storefront.yaml).
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname } from "node:path";
import { trailblaze } from "@trailblaze/scripting";
import { z } from "zod";

interface Order {
  id: string;
  name: string;
  email: string;
  express: boolean;
  items: { sku: string; name: string; price: string; quantity: number }[];
}

const pages = new URL("../pages/", import.meta.url);
const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
};

interface Shop {
  url: string;
  orders: Order[]; // from its web pages
}

/** The shops by session id: one process may serve the sessions of several devices, which share its variables. */
const shops = new Map<string, Shop>();

async function page(path: string, response: ServerResponse) {
  const file = new URL(`.${path === "/" ? "/index.html" : path}`, pages);
  const content = await readFile(file);
  response.writeHead(200, { "content-type": types[extname(file.pathname)] }).end(content);
}

async function order(orders: Order[], request: IncomingMessage, response: ServerResponse) {
  let sent = "";
  for await (const chunk of request.setEncoding("utf8")) sent += chunk;
  const products: { sku: string; name: string; price: string }[] = JSON.parse(await readFile(new URL("products.json", pages), "utf8"));
  const { items, ...customer } = JSON.parse(sent);
  const made: Order = { id: `T-${1001 + orders.length}`, ...customer, items: [] };
  for (const { sku, option, quantity } of items) {
    const { name, price } = products.find((p) => p.sku === sku)!; // prices that the browser sends are ignored
    made.items.push({ sku, name: option ? `${name}, ${option}` : name, price, quantity });
  }
  orders.push(made);
  response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify(made));
}

async function handle(orders: Order[], request: IncomingMessage, response: ServerResponse) {
  const { pathname } = new URL(request.url ?? "/", "http://127.0.0.1");
  try {
    if (request.method === "POST" && pathname === "/orders") await order(orders, request, response);
    else await page(pathname, response);
  } catch {
    response.writeHead(404).end(`there is no ${pathname}`);
  }
}

async function openShop(): Promise<Shop> {
  const orders: Order[] = [];
  const server = createServer((request, response) => void handle(orders, request, response));
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, orders };
}

trailblaze.tool(
  "startShop",
  {
    description: "Opens the shop's web pages. Remembers their URL as {{shopUrl}}.",
    meta: { toolset: "storefront", requiresHost: true },
  },
  async (_, ctx) => {
    const shop = shops.get(ctx.sessionId) ?? (await openShop());
    shops.set(ctx.sessionId, shop);
    ctx.memory.set("shopUrl", shop.url);
    return { url: shop.url };
  },
);

trailblaze.tool(
  "lastOrder",
  {
    description: "The last order from the shop's web pages.",
    inputSchema: { email: z.email().describe("the customer's") },
    meta: { toolset: "storefront", requiresHost: true },
  },
  ({ email }, ctx) => {
    const orders = shops.get(ctx.sessionId)?.orders ?? [];
    const found = orders.findLast((o) => o.email === email);
    if (!found) throw new Error(`there is no order of ${email}; there are ${orders.length} orders`);
    return found;
  },
);

await trailblaze.run(); // it exits when its input ends, although the port is open
