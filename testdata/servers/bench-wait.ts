// The server that the benchmarks of parallel trails start: one tool, which waits. It can serve several devices.
import { z } from "zod";
import { trailblaze } from "../../sdks/typescript/src/index.js";

trailblaze.tool("waitFor", { inputSchema: { ms: z.number() } }, async ({ ms }) => {
  await new Promise((done) => setTimeout(done, ms));
  return "waited";
});
await trailblaze.run();
