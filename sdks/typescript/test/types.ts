// Nothing here runs: tsc reads it, and the lines marked as errors have to be some.
import * as declared from "@trailblaze/scripting";
import {
  createMockClient,
  createMockContext,
  delegate,
  trailblaze,
  type Args,
  type CallbackRequest,
  type CallbackResponse,
  type ToolMeta,
  type TrailblazeClient,
  type TrailblazeContext,
} from "@trailblaze/scripting";
import { z } from "zod";
import { z as zod3 } from "zod-3";
import * as implemented from "../src/index.js";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Equal<A, B>) => {};

// What is declared is there.
const { TrailblazeClient: Client, ...rest } = implemented;
rest satisfies Omit<typeof declared, "TrailblazeClient">;
Client satisfies Pick<typeof declared.TrailblazeClient, "fromContext" | "prototype">;
same<keyof typeof declared, keyof typeof implemented>(true);

trailblaze.tool(
  "shape",
  {
    inputSchema: {
      plan: z.string(),
      seats: z.number().optional(),
      kind: z.enum(["free", "paid"]).default("free"),
      at: z.string().transform(Number),
    },
  },
  (args, ctx, client) => {
    same<typeof args, { plan: string; kind: "free" | "paid"; at: number; seats?: number | undefined }>(true);
    same<typeof ctx, TrailblazeContext>(true);
    same<typeof client, TrailblazeClient>(true);
    // @ts-expect-error there is no such argument
    args.plans;
    // @ts-expect-error a context is not a map
    ctx.get("x");
    // @ts-expect-error there is nothing to remember
    ctx.memory.set("email", undefined);
    // @ts-expect-error arguments are an object
    client.callTool("x", "y");
  },
);
trailblaze.tool("shape of zod 3", { inputSchema: { plan: zod3.string(), seats: zod3.number().optional() } }, (args) => {
  same<typeof args, { plan: string; seats?: number | undefined }>(true);
});
trailblaze.tool("whole", { inputSchema: z.object({ a: z.string(), b: z.number().optional() }) }, (args) => {
  same<typeof args, { a: string; b?: number | undefined }>(true);
});
trailblaze.tool(
  "JSON Schema",
  { inputSchema: { type: "object", properties: { a: { type: "string" } } } },
  (args: { a: string }) => args.a,
);
trailblaze.tool("shape of results", { outputSchema: { plan: z.string() } }, () => ({ plan: "free" }));
trailblaze.tool("shape of results of zod 3", { outputSchema: { plan: zod3.string() } }, () => ({ plan: "free" }));
trailblaze.tool("results as a whole", { outputSchema: z.object({ plan: z.string() }) }, () => ({ plan: "free" }));
trailblaze.tool("results of zod 3", { outputSchema: zod3.object({ plan: zod3.string() }) }, () => ({ plan: "free" }));
trailblaze.tool("results of a JSON Schema", { outputSchema: { type: "object" } }, () => ({ plan: "free" }));
// @ts-expect-error not a schema
trailblaze.tool("no output", { outputSchema: "text" }, () => {});
trailblaze.tool("none", {}, (args, ctx) => {
  // @ts-expect-error it takes none
  args.plan;
  ctx.memory.get<number>("count")?.toFixed();
});
trailblaze.tool("anywhere", { meta: { requiresContext: false, toolset: "x" } }, (_, ctx) => {
  same<typeof ctx, TrailblazeContext | undefined>(true);
  // @ts-expect-error there may be none
  ctx.sessionId;
});
trailblaze.tool("full names", { _meta: { "trailblaze/toolset": "x", "acme/owner": 1 } }, () => {});
// @ts-expect-error a key of meta that there is not
trailblaze.tool("a", { meta: { supportedPlatform: ["WEB"] } }, () => {});
// @ts-expect-error a value of the wrong type
trailblaze.tool("b", { meta: { timeoutMs: "5s" } }, () => {});
// @ts-expect-error a value of the wrong type
trailblaze.tool("c", { _meta: { "trailblaze/supportedDrivers": "ios-host" } }, () => {});

// Without the file of `trailblaze types`, tools have any names and arguments.
async function untyped(client: TrailblazeClient) {
  const reply = await client.tools.anything!({ any: 1 });
  same<typeof reply.structured, Record<string, unknown> | undefined>(true);
  same<Awaited<ReturnType<typeof client.callTool>>["text"], string>(true);
  await client.tools.tap!();
  // @ts-expect-error arguments are an object
  client.tools.tap!("OK");
}
void untyped;
({ version: 1, session_id: "s", invocation_id: "i", action: { type: "call_tool", tool_name: "tap", arguments_json: "{}" } }) satisfies CallbackRequest;
({ result: { type: "call_tool_result", success: true, text_content: "" } }) satisfies CallbackResponse;
// @ts-expect-error an unknown kind of result
({ result: { type: "result", message: "" } }) satisfies CallbackResponse;

const handler = async (_: unknown, ctx: TrailblazeContext, client: TrailblazeClient) =>
  (await client.callTool(ctx.sessionId)).json<{ id: number }>().id;
handler({}, createMockContext(), createMockClient({ tools: { x: 1 } }));
createMockClient({ tools: { add: ({ a, b }) => a + b, text: "x", list: [1], none: null } });

// Arguments may be of a type with a name, and a handler may stand apart from its schema.
interface User {
  email: string;
}
const user: User = { email: "a@example.com" };
const schema = { plan: z.string(), seats: z.number().optional() };
const signUp = async ({ plan, seats }: Args<typeof schema>, _: TrailblazeContext, client: TrailblazeClient) => {
  same<[typeof plan, typeof seats], [string, number | undefined]>(true);
  await client.callTool("addUser", user);
  return delegate([{ tool: "addUser", args: user }]);
};
trailblaze.tool("signUp", { inputSchema: schema }, signUp);
({ isForLlm: false }) satisfies ToolMeta;
