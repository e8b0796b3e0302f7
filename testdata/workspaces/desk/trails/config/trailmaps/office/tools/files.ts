import { trailblaze } from "@trailblaze/scripting";

export interface OpenInput {
  file: string;
}
export interface SaveInput {
  name: string;
}
export interface CloseInput {
  discard?: boolean;
}

/** Opens a file. */
export const desk_web_open = trailblaze.tool<OpenInput>(async ({ file }, ctx) => ctx.tools.web_navigate({ action: "GOTO", url: file }));

/** Saves it. */
export const desk_web_save = trailblaze.tool<SaveInput>(async ({ name }, ctx) => ctx.memory.set("saved", name));

/** Closes it. */
export const desk_web_close = trailblaze.tool<CloseInput>(async ({ discard }, ctx) => {
  if (!discard && !ctx.memory.has("saved")) throw new Error("it is not saved");
});
