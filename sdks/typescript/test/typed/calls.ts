// Nothing here runs: tsc reads it, with the types that pkg/typings wrote. Lines that are marked have to be errors.
import { createMockClient, type ToolArgs, type ToolContent, type ToolName, type TrailblazeClient } from "@trailblaze/scripting";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Equal<A, B>) => {};

export async function right(client: TrailblazeClient) {
  const { tools } = client;
  await tools.tap({ text: "OK" });
  await tools.tap({ text: "OK", index: 1 });
  await client.callTool("tap", { text: "OK" });
  await tools.scroll({ pixels: 10 });
  await tools.scroll({ direction: "up" });
  const address = { street: "Main Street", city: "Springfield" };
  const reply = await tools.signUp({
    plan: "free", address, billing: address, seats: null, tags: ["a", 1], labels: { a: "b" }, position: [1, 2], consent: true,
    anything: { deep: [1] }, level: 2.5,
  });
  same<ReturnType<typeof reply.json>, any>(false);
  reply.json().email.toUpperCase();
  reply.structured?.invoices[0].total.toFixed();
  const untyped = await tools.tap({ text: "OK" });
  same<typeof untyped.structured, Record<string, unknown> | undefined>(true);
  untyped.json<{ id: number }>().id.toFixed();
  await tools.select({ reason: "r", id: "a" });
  await tools.select({ reason: "r", label: "a" });
  await tools.oneIsRequired({ a: "x" });
  await tools.combined({ a: "x", b: true });
  await tools.open({ a: "x", other: 1 });
  await tools.recursive({ node: { name: "a", children: [{ name: "b" }] } });
  await tools.none();
  await tools.none({});
  await tools.unknown();
  await tools.unknown({ any: 1 });
  await tools.remote({ any: 1 });
  await tools.hostile({ "*/ x": "x", 'a"; import os #\n': '"""', self: "x", class: "x", ["__proto__"]: "x" });
  await tools["*/ }; x\n"]();
  await tools.import();
  await tools["cart.add-item"]({ sku: "1" });
  await client.callTool("cart.add-item", { sku: "1" });
  await createMockClient().tools.tap({ text: "OK" });
  const name: ToolName = "tap";
  const args: ToolArgs<"tap"> = { text: "OK" };
  await client.callTool(name, args);
  same<ToolContent<"tap">, unknown>(true);
}

export function wrong(client: TrailblazeClient, anyName: string) {
  const { tools } = client;
  // @ts-expect-error an unknown name
  tools.tip({ text: "OK" });
  // @ts-expect-error an unknown name
  client.callTool("tip", { text: "OK" });
  // @ts-expect-error a name that is not known before the program runs
  client.callTool(anyName, {});
  // @ts-expect-error a misspelt argument
  tools.tap({ txt: "OK" });
  // @ts-expect-error a misspelt argument beside the right ones
  tools.tap({ text: "OK", idx: 1 });
  // @ts-expect-error a misspelt argument
  client.callTool("tap", { text: "OK", idx: 1 });
  // @ts-expect-error a missing argument
  tools.tap({});
  // @ts-expect-error missing arguments
  tools.tap();
  // @ts-expect-error missing arguments
  client.callTool("tap");
  // @ts-expect-error the wrong type
  tools.tap({ text: 1 });
  // @ts-expect-error not in the enumeration
  tools.scroll({ direction: "left" });
  // @ts-expect-error arguments of no scope
  tools.scroll({ speed: 1 });
  // @ts-expect-error not in the enumeration
  tools.signUp({ plan: "gold", address: { street: "a", city: "b" } });
  // @ts-expect-error a part of the address is missing
  tools.signUp({ plan: "free", address: { street: "a" } });
  // @ts-expect-error an item of the wrong type
  tools.signUp({ plan: "free", address: { street: "a", city: "b" }, tags: [true] });
  // @ts-expect-error a value of the wrong type
  tools.signUp({ plan: "free", address: { street: "a", city: "b" }, labels: { a: 1 } });
  // @ts-expect-error too long
  tools.signUp({ plan: "free", address: { street: "a", city: "b" }, position: [1, 2, 3] });
  // @ts-expect-error another constant
  tools.signUp({ plan: "free", address: { street: "a", city: "b" }, consent: false });
  // @ts-expect-error neither of the two ways
  tools.select({ reason: "r" });
  // @ts-expect-error the second part is missing
  tools.combined({ a: "x" });
  // @ts-expect-error the named argument has a type, too
  tools.open({ a: 1 });
  // @ts-expect-error it takes no arguments
  tools.none({ a: 1 });
  // @ts-expect-error the result has no such field
  tools.signUp({ plan: "free", address: { street: "a", city: "b" } }).then((reply) => reply.json().mail);
}
