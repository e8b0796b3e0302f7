// The shop's web pages, served on this machine by the tool server itself: every session has its own, gone with it.
//
// Copy this file for pages that trails open in a browser, and for tools that look behind what the browser shows.
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

/** What the browsers ordered. One process is one session, so a plain variable is the session's state. */
const orders: Order[] = [];

async function page(path: string, response: ServerResponse) {
  const file = new URL(`.${path === "/" ? "/index.html" : path}`, pages);
  const content = await readFile(file);
  response.writeHead(200, { "content-type": types[extname(file.pathname)] }).end(content);
}

async function order(request: IncomingMessage, response: ServerResponse) {
  let sent = "";
  for await (const chunk of request.setEncoding("utf8")) sent += chunk;
  const products: { sku: string; name: string; price: string }[] = JSON.parse(await readFile(new URL("products.json", pages), "utf8"));
  const { items, ...customer } = JSON.parse(sent);
  const made: Order = { id: `T-${1001 + orders.length}`, ...customer, items: [] };
  for (const { sku, option, quantity } of items) {
    const { name, price } = products.find((p) => p.sku === sku)!; // the browser's word does not count for prices
    made.items.push({ sku, name: option ? `${name}, ${option}` : name, price, quantity });
  }
  orders.push(made);
  response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify(made));
}

async function handle(request: IncomingMessage, response: ServerResponse) {
  const { pathname } = new URL(request.url ?? "/", "http://127.0.0.1");
  try {
    if (request.method === "POST" && pathname === "/orders") await order(request, response);
    else await page(pathname, response);
  } catch {
    response.writeHead(404).end(`there is no ${pathname}`);
  }
}

let shop: ReturnType<typeof createServer> | undefined;

trailblaze.tool(
  "startShop",
  {
    description: "Opens the shop's web pages, and remembers where as {{shopUrl}}.",
    meta: { toolset: "storefront", requiresHost: true },
  },
  async (_, ctx) => {
    if (!shop) {
      const server = createServer((request, response) => void handle(request, response));
      await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
      shop = server;
    }
    const url = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/`;
    ctx.memory.set("shopUrl", url);
    return { url };
  },
);

trailblaze.tool(
  "lastOrder",
  {
    description: "What the shop was last ordered through its web pages.",
    inputSchema: { email: z.email().describe("the customer's") },
    meta: { toolset: "storefront", requiresHost: true },
  },
  ({ email }) => {
    const found = orders.findLast((o) => o.email === email);
    if (!found) throw new Error(`nobody ordered as ${email}; there are ${orders.length} orders`);
    return found;
  },
);

await trailblaze.run(); // the port does not keep the process alive when its input ends
