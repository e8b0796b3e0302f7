import { trailblaze } from "@trailblaze/scripting";

export interface DeleteEventInput { /* one field */
  title: string;
}

/** Deletes an event that is visible. */
export const calendar_android_deleteEvent = trailblaze.tool<DeleteEventInput>({ supportedPlatforms: ["android"] }, async (input, ctx) => {
  await ctx.tools.tapOnElementWithText({ text: input.title });
  await ctx.tools.tapOnElementWithAccessibilityText({ accessibilityText: "More options" });
  await ctx.tools.tapOnElementWithText({ text: "Delete" });
  await ctx.tools.assertNotVisibleWithText({ text: input.title });
});
