import { trailblaze } from "@trailblaze/scripting";

export interface FollowLinkInput {
  text: string;
  expectTitle?: string;
}

/** Follows a link. */
export const encyclopedia_web_followLink = trailblaze.tool<FollowLinkInput>({ supportedPlatforms: ["web"] }, async (input, ctx) => {
  await ctx.tools.web_click({ ref: `link "${input.text}"` });
  if (!input.expectTitle) return;
  await ctx.tools.reading_web_readTitle({});
  const title = await ctx.tools.web_evaluate({ script: "document.title" });
  if (title !== input.expectTitle) throw new Error(`the title is ${title}`);
});
