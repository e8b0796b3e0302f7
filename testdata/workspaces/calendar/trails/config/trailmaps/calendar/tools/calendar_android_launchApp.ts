import { trailblaze } from "@trailblaze/scripting";

/** Starts the app, which may show notifications. */
export const calendar_android_launchApp = trailblaze.tool(
  {
    supportedPlatforms: ["android"],
    requiresHost: false, // it runs on the device, too
  },
  async (_input, ctx) => {
    const appId = ctx.target?.appId ?? "com.example.calendar";
    try {
      await ctx.tools.android_adbShell({ command: ["pm", "grant", appId, "android.permission.POST_NOTIFICATIONS"] });
    } catch {
      // Older versions do not have it.
    }
    await ctx.tools.android_adbShell({ command: ["am", "force-stop", appId] });
    const intent = ["-a", "android.intent.action.MAIN", "-c", "android.intent.category.LAUNCHER", "-p", appId];
    await ctx.tools.android_adbShell({ command: ["am", "start", ...intent] });
  },
);
