import { trailblaze } from "@trailblaze/scripting";

/** What the card has to show. */
export interface AndroidFieldInput {
  label: string;
  value: string;
}

/** Checks a field of the card. */
export const contacts_android_assertField = trailblaze.tool<AndroidFieldInput>(
  { supportedPlatforms: ["android"] },
  async ({ label, value }, ctx) => {
    const found = await ctx.tools.findMatches({ selector: { androidAccessibility: { textRegex: value } } });
    if (found.length === 0) throw new Error(`${label} is not ${value}`);
  },
);
