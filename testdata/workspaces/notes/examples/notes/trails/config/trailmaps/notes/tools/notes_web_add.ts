import { trailblaze } from "@trailblaze/scripting";

export interface AddInput {
  text: string;
  tag?: string;
}

/** Adds a note, with a tag in front. */
export const notes_web_add = trailblaze.tool<AddInput>(
  { supportedPlatforms: ["web"] },
  async function ({ text, tag }, ctx) {
    const whole = tag ? `#${tag} ${text}` : text;
    await ctx.tools.web_type({ ref: 'textbox "Note"', text: whole });
    await ctx.tools.web_click({ ref: 'button "Add"' });
    return whole;
  },
);
