import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createMockClient,
  createMockContext,
  delegate,
  error,
  trailblaze,
  TrailblazeCallbackError,
  TrailblazeToolError,
} from "@trailblaze/scripting";
import { z as zod3 } from "zod-3";
import { z as zod3v4 } from "zod-3/v4";
import { z as zod40 } from "zod-4.0";
import { z as zod4 } from "zod";
import { inputOf } from "../src/schema.js";

const zods = { "3.25": zod3, "3.25/v4": zod3v4, "4.0": zod40, "4.6": zod4 } as unknown as Record<string, typeof zod4>;
/** Where the zods say the same in different words. */
const plain = (json: unknown): any =>
  JSON.parse(JSON.stringify(json), (_, value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const { const: one, propertyNames, ...rest } = value;
    if (one !== undefined) rest.enum = [one];
    if (rest.enum || rest.default === "free") delete rest.type;
    if (Array.isArray(rest.type)) return { anyOf: rest.type.map((type: string) => ({ type })) };
    if (rest.items === false) ["items", "minItems", "maxItems"].forEach((key) => delete rest[key]);
    for (const key of ["exclusiveMinimum", "minimum", "maximum"])
      if (Math.abs(rest[key]) === Number.MAX_SAFE_INTEGER) delete rest[key];
    return rest;
  });

for (const [version, z] of Object.entries(zods)) {
  test(`zod ${version}: a shape is listed and checked`, async () => {
    const input = inputOf({
      plan: z.string().min(2).max(9).describe("the plan"),
      seats: z.number().int().min(1).max(5).optional(),
      price: z.number().nullable(),
      kind: z.enum(["free", "paid"]).default("free"),
      flags: z.record(z.string(), z.boolean()).optional(),
      items: z.array(z.object({ id: z.literal("x"), note: z.string().optional() })),
      pair: z.tuple([z.string(), z.number()]).optional(),
      either: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]).optional(),
      upper: z
        .string()
        .transform((text) => text.toUpperCase())
        .optional(),
      anything: z.unknown(),
      on: z.date().optional(),
    });
    assert.deepEqual(plain(input.json), {
      type: "object",
      additionalProperties: false,
      required: ["plan", "price", "items"],
      properties: {
        plan: { type: "string", minLength: 2, maxLength: 9, description: "the plan" },
        seats: { type: "integer", minimum: 1, maximum: 5 },
        price: { anyOf: [{ type: "number" }, { type: "null" }] },
        kind: { enum: ["free", "paid"], default: "free" },
        flags: { type: "object", additionalProperties: { type: "boolean" } },
        items: {
          type: "array",
          items: { type: "object", properties: { id: { enum: ["x"] }, note: { type: "string" } }, required: ["id"] },
        },
        pair: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }] },
        either: {
          anyOf: ["a", "b"].map((key) => ({ type: "object", properties: { [key]: { type: "string" } }, required: [key] })),
        },
        upper: { type: "string" },
        anything: {},
        on: {},
      },
    });
    const args = { plan: "pro", price: null, items: [{ id: "x" }], upper: "loud" };
    assert.deepEqual(await input.check({ ...args, more: 1 }), { value: { ...args, kind: "free", upper: "LOUD" } });
    const { problems } = (await input.check({ plan: "pro", price: 1, items: [{ id: "y" }] })) as { problems: string };
    assert.match(problems, /^items\.0\.id: /);
    assert.match(((await input.check({})) as { problems: string }).problems, /^plan: .+; price: .+; items: /);
  });

  test(`zod ${version}: one schema for all arguments`, async () => {
    const input = inputOf(z.object({ a: z.string(), b: z.number().default(3) }).strict());
    assert.deepEqual(plain(input.json), {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "number", default: 3 } },
      required: ["a"],
      additionalProperties: false,
    });
    assert.deepEqual(await input.check({ a: "x" }), { value: { a: "x", b: 3 } });
    assert.match(((await input.check({ a: 1 })) as { problems: string }).problems, /^a: /);
    assert.match(((await input.check({ a: "x", c: 1 })) as { problems: string }).problems, /c/);
  });

  test(`zod ${version}: schemas of results`, () => {
    const fields = { text: z.string(), count: z.number().optional() };
    for (const schema of [fields, z.object(fields)]) {
      assert.deepEqual(plain(inputOf(schema, "outputSchema").json), {
        type: "object",
        properties: { text: { type: "string" }, count: { type: "number" } },
        required: ["text"],
      });
    }
    assert.throws(() => inputOf(z.array(z.string()), "outputSchema"), {
      name: "TypeError",
      message: "outputSchema is a schema of type array, not of an object; write z.object({ … })",
    });
  });
}

