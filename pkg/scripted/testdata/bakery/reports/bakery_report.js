import { readFileSync, writeFileSync } from "node:fs";
export async function bakery_report(args, ctx, client) { writeFileSync(args.file, "2 cakes"); return "written " + readFileSync(args.file, "utf8"); }
export const bakery_legacy = async (args, ctx, client) => {
  const clicked = await client.callTool("web_click", { ref: args.ref });
  return [ctx.sessionId.length > 0, clicked.success, clicked.textContent, await client.tools.findMatches({ text: "cake" })];
};
