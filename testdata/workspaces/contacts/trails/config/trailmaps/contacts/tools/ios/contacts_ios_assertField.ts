import { trailblaze } from "@trailblaze/scripting";

export interface AssertFieldInput {
  label: string;
  value: string;
}

/** Checks a field of the card. */
export const contacts_ios_assertField = trailblaze.tool<AssertFieldInput>(
  { supportedPlatforms: ["ios"] },
  async ({ label, value }, ctx) => {
    const escaped = value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    await ctx.tools.assertVisibleWithAccessibilityText({ accessibilityText: `${label}, ${escaped}` });
  },
);
