import { trailblaze } from "@trailblaze/scripting";

export interface CollectTextsInput {
  role: string;
  /** A regular expression. */
  pattern?: string;
}

/** Joins the texts of what has a role. */
export const reading_web_collectTexts = trailblaze.tool<CollectTextsInput, string>(async ({ role, pattern = "" }, ctx) => {
  const found = await ctx.tools.findMatches({ selector: { web: { ariaRole: role } } });
  return found.map(({ text }) => text).filter((text) => new RegExp(pattern).test(text)).join("|");
});
