import { trailblaze } from "@trailblaze/scripting";

export interface KeepInput {
  name: string;
  /** Anything that is JSON. */
  value: unknown;
}

/** Keeps a value as JSON. */
export const notes_web_keep = trailblaze.tool<KeepInput>({ supportedPlatforms: ["web"] }, async ({ name, value }, ctx) => {
  ctx.memory.set(name, JSON.stringify(value));
});
