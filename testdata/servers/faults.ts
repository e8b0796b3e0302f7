// A server that goes wrong, without any SDK: while it is loaded, as FAULT says, or in a call of the tool bad.
import { createInterface } from "node:readline";

const later = (work: () => void) => void setTimeout(work, 1);
const never = () => new Promise<never>(() => {});
const forever = (): never => { for (;;); };
const deeper = (n: number): number => deeper(n + 1) + 1;

function hoard(): never {
  const kept: unknown[] = [];
  for (;;) kept.push(new Array(1000).fill(kept.length));
}

const faults: Record<string, () => unknown> = {
  none: () => "fine",
  loop: forever,
  loopLater: () => (later(forever), never()),
  recursion: () => deeper(0),
  recursionLater: () => (later(() => void deeper(0)), never()),
  hoard: () => hoard(),
  reject: () => (void Promise.reject(new TypeError("nobody caught this")), never()),
  rejectText: () => (void Promise.reject("only a text"), never()),
  throw: () => { throw new RangeError("thrown on purpose"); },
  throwLater: () => (later(() => { throw new RangeError("thrown on purpose"); }), never()),
  exit0: () => process.exit(0),
  exit3: () => process.exit(3),
  exitCode: () => { process.exitCode = 7; process.stdin.destroy(); return never(); },
  never,
  kill: () => (process.kill(process.pid, "SIGKILL"), never()),
  terminate: () => (process.kill(process.pid, "SIGTERM"), never()),
  abort: () => process.abort(),
  ended: () => (process.stdout.end(), "fine"),
  stray: () => {
    console.log("a line for the people");
    process.stdout.write("{half a line");
    process.stdout.write(" and the other half\n");
    return "fine";
  },
};

const send = (message: object) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const text = (text: string) => ({ content: [{ type: "text", text }] });

async function callTool(fault: string) {
  try {
    return text(String(await faults[fault]()));
  } catch (error: any) {
    return { ...text(`${error.name}: ${error.message}`), isError: true };
  }
}

console.error("faults: hello");
await faults[process.env.FAULT ?? "none"]();

createInterface({ input: process.stdin })
  .on("line", async (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize") {
      const serverInfo = { name: "faults", version: "1" };
      send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
    } else if (method === "tools/list") {
      const inputSchema = { type: "object", properties: { fault: { type: "string" } } };
      send({ id, result: { tools: [{ name: "bad", inputSchema }] } });
    } else if (method === "tools/call") {
      send({ id, result: await callTool(params.arguments.fault) });
    }
  })
  .on("close", () => process.exit());
