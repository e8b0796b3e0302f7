import { trailblaze } from "@trailblaze/scripting";
export const bakery_broken = trailblaze.tool(async () => {
  return "never";
;
