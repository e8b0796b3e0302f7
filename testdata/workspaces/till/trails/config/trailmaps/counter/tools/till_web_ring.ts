import { trailblaze } from "@trailblaze/scripting";

export interface RingInput {
  item: string;
  price?: string;
}

/** Rings up an item. */
export const till_web_ring = trailblaze.tool<RingInput>({ supportedPlatforms: ["web"] }, async ({ item, price = "1.00" }, ctx) => {
  await ctx.tools.web_type({ ref: "css=#item", text: `${item} ${price}` });
  await ctx.tools.web_pressKey({ key: "Enter" });
});
