import { trailblaze } from "@trailblaze/scripting";

export const contacts_android_launchApp = trailblaze.tool(
  { description: "Stops the app and starts it.", supportedPlatforms: ["android"] },
  async (_, ctx) => {
    const appId = ctx.target!.resolveAppId({ defaultAppId: "com.example.contacts" });
    await ctx.tools.android_adbShell({ command: ["am", "force-stop", appId] });
    await ctx.tools.launchApp({ appId });
  },
);
