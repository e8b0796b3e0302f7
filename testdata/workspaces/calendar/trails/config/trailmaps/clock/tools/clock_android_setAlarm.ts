import * as scripting from "@trailblaze/scripting";

export interface SetAlarmInput {
  time: string;
  label?: string;
  repeat?: boolean;
}

/** Sets an alarm. */
export const clock_android_setAlarm = scripting.trailblaze.tool<SetAlarmInput>({ supportedPlatforms: ["android"] }, async (input, ctx) => {
  const [hour, minutes] = input.time.split(":").map(Number);
  const at = ["--ei", "android.intent.extra.alarm.HOUR", `${hour}`, "--ei", "android.intent.extra.alarm.MINUTES", `${minutes}`];
  await ctx.tools.android_adbShell({ command: ["am", "start", "-a", "android.intent.action.SET_ALARM", ...at] });
});
