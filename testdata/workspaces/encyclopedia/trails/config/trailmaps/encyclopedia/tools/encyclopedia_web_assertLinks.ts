import { trailblaze } from "@trailblaze/scripting";

export interface AssertLinksInput {
  /** All links, in the order of the page. */
  links: string[];
}

/** Checks the links of the page. */
export const encyclopedia_web_assertLinks = trailblaze.tool<AssertLinksInput>({ supportedPlatforms: ["web"] }, async (input, ctx) => {
  const texts = await ctx.tools.reading_web_collectTexts({ role: "link" });
  if (texts !== input.links.join("|")) throw new Error(`the links are ${texts}`);
});
