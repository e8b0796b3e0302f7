import { trailblaze } from "@trailblaze/scripting";

/** Reads the total. */
export const till_web_total = trailblaze.tool({ supportedPlatforms: ["web"] }, async (_input, ctx) =>
  (await ctx.tools.web_getText({ ref: "css=#total" })).value,
);
