import { trailblaze } from "@trailblaze/scripting";

export interface OpenContactInput {
  name: string;
  starred?: boolean;
}

/** Opens a contact, of the starred ones if wanted. */
export const contacts_android_openContact = trailblaze.tool<OpenContactInput>(
  { supportedPlatforms: ["android"] },
  async ({ name, starred = false }, ctx) => {
    if (starred) await ctx.tools.tapOnElementWithText({ text: "Favorites" });
    await ctx.tools.tapOnElementWithText({ text: name });
  },
);
