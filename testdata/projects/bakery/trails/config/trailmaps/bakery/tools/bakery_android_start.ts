import { trailblaze } from "@trailblaze/scripting";

export const bakery_android_start = trailblaze.tool(
  { supportedPlatforms: ["android"], description: "Starts the app." },
  async (_, ctx) => { await ctx.tools.launchApp({ appId: ctx.target?.appId }); },
);
