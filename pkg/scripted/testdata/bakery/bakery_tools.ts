import { trailblaze, selectors, fromMeta, captureViewHierarchy, z, type EmptyInput } from "@trailblaze/scripting";
import { tool } from "@trailblaze/scripting/in-process";
import { trailblaze as other } from "@trailblaze/scripting/sub-process";

interface Place {
  left: number;
}

/** Every method of the memory. */
export const bakery_remember = tool<{ cake: string }>(async ({ cake }, { memory }) => {
  const before = [memory.get("kind"), memory.has("kind"), memory.has("nothing"), memory.get("nothing") ?? "absent"];
  memory.set("cake", cake);
  memory.setJson("basket", { pieces: 2 });
  const gone = [memory.delete("old"), memory.delete("old")];
  return {
    before, gone, basket: memory.getJson<{ pieces: number }>("basket"), keys: memory.keys().sort(),
    text: memory.interpolate("{{cake}} ${kind} {{nothing}}"),
  };
});

export const bakery_forget = trailblaze.tool<EmptyInput>(async (_, ctx) => {
  ctx.memory.set("cake", "half baked");
  await ctx.tools.web_click({ ref: "#burnt" });
});

export const bakery_places = trailblaze.tool<EmptyInput, number[]>({}, async (_, ctx) =>
  (await ctx.tools.findMatches({ text: "cake" })).map((place: { bounds: Place }) => place.bounds.left));

export const bakery_sum = other.tool("bakery_sum", { description: "Adds." }, async (args, ctx, client) => {
  const lefts = await client.tools.bakery_places({});
  const filled = await ctx.tools.bakery_fillBasket({ count: "2" });
  return { sum: lefts.reduce((a: number, b: number) => a + b, 0), filled };
});

export const bakery_where = trailblaze.tool(async (_, { device, target }) => ({
  device: [device.platform, device.driverType, device.instanceId],
  target: [target?.id, target?.appIds, target?.appId ?? null, target?.resolveAppId({ defaultAppId: "x" }),
    target?.resolveBaseUrl({ defaultBaseUrl: "https://default.test" }), "baseUrl" in (target ?? {})],
  selector: selectors.web({ css: "#q" }), outside: fromMeta({}) ?? "outside",
}));

export const bakery_fetch = trailblaze.tool<{ url: string }>(async ({ url }) => {
  await new Promise((resolve) => setTimeout(resolve, 1));
  return (await fetch(url)).text();
});

export const bakery_types = trailblaze.tool(async (input) => input);
export const bakery_mcp = trailblaze.tool(async () => ({ content: [{ type: "text", text: "as it is" }], isError: true }));
export const bakery_hierarchy = trailblaze.tool(async () => captureViewHierarchy());
export const bakery_zod = trailblaze.tool(async () => z.string().parse(1));

export const bakery_fail = trailblaze.tool(async () => {
  const oven: Place | undefined = undefined;
  if (!oven) throw new Error("the oven is cold");
});

/** A helper whose name a result of MCP has, too. */
export const isError = (result: unknown) => result instanceof Error;
