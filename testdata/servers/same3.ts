// The same as same1.ts on @trailblaze/scripting.
import { z } from "zod";
import { delegate, trailblaze } from "../../sdks/typescript/src/index.js";
import { big, fail, hang, relay } from "./same-work.mjs";

trailblaze.tool("echo", { inputSchema: { text: z.string() } }, ({ text }) => text);
trailblaze.tool("relay", { inputSchema: { tool: z.string(), times: z.number() } }, (args, _, client) => relay(client, args));
trailblaze.tool("remember", { inputSchema: { value: z.string() } }, ({ value }, { memory }) => {
  memory.set("kept", value).delete("gone");
  return "kept";
});
trailblaze.tool("hand", { inputSchema: { to: z.array(z.string()) }, meta: { isDelegating: true } }, ({ to }) =>
  delegate(to.map((text) => ({ tool: "echo", args: { text } }))));
trailblaze.tool("structured", { inputSchema: { n: z.number() } }, ({ n }) => ({ n, list: [1, n, -0.5, 1e21] }));
trailblaze.tool("big", { inputSchema: { size: z.int() } }, big);
trailblaze.tool("fail", { inputSchema: { how: z.string() } }, (args) => fail(args));
trailblaze.tool("crawl", {}, async (_, ctx) => {
  for (let step = 1; step <= 3; step++) await ctx.progress(`step ${step}`);
  return "done";
});
trailblaze.tool("hang", {}, (_, ctx) => hang(ctx.signal, "cancelled"));
await trailblaze.run();
