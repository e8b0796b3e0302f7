import { trailblaze } from "@trailblaze/scripting";

export interface CreateEventInput {
  title: string;
  /** As the app writes it, e.g. "Monday, 3 May". */
  day: string;
  /** 24 hours: HH:MM. */
  start?: string;
  end?: string;
  place?: string;
  allDay?: boolean;
}

/** Creates an event. */
export const calendar_android_createEvent = trailblaze.tool<CreateEventInput>(
  { supportedPlatforms: ["android"] },
  async (input, ctx) => {
    await ctx.tools.tapOnElementWithAccessibilityText({ accessibilityText: "Create new event" });
    await ctx.tools.inputText({ text: input.title });
    if (input.allDay) await ctx.tools.tapOnElementWithText({ text: "All-day" });
    await ctx.tools.tapOnElementWithText({ text: "Save" });
    return `${input.title} on ${input.day}${input.start ? ` at ${input.start}` : ""}`;
  },
);
