import { trailblaze } from "@trailblaze/scripting";
import { CAKES } from "./bakery_shared";            // no extension: plain node cannot load it
export interface Basket { /** Pieces. */ count: number; kind?: "small" | "large"; notes?: string[] }
/** Fills the basket. */
export const bakery_fillBasket = trailblaze.tool<Basket>(
  { supportedPlatforms: ["web"] },
  async (input, ctx) => { for (let i = 0; i < input.count; i++) await ctx.tools.web_click({ ref: CAKES[i] }); return `${input.count} in`; });
