import { trailblaze } from "@trailblaze/scripting";
import { typeInto } from "./contacts_ios_shared";

export interface CreateContactInput {
  /** Given name. */
  firstName: string;
  /** Family name. */
  lastName: string;
  company?: string;
  phone?: string;
  /**
   * An address, which is not checked.
   */
  email?: string;
}

/**
 * Creates a contact.
 * The list has to be visible.
 */
export const contacts_ios_createContact = trailblaze.tool<CreateContactInput, string>(
  { supportedPlatforms: ["ios"], requiresContext: true },
  async (input: CreateContactInput, ctx): Promise<string> => {
    await ctx.tools.tapOnElementWithAccessibilityText({ accessibilityText: "Add" });
    await typeInto(ctx, "First name", input.firstName);
    await typeInto(ctx, "Last name", input.lastName);
    await typeInto(ctx, "Company", input.company);
    await ctx.tools.tapOnElementWithText({ text: "Done" });
    return `Created ${input.firstName} ${input.lastName}.`;
  },
);
