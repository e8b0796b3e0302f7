import { trailblaze } from "@trailblaze/scripting";
import { typeInto } from "./contacts_ios_shared";

interface SearchInput {
  /** Part of a name, e.g. `Ad`. */
  query: string;
}

export const contacts_ios_search = trailblaze.tool<SearchInput>(
  { description: "Filters the list.", supportedPlatforms: ["ios"] },
  async ({ query }, ctx) => typeInto(ctx, "Search", query),
);
