// The shop's API, served on this machine by the tool server itself. Every session has an API of its own, at a port of its own.
//
// Copy this file for plain JavaScript, which node runs without a loader, and for a server with an open port.
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";

const products = [
  { sku: "mug", name: "Enamel mug", category: "kitchen", price: "12.50" },
  { sku: "pan", name: "Frying pan", category: "kitchen", price: "34.95" },
  { sku: "tee", name: "T-shirt", category: "clothes", price: "19.90" },
];

/** Cents, because 0.1 + 0.2 is not 0.3. */
const total = (items) => {
  const cents = items.reduce((sum, item) => sum + Number(item.price.replace(".", "")) * item.quantity, 0);
  return (cents / 100).toFixed(2);
};

/** The shop's state and rules. It takes a request and returns [status, body]. */
class Shop {
  carts = [];
  orders = [];

  async answer(method, { pathname, searchParams }, body) {
    const [, resource, id, action] = pathname.split("/");
    switch (`${method} ${resource}${action ? `/${action}` : ""}`) {
      case "GET products": {
        const category = searchParams.get("category");
        return [200, products.filter((p) => !category || p.category === category)];
      }
      case "GET delivery-quote": // slow, as the API of a carrier is
        await new Promise((resolve) => setTimeout(resolve, 200));
        return [200, { carrier: "Tortoise Parcel", price: "4.90", businessDays: 3 }];
      case "POST carts":
        return id ? undefined : [201, this.openCart()];
      case "GET carts":
        return found(this.carts, id);
      case "POST carts/items":
        return this.addItem(id, body);
      case "POST carts/order":
        return this.placeOrder(id, body);
      case "GET orders":
        return found(this.orders, id);
    }
  }

  openCart() {
    const cart = { id: `cart-${this.carts.length + 1}`, items: [], total: "0.00" };
    this.carts.push(cart);
    return cart;
  }

  addItem(id, { sku, quantity }) {
    const cart = this.carts.find((c) => c.id === id);
    const product = products.find((p) => p.sku === sku);
    if (!cart || !product) return [404, { error: `no ${cart ? `product ${sku}` : `cart ${id}`}` }];
    if (!Number.isInteger(quantity) || quantity < 1) return [422, { error: "quantity must be a whole number from 1" }];
    cart.items.push({ sku, price: product.price, quantity });
    cart.total = total(cart.items);
    return [200, cart];
  }

  placeOrder(id, { email, express = false, payment = "card" }) {
    const cart = this.carts.find((c) => c.id === id);
    if (!cart) return [404, { error: `no cart ${id}` }];
    if (cart.items.length === 0) return [409, { error: "the cart is empty" }];
    const { items, total } = cart;
    const order = { id: `order-${this.orders.length + 1}`, email, express, payment, items, total };
    this.orders.push(order);
    return [201, order];
  }
}

function found(list, id) {
  const item = list.find((one) => one.id === id);
  return item && [200, item];
}

async function handle(shop, request, response) {
  let status, body;
  try {
    let sent = "";
    for await (const chunk of request.setEncoding("utf8")) sent += chunk;
    const url = new URL(request.url, "http://127.0.0.1");
    const answer = await shop.answer(request.method, url, JSON.parse(sent || "{}"));
    [status, body] = answer ?? [404, { error: `no ${request.method} ${url.pathname}` }];
  } catch (error) {
    [status, body] = [400, { error: error.message }];
  }
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

let api;

async function start() {
  const shop = new Shop();
  api = createServer((request, response) => void handle(shop, request, response));
  await new Promise((resolve, reject) => api.once("error", reject).listen(0, "127.0.0.1", resolve));
}

const meta = { "trailblaze/toolset": "shop_api", "trailblaze/requiresHost": true };
const server = new McpServer({ name: "shop-api", version: "1.0.0" });

server.registerTool(
  "startShopApi",
  { description: "Opens the shop with empty carts and returns its {baseUrl}.", _meta: meta },
  async () => {
    if (api) throw new Error("the shop is open already");
    await start();
    const result = { baseUrl: `http://127.0.0.1:${api.address().port}` };
    console.error(`shop: listening on ${result.baseUrl}`); // stderr goes to the log; stdout is only for the protocol
    return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: result };
  },
);

server.registerTool("stopShopApi", { description: "Closes the shop.", _meta: meta }, async () => {
  if (!api) throw new Error("the shop is not open");
  const closed = new Promise((resolve) => api.close(resolve));
  api.closeAllConnections();
  await closed;
  api = undefined;
  return { content: [{ type: "text", text: "closed" }] };
});

// An open port keeps the process running, so it exits explicitly at the end of the input.
process.stdin.once("end", () => process.exit(0));
await server.connect(new StdioServerTransport());
