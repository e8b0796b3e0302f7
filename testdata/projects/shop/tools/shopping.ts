// Actions in the shop's web pages. Each tool sends a few commands to the browser.
//
// Copy this file for steps that many trails share, and for steps that depend on what the page shows.
import { trailblaze } from "@trailblaze/scripting";
import { z } from "zod";

trailblaze.tool(
  "putIntoCart",
  {
    description: "Puts a product into the cart, from the page of the product.",
    inputSchema: {
      product: z.string().describe("its name, such as Enamel mug"),
      option: z.string().optional().describe("the size or colour, by its label"),
      quantity: z.int().min(1).default(1),
    },
    meta: { toolset: "shopping", supportedPlatforms: ["WEB"] },
  },
  async ({ product, option, quantity }, ctx, client) => {
    if (!ctx.memory.has("shopUrl")) throw new Error("the shop is closed; call startShop first");
    await client.callTool("web_navigate", { url: ctx.memory.get("shopUrl") });
    await client.callTool("tap", { text: product });
    await client.callTool("web_waitForUrl", { pattern: "product\\.html" });
    if (option) await client.callTool("web_selectOption", { ref: "combobox", values: [option] });
    await client.callTool("fill", { selector: "#quantity", value: String(quantity) });
    await client.callTool("tap", { text: "Add to cart" });
    await client.callTool("web_verifyTextVisible", { text: `${product} is in your cart` });
  },
);

trailblaze.tool(
  "enterAddress",
  {
    description: "Fills in who gets the order and where.",
    inputSchema: {
      name: z.string(),
      email: z.email(),
      street: z.string(),
      city: z.string(),
      country: z.enum(["DE", "JP", "NO", "US"]),
    },
    meta: { toolset: "shopping", supportedPlatforms: ["WEB"] },
  },
  async ({ country, ...fields }, ctx, client) => {
    for (const [name, value] of Object.entries(fields)) {
      await client.callTool("fill", { selector: `#checkout [name=${name}]`, value });
    }
    await client.callTool("web_selectOption", { nodeSelector: { web: { cssSelector: "#country" } }, values: [country] });
  },
);

trailblaze.tool(
  "emptyCart",
  { description: "Removes everything from the cart. Returns how many lines it had.", meta: { toolset: "shopping", supportedPlatforms: ["WEB"] } },
  async (_, ctx, client) => {
    await client.callTool("web_navigate", { url: `${ctx.memory.get("shopUrl")}cart.html` });
    await client.callTool("waitForSelector", { selector: ":is(#empty, #full):not([hidden])" }); // one of the two, once the page has loaded the cart
    let lines = 0;
    while ((await client.callTool("isVisible", { text: "Check out" })).json().value) {
      await client.callTool("web_click", { nodeSelector: { web: { ariaRole: "button", ariaNameRegex: "Remove .*", nthIndex: 0 } } });
      await client.callTool("tap", { text: "Remove it" });
      lines++;
    }
    await client.callTool("assertVisible", { text: "It is empty." });
    return { lines };
  },
);

await trailblaze.run();
