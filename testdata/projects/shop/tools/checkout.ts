// The steps of an order. Each tool calls tools of other servers.
//
// Copy this file for @trailblaze/scripting: tools that call others, that delegate, and one for any MCP client.
import { delegate, trailblaze, type TrailblazeClient, type TrailblazeContext } from "@trailblaze/scripting";
import { z } from "zod";

interface Order {
  id: string;
  items: { sku: string; price: string; quantity: number }[];
  total: string;
}

type Request = { method?: string; path: string; body?: object; expectStatus: number };

/** Sends a request to the shop's API. If it fails, the tool fails with the same reason. */
async function ask(ctx: TrailblazeContext, client: TrailblazeClient, { path, ...request }: Request) {
  if (!ctx.memory.has("shopUrl")) throw new Error("the shop is closed; call openShop first");
  const answer = await client.callTool("apiRequest", { url: ctx.memory.get("shopUrl") + path, ...request });
  return answer.json().body;
}

trailblaze.tool(
  "openShop",
  {
    description: "Opens the shop for a new customer. Remembers {{shopUrl}} and {{email}}.",
    inputSchema: { seed: z.string().optional().describe("the same seed makes the same customer") },
    meta: { toolset: "checkout" },
  },
  async ({ seed }, ctx, client) => {
    const api = await client.callTool("startShopApi");
    const user = await client.callTool("createTestUser", { seed });
    ctx.memory.set("shopUrl", api.json().baseUrl).set("email", user.json().email);
    return user.json();
  },
);

trailblaze.tool(
  "addToCart",
  {
    description: "Puts something into the cart, a new one if there is none. Remembers {{cartId}}, returns the cart.",
    inputSchema: { sku: z.string(), quantity: z.int().min(1).default(1) },
    meta: { toolset: "checkout" },
  },
  async ({ sku, quantity }, ctx, client) => {
    if (!ctx.memory.has("cartId")) {
      const cart = await ask(ctx, client, { method: "POST", path: "/carts", expectStatus: 201 });
      ctx.memory.set("cartId", cart.id);
    }
    const path = `/carts/${ctx.memory.get("cartId")}/items`;
    return ask(ctx, client, { method: "POST", path, body: { sku, quantity }, expectStatus: 200 });
  },
);

trailblaze.tool(
  "placeOrder",
  { description: "Orders what is in the cart. Remembers {{orderId}}, returns the order.", meta: { toolset: "checkout" } },
  async (_, ctx, client): Promise<Order> => {
    const path = `/carts/${ctx.memory.get("cartId")}/order`;
    const order = await ask(ctx, client, { method: "POST", path, body: { email: ctx.memory.get("email") }, expectStatus: 201 });
    await client.callTool("assertTotal", { lines: order.items, total: order.total }); // a server in Go
    ctx.memory.set("orderId", order.id);
    ctx.memory.delete("cartId");
    return order;
  },
);

trailblaze.tool(
  "refillCart",
  {
    description: "Puts the items of an order into the cart.",
    inputSchema: { orderId: z.string() },
    meta: { toolset: "checkout", isDelegating: true },
  },
  async ({ orderId }, ctx, client) => {
    const order: Order = await ask(ctx, client, { path: `/orders/${orderId}`, expectStatus: 200 });
    return delegate(order.items.map(({ sku, quantity }) => ({ tool: "addToCart", args: { sku, quantity } })));
  },
);

trailblaze.tool(
  "reorder",
  { description: "Orders the same again. Returns the new order.", meta: { toolset: "checkout", isDelegating: true } },
  // refillCart delegates too.
  () => delegate([{ tool: "refillCart", args: { orderId: "{{orderId}}" } }, { tool: "placeOrder" }]),
);

trailblaze.tool(
  "thankYou",
  {
    description: "The text that the shop shows below an order.",
    inputSchema: { total: z.string() },
    meta: { toolset: "checkout", requiresContext: false }, // in any other MCP client, ctx is undefined
  },
  ({ total }, ctx) => `Thank you, ${ctx?.memory.get("email") ?? "dear customer"}, for ${total} EUR.`,
);

await trailblaze.run();
