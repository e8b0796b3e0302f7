import { trailblaze } from "@trailblaze/scripting";

export interface DeleteContactInput {
  name: string;
  // Without it, the sheet that asks stays.
  confirm?: boolean;
}

/** Deletes the contact that is shown. */
export const contacts_ios_deleteContact = trailblaze.tool<DeleteContactInput>(
  { supportedPlatforms: ["ios"], isRecordable: false },
  async (input, ctx) => {
    await ctx.tools.scrollUntilTextIsVisible({ text: "Delete Contact", direction: "DOWN" });
    await ctx.tools.tapOnElementWithText({ text: "Delete Contact" });
    if (!(input.confirm ?? true)) return `${input.name} may still be kept.`;
    await ctx.tools.tapOnElementWithText({ text: "Delete Contact" });
    const gone = await ctx.tools.waitUntilNotVisible({ text: input.name });
    if (!gone) throw new Error(`${input.name} is still in the list`);
    return `Deleted ${input.name}.`;
  },
);
