import { trailblaze } from "@trailblaze/scripting";
import { APP_ID } from "./contacts_ios_shared";

export interface OpenAppInput {
  /** Ends the app before. */
  relaunch?: boolean;
}

/** Opens the app, at the list if it was not running. */
export const contacts_ios_openApp = trailblaze.tool<OpenAppInput>(
  { supportedPlatforms: ["ios"] },
  async (input, ctx) => {
    const appId = ctx.target?.resolveAppId({ defaultAppId: APP_ID }) ?? APP_ID;
    await ctx.tools.launchApp({ appId, launchMode: input.relaunch ? "FORCE_RESTART" : "RESUME" });
    return `Opened ${appId}.`;
  },
);