test("references of a recursive schema are correct", () => {
  const tree = zod4.object({
    label: zod4.string(),
    get children() {
      return zod4.array(tree).optional();
    },
  });
  const { properties } = inputOf({ "a/b": tree }).json as any;
  assert.equal(properties["a/b"].properties.children.items.$ref, "#/properties/a~1b");
});

test("a JSON Schema and its arguments are not changed", async () => {
  const schema = { properties: { a: { type: "string" } }, required: ["a"] };
  assert.deepEqual(inputOf(schema).json, { type: "object", ...schema });
  assert.deepEqual(await inputOf(schema).check({ a: 1, b: 2 }), { value: { a: 1, b: 2 } });
  assert.deepEqual(inputOf({ type: zod4.string() }).json.properties, { type: { type: "string" } });
  assert.deepEqual(inputOf(undefined).json, { type: "object", properties: {}, additionalProperties: false });
});

test("any Standard Schema is supported", async () => {
  const even = {
    "~standard": {
      version: 1 as const,
      vendor: "test",
      validate: async (value: unknown) =>
        Number(value) % 2 ? { issues: [{ message: "odd", path: [{ key: "deep" }] }] } : { value: Number(value) },
    },
  };
  const input = inputOf({ n: even });
  assert.deepEqual(input.json, { type: "object", properties: { n: {} }, required: ["n"], additionalProperties: false });
  assert.deepEqual(await input.check({ n: "4" }), { value: { n: 4 } });
  assert.deepEqual(await input.check({ n: "3" }), { problems: "n.deep: odd" });
});

test("errors of a registration are thrown at once", () => {
  const tool = (name: string, definition: any) => trailblaze.tool(name, definition, () => {});
  tool("twice", {});
  assert.throws(() => tool("twice", {}), /tool twice is there already/);
  assert.throws(
    () => tool("a", { inputSchema: { plan: "string" } }),
    /inputSchema\.plan is not a schema; write z\.string\(\) or the like \(zod 3\.25 or later\)/,
  );
  assert.throws(() => tool("a", { outputSchema: { plan: "string" } }), /outputSchema\.plan is not a schema; write z\.string\(\)/);
  assert.throws(
    () => tool("a", { meta: { supportedPlatform: ["WEB"] } }),
    /tool a: meta\.supportedPlatform is unknown; known are supportedDrivers, /,
  );
  assert.throws(() => delegate([{ name: "x" } as any]), /delegate: call 1 names no tool/);
});

test("a mock context is a context", () => {
  const ctx = createMockContext({
    memory: { email: "a@example.com" },
    device: { platform: "ios" },
    target: { id: "myapp", appIds: [] },
  });
  ctx.memory.set("plan", "pro");
  ctx.progress("half way");
  assert.deepEqual(
    [...ctx.memory.keys(), ctx.device.platform, ctx.device.widthPixels, ctx.target?.id],
    ["email", "plan", "ios", 1280, "myapp"],
  );
  assert.deepEqual([ctx.messages, ctx.signal.aborted, ctx.sessionId], [["half way"], false, "mock-session"]);
  assert.deepEqual([...createMockContext().memory.keys()], []);
});

test("a mock client returns results and records its calls", async () => {
  const client = createMockClient({
    tools: {
      text: "plain",
      user: { id: 7 },
      sum: async ({ a, b }: { a: number; b: number }) => a + b,
      no: error("card declined"),
      throws: () => {
        throw new Error("broken");
      },
    },
  });
  assert.equal((await client.callTool("text")).text, "plain");
  assert.deepEqual((await client.callTool("user")).json(), { id: 7 });
  assert.equal((await client.tools.sum!({ a: 1, b: 2 })).json(), 3);
  for (const [tool, reason] of [
    ["no", "card declined"],
    ["throws", "broken"],
    ["absent", "unknown tool; the mock has: text, user, sum, no, throws"],
  ]) {
    await assert.rejects(client.callTool(tool), { name: "TrailblazeToolError", tool, reason, message: `${tool}: ${reason}` });
  }
  assert.deepEqual(
    client.calls.map(({ tool }) => tool),
    ["text", "user", "sum", "no", "throws", "absent"],
  );
  assert.deepEqual(client.calls[2].args, { a: 1, b: 2 });
  assert.ok(new TrailblazeToolError("t", "r") instanceof Error && new TrailblazeCallbackError("t", "r") instanceof Error);
});
