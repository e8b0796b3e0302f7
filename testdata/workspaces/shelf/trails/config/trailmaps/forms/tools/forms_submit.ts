import { trailblaze } from "@trailblaze/scripting";

/** Submits the form. */
export const forms_submit = trailblaze.tool(async (_input, { tools }) => tools.web_pressKey({ key: "Enter" }));
