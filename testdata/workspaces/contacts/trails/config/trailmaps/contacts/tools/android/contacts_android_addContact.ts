import { trailblaze } from "@trailblaze/scripting";

export interface AddContactInput {
  firstName: string;
  lastName: string;
  phone?: string;
  /** Stays in the form. */
  keepOpen?: boolean;
}

/** Adds a contact with the form. */
export const contacts_android_addContact = trailblaze.tool<AddContactInput>(
  { supportedPlatforms: ["android"], supportedDrivers: ["android-ondevice-accessibility"] },
  async (input, ctx) => {
    const fields: Array<[string, string | undefined]> = [
      ["First name", input.firstName],
      ["Last name", input.lastName],
      ["Phone", input.phone],
    ];
    for (const [label, text] of fields) {
      if (text === undefined) continue;
      await ctx.tools.tapOnElementBySelector({ nodeSelector: { androidAccessibility: { hintTextRegex: label } } });
      await ctx.tools.inputText({ text });
    }
    if (!input.keepOpen) await ctx.tools.tapOnElementWithText({ text: "Save" });
    ctx.memory.set("contact", `${input.firstName} ${input.lastName}`);
  },
);
