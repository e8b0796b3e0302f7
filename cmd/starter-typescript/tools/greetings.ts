import { trailblaze } from "@trailblaze/scripting";
import { z } from "zod";

trailblaze.tool(
  "greet",
  {
    description: "Greets somebody by name.",
    inputSchema: { name: z.string() },
    outputSchema: { greeting: z.string(), letters: z.number().int() },
  },
  ({ name }) => ({ greeting: `Hello, ${name}!`, letters: name.length }),
);

trailblaze.tool(
  "greetTwice",
  { description: "Greets somebody two times.", inputSchema: { name: z.string() } },
  async ({ name }, ctx, client) => {
    // After `npm run types`, the compiler knows greet, its arguments and its result.
    const reply = await client.tools.greet({ name });
    return `${reply.json().greeting} ${reply.json().greeting}`;
  },
);

await trailblaze.run();
