import { trailblaze } from "@trailblaze/scripting";

export interface CheckNameInput {
  first: string;
  last: string;
  strict?: boolean;
}

/** Checks the form of a name. */
export const people_checkName = trailblaze.tool<CheckNameInput, boolean>({}, async ({ first, last, strict }) => {
  const form = strict ? /^\p{Lu}\p{Ll}+$/u : /\S/;
  return form.test(first) && form.test(last);
});
