import { trailblaze as tb } from "@trailblaze/scripting";

/** Starts the clock. */
export const clock_android_launchApp = tb.tool({ supportedPlatforms: ["android"] }, async (_input, ctx) => {
  await ctx.tools.launchApp({ appId: ctx.target?.appIds[0] });
});
