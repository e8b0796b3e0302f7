import { trailblaze } from "@trailblaze/scripting";

export interface SearchInput {
  query: string;
  /** Text of the page that is found. */
  expect?: string;
}

/** Searches with the form. */
export const encyclopedia_web_search = trailblaze.tool<SearchInput>({ supportedPlatforms: ["web"] }, async (input, ctx) => {
  await ctx.tools.web_type({ ref: "css=input[name=search]", text: input.query });
  await ctx.tools.web_click({ ref: 'button "Search"' });
  if (input.expect !== undefined) await ctx.tools.web_verifyTextVisible({ text: input.expect });
  return `searched for ${input.query}`;
});
