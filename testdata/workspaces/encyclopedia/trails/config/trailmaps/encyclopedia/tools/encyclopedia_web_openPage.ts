import { trailblaze } from "@trailblaze/scripting";

export interface OpenPageInput {
  /** File name or URL. */
  page: string;
}

/** Opens a page. */
export const encyclopedia_web_openPage = trailblaze.tool<OpenPageInput>({ supportedPlatforms: ["web"] }, async (input, ctx) => {
  await ctx.tools.web_navigate({ action: "GOTO", url: input.page });
  ctx.memory.setJson("opened", { page: input.page, times: 1 });
});
