import { trailblaze } from "@trailblaze/scripting";
import { heading, textsOf } from "./lib/helpers";

export interface AssertHeadingInput {
  heading: string;
  exact?: boolean;
}

/** Checks that a heading is there. */
export const encyclopedia_web_assertHeading = trailblaze.tool<AssertHeadingInput>(
  { supportedPlatforms: ["web"] },
  async (input, ctx) => {
    const texts = await textsOf(ctx, "heading");
    const has = (t: string) => (input.exact ? t === input.heading : t.startsWith(input.heading));
    if (!texts.some(has)) throw new Error(`${heading(input.heading)}: not one of ${texts.join(", ")}`);
  },
);
