import { trailblaze } from "@trailblaze/scripting";

export interface ComposeOpenInput {
  window: string;
}

/** Opens a window. */
export const desk_compose_open = trailblaze.tool<ComposeOpenInput>({ supportedPlatforms: ["compose"] }, async (input, ctx) => {
  await ctx.tools.compose_click({ ref: input.window });
});
