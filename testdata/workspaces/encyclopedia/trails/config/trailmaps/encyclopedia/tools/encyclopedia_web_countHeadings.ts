import { trailblaze } from "@trailblaze/scripting";
import { textsOf } from "./lib/helpers";

/** Returns how many headings the page has. */
export const encyclopedia_web_countHeadings = trailblaze.tool(async (_input, ctx) => (await textsOf(ctx, "heading")).length);
