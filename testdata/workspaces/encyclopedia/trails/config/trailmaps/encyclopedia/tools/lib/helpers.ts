import type { TrailblazeContext } from "@trailblaze/scripting";
import { level, type Found } from "./levels";

/** Returns the texts of what has a role, from top to bottom. */
export async function textsOf(ctx: TrailblazeContext, ariaRole: string): Promise<string[]> {
  const found: Found[] = await ctx.tools.findMatches({ selector: { web: { ariaRole } } });
  return found.sort((a, b) => a.bounds.top - b.bounds.top).map((f) => f.text.trim());
}

export const heading = (text: string) => `css=h${level(text)}`;
