import { trailblaze } from "@trailblaze/scripting";

export interface FillInput {
  label: string;
  value: string;
}

/** Fills a field. */
export const forms_fill = trailblaze.tool<FillInput>(async ({ label, value }, { tools }) => {
  await tools.web_type({ ref: `textbox "${label}"`, text: value });
});
