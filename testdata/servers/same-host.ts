// One tool that tells how the language, the web's globals and node's modules behave: everything here must be the same wherever it runs.
import assert from "node:assert";
import { Buffer } from "node:buffer";
import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { EventEmitter, once } from "node:events";
import * as fs from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { PassThrough, Readable } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";
import { format, inspect, isDeepStrictEqual, promisify } from "node:util";
import pkg from "./package.json" with { type: "json" };
import { trailblaze } from "../../sdks/typescript/src/index.js";

enum Colour { Red, Green = 5 }
namespace Inner { export const value = "inside" }
class Point { #x = 1; constructor(public y: number, readonly z = 3) {} get x() { return this.#x; } static made = 0; }

const caught = (work: () => unknown) => {
  try { return work(); } catch (error: any) { return `${error.name} ${error.code ?? ""} ${error.message}`; }
};

const facts: Record<string, () => unknown> = {
  typescript: () => [Colour[5], Colour.Red, Inner.value, { ...new Point(2) }, new Point(2).x, ({ a: 1 } satisfies object)],
  numbers: () => [0.1 + 0.2, 1e21, -0, 123456789.125.toFixed(2), (255).toString(16), Number("0x1f"), 5e-324, 2 ** 53, (25).toString(36), 1 / 3],
  json: () => [JSON.stringify({ b: 1, a: [undefined, () => 1, NaN, new Date(0), "\u2028\ud800"], u: undefined, m: new Map([[1, 2]]) }), JSON.parse('{"__proto__":1,"2":0,"1":0}')],
  order: () => [Object.keys({ b: 1, 2: 1, a: 1, 1: 1 }), [3, 1, 10, 2].sort(), ["b", "ä", "a", "Z"].sort(), [5, 1, 4].toSorted((a, b) => a - b)],
  text: () => ["İ".toLowerCase(), "ß".toUpperCase(), "e\u0301".normalize("NFC").length, "a-b-c".replaceAll("-", "+"), "😀".length, [..."😀x"].length, "x".padStart(3, "ab"), "abc".at(-1), " \u00a0x".trim()],
  patterns: () => ["2026-11-21".match(/(?<y>\d{4})-(?<m>\d\d)/)!.groups, "aBc".replace(/b/i, (s) => s + s), [..."a1b2".matchAll(/\d/g)].map((m) => m.index), /^\p{Lu}/u.test("Ä"), "x,y;z".split(/[,;]/), /(?<=\$)\d+/.exec("$42")![0]],
  dates: () => [new Date(0).toISOString(), Date.UTC(2026, 1, 30), new Date("2026-11-21T10:00:00+02:00").getTime(), new Date("nonsense").getTime(), Date.parse("2026-11-21")],
  collections: () => [[...new Set([1, 1, 2])], [...new Map([["a", 1]])], [1, 2, 3].findLast((n) => n < 3), structuredClone(new Map([["d", new Date(1)]])).get("d")!.getTime(), [1, [2, [3]]].flat(Infinity), Array.from({ length: 2 }, (_, i) => i)],
  bigint: () => [String(2n ** 70n), typeof 1n, Number(BigInt.asUintN(8, 257n))],
  errors: () => [caught(() => (null as any).x.y === 0 ? 1 : 2).toString().split(" ")[0], new Error("outer", { cause: "inner" }).cause, caught(() => new URL("no url")).toString().split(" ").slice(0, 2), caught(() => assert.strictEqual(1, 1) ?? "equal")],
  url: () => {
    const u = new URL("../b c?x=1&y=ä#h", "https://user:pw@example.com:8443/a/d/");
    u.searchParams.append("z", "a&b");
    return [u.href, u.host, u.pathname, [...u.searchParams], String(new URLSearchParams({ q: "ä +" })), URL.canParse("x"), fileURLToPath("file:///a%20b"), pathToFileURL("/a b#").href];
  },
  encoding: () => [[...new TextEncoder().encode("ö😀")], new TextDecoder().decode(new Uint8Array([0xc3, 0xb6, 0xff])), btoa("hello"), atob("aGk="), encodeURIComponent("a/ö"), decodeURIComponent("%C3%B6"), escape("ö")],
  buffer: () => [Buffer.from("ö").toString("hex"), Buffer.from("aGk", "base64").toString(), Buffer.concat([Buffer.from([1]), Buffer.alloc(2, 7)]).toJSON(), Buffer.byteLength("😀"), Buffer.from([1, 2, 3]).subarray(1).readUInt16BE(), Buffer.from("abc").equals(Buffer.from("abc")), Buffer.from("a_-", "base64url").length],
  crypto: () => [createHash("sha256").update("a").update("b").digest("hex"), createHash("md5").update("x").digest("base64"), createHmac("sha1", "key").update("x").digest("hex"), randomBytes(8).length, randomUUID().length, timingSafeEqual(Buffer.from("a"), Buffer.from("a")), crypto.getRandomValues(new Uint8Array(4)).length],
  path: () => [path.join("a", "..", "b", "/c"), path.resolve("/a", "../b"), path.relative("/a/b", "/a/c/d"), path.parse("/x/y.tar.gz"), path.extname(".x"), path.posix.normalize("/a//b/../c/"), path.win32.basename("C:\\x\\y.txt")],
  here: () => [path.basename(fileURLToPath(import.meta.url)), path.basename(import.meta.filename), path.basename(import.meta.dirname), path.basename(process.argv[1]), process.argv.slice(2)],
  process: () => [process.platform, process.cwd() === fs.realpathSync("."), process.env.SAME, process.env.NOBODY ?? null, typeof process.hrtime.bigint(), process.exitCode ?? null, os.EOL, os.platform(), os.tmpdir().length > 0, typeof process.memoryUsage().heapUsed, process.uptime() >= 0],
  util: () => [format("%s %d %j %%", "a", 1.5, { b: 2 }), inspect({ a: [1, { b: { c: {} } }], s: "x" }), inspect("it's"), isDeepStrictEqual({ a: [1, new Set([2])] }, { a: [1, new Set([2])] }), isDeepStrictEqual([0], [-0])],
  imports: () => pkg.name,
};

const slowFacts: Record<string, () => Promise<unknown>> = {
  files: async () => {
    const dir = await mkdtemp(path.join(os.tmpdir(), "same-"));
    const file = path.join(dir, "ö.txt");
    await writeFile(file, "one\n");
    fs.appendFileSync(file, "two\n");
    const missing = await readFile(path.join(dir, "none")).catch((error) => [error.code, error.syscall, error.errno, error.message.replace(dir, "")]);
    const found = [await readFile(file, "utf8"), fs.readFileSync(file).length, await readdir(dir), fs.statSync(file).isFile(), fs.existsSync(dir), missing, caught(() => fs.readdirSync(file)).toString().replace(file, "")];
    await rm(dir, { recursive: true });
    return [...found, fs.existsSync(dir)];
  },
  turns: async () => {
    const turns: string[] = [];
    const all = [
      new Promise<void>((done) => setTimeout(() => (turns.push("timer"), done()), 1)),
      new Promise<void>((done) => process.nextTick(() => (turns.push("tick"), done()))),
      Promise.resolve().then(() => turns.push("promise")),
      new Promise<void>((done) => queueMicrotask(() => (turns.push("microtask"), done()))),
    ];
    turns.push("now");
    await Promise.all(all);
    return turns.filter((turn) => turn !== "tick"); // where ticks come among promises is not the same on bun and node
  },
  events: async () => {
    const e = new EventEmitter();
    const heard: unknown[] = [];
    e.on("x", (...args) => heard.push(args)).once("x", () => heard.push("once"));
    queueMicrotask(() => e.emit("y", 7));
    const [y] = await once(e, "y");
    return [e.emit("x", 1, 2), e.emit("x"), e.emit("nobody"), e.listenerCount("x"), heard, y, caught(() => e.emit("error", new Error("unheard")))];
  },
  streams: async () => {
    const through = new PassThrough();
    Readable.from(["a", "b"]).pipe(through);
    let all = "";
    for await (const chunk of through) all += chunk;
    return all;
  },
  signals: async () => {
    const stop = new AbortController();
    const heard = once(stop.signal as any, "abort").then(() => "heard");
    stop.abort();
    const timeout = AbortSignal.timeout(1);
    await new Promise((done) => timeout.addEventListener("abort", done));
    return [await heard, stop.signal.aborted, stop.signal.reason.name, timeout.reason.name, AbortSignal.any([stop.signal]).aborted];
  },
  digest: async () => Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode("x"))).toString("hex"),
  promises: async () => [await Promise.allSettled([1, Promise.reject(new Error("no"))]).then((all) => all.map((one) => one.status)), await Promise.any([Promise.reject(0), 2]), await promisify((x: number, done: (e: null, y: number) => void) => done(null, x + 1))(1)],
};

trailblaze.tool("facts", {}, async () => {
  let found = "";
  for (const [name, work] of Object.entries({ ...facts, ...slowFacts })) {
    found += `${name} ${JSON.stringify(await Promise.resolve().then(work).catch((error) => `${error?.name}: ${error?.message}`))}\n`;
  }
  return found;
});
await trailblaze.run();
