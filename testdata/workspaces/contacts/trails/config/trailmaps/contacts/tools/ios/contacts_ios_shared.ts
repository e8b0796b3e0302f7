import type { TrailblazeContext } from "@trailblaze/scripting";

export const APP_ID = "com.example.MobileAddressBook";

export async function typeInto(ctx: TrailblazeContext, label: string, text?: string): Promise<void> {
  if (!text) return;
  await ctx.tools.tapOnElementWithText({ text: label });
  await ctx.tools.inputText({ text });
}
