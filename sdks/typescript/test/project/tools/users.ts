import { delegate, trailblaze } from "@trailblaze/scripting";
import { z } from "zod";

trailblaze.tool("generateTestUser", { meta: { isRecordable: false } }, (_, ctx) => {
  if (ctx.memory.has("email")) throw new Error("one user is enough");
  return { email: `user@${ctx.device.platform}.example` };
});

trailblaze.tool("join", { meta: { isDelegating: true } }, (_, ctx) => {
  ctx.progress("handing over");
  return delegate([
    { tool: "signUp", args: { plan: "pro" } },
    { tool: "expect", args: { actual: "{{email}}", wanted: "user@web.example" } },
  ]);
});

trailblaze.tool("expect", { inputSchema: { actual: z.string(), wanted: z.string() } }, ({ actual, wanted }) => {
  if (actual !== wanted) throw new Error(`${actual} is not ${wanted}`);
  return "as expected";
});

await trailblaze.run();
