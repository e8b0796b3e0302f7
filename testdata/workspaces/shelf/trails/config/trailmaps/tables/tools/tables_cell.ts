import { trailblaze } from "@trailblaze/scripting";

export interface CellInput {
  table: string;
  /** From 1. */
  row: number;
  column?: string;
}

/** Reads a cell. */
export const tables_cell = trailblaze.tool<CellInput>(async (input, ctx) => {
  const ref = `css=#${input.table} tr:nth-child(${input.row}) td:nth-child(${input.column ?? 1})`;
  return ctx.tools.web_getText({ ref });
});
