import { trailblaze } from "@trailblaze/scripting";

export interface OpenInput {
  page?: string;
  note?: string;
}

/** Opens the list of notes. */
export const notes_web_open = trailblaze.tool<OpenInput>({ supportedPlatforms: ["web"] }, async (input, ctx) => {
  const base = ctx.target?.resolveBaseUrl({ defaultBaseUrl: "app/notes.html" });
  await ctx.tools.web_navigate({ action: "GOTO", url: input.page ?? base });
  if (input.note) await ctx.tools.web_click({ ref: input.note });
});
