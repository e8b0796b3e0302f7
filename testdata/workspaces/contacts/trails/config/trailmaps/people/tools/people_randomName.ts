import { trailblaze } from "@trailblaze/scripting";

export interface RandomNameInput {
  prefix?: string;
}

/** Makes up a name. */
export const people_randomName = trailblaze.tool<RandomNameInput, { first: string; last: string }>(
  async (input) => ({ first: `${input.prefix ?? "Ada"}`, last: Math.random().toString(36).slice(2) }),
);
