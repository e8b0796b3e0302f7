import { trailblaze } from "@trailblaze/scripting";

export interface GoToDateInput {
  date: string;
  /**
   * The view: day, week or month.
   * @default "day"
   */
  view?: string;
}

/** Opens a date with an intent. */
export const calendar_android_goToDate = trailblaze.tool<GoToDateInput>({ supportedPlatforms: ["android"] }, async (input, ctx) => {
  const millis = Date.parse(input.date);
  await ctx.tools.android_adbShell({ command: ["am", "start", "-d", `content://com.android.calendar/time/${millis}`] });
  await ctx.tools.android_adbShell({ command: ["dumpsys", "window"] });
});
