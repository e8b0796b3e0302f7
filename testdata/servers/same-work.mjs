// What the tools of the servers do that must be the same wherever they run. client is a TrailblazeClient of the call, or undefined.
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Asks another tool, one that fails, and all of them at once. */
export async function relay(client, { tool, times }) {
  const said = await Promise.all(Array.from({ length: times }, (_, i) => client.callTool(tool, { text: `${i} of ${times}` })));
  const refused = await client.callTool("nobody", {}).then(() => "answered", (error) => `${error.name}: ${error.message}`);
  await client.callTool("rememberValue", { name: "asked", value: String(times) });
  const { asked } = (await client.callTool("dumpMemory")).json();
  return { said: said.map(({ text }) => text), refused, asked };
}

/** Text of that many characters, of which none is the same in all encodings. */
export const big = ({ size }) => "zö😀".repeat(size / 4);

export class Refusal extends TypeError {}

/** Throws in one of the ways in which authors do. */
export async function fail({ how }) {
  switch (how) {
    case "error": throw new Error("no, on purpose");
    case "subclass": throw new Refusal("refused", { cause: new Error("a cause") });
    case "aggregate": throw new AggregateError([new Error("one"), new Error("two")], "both failed");
    case "text": throw "only a text";
    case "late": await sleep(5); throw new RangeError("too late");
    case "json": return JSON.parse("{");
    case "undefined": return undefined.name;
  }
}

/** Waits until it is cancelled, says so in a file, and returns what nobody reads. */
export async function hang(signal, file) {
  writeFileSync("reached-call", "");
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  writeFileSync(file, `cancelled: ${signal.aborted} ${signal.reason instanceof Error || typeof signal.reason}`);
}
