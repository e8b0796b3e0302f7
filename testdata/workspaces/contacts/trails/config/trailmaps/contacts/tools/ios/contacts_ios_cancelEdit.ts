import { trailblaze } from "@trailblaze/scripting";

/** Leaves the form without saving. */
export const contacts_ios_cancelEdit = trailblaze.tool({ supportedPlatforms: ["ios"] }, async (_input, ctx) => {
  await ctx.tools.tapOnElementWithText({ text: "Cancel" });
  await ctx.tools.mobile_maestro({ commands: [{ extendedWaitUntil: { visible: { text: "Contacts" }, timeout: 5000 } }] });
});
