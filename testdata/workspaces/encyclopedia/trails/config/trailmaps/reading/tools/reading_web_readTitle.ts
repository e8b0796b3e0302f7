import { trailblaze } from "@trailblaze/scripting";

export const reading_web_readTitle = trailblaze.tool({ description: "Keeps the title as `title`." }, async (_input, ctx) => {
  ctx.memory.set("title", await ctx.tools.web_evaluate({ script: "document.title" }));
});
