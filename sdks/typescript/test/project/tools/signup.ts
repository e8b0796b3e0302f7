import { trailblaze } from "@trailblaze/scripting";
import { z } from "zod";

trailblaze.tool(
  "signUp",
  { description: "Signs a new user up.", inputSchema: { plan: z.string() } },
  async (args, ctx, client) => {
    const user = await client.callTool("generateTestUser", {});
    ctx.memory.set("email", user.json().email);
    return `signed up ${user.json().email}`;
  },
);
await trailblaze.run();
