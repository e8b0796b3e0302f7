// node:fs with callbacks, promises and streams.
import fs from "node:fs";
import { mkdir, open, readFile, readdir, rm, stat, writeFile, access, appendFile, cp, mkdtemp, realpath, copyFile, rename, unlink, opendir } from "node:fs/promises";
import { promisify } from "node:util";
import { pipeline } from "node:stream/promises";

const facts = ({ name, code, errno, syscall, path, dest, message }) => JSON.stringify({ name, code, errno, syscall, path, dest, message });
const fails = async (name, promise) => console.log(name, await promise.then((value) => JSON.stringify(value), facts));
const callback = (call, ...args) => new Promise((resolve) => call(...args, (...given) => resolve(given)));

console.log(await callback(fs.writeFile, "a", "text"));
console.log(await callback(fs.readFile, "a", "utf8"));
console.log((await callback(fs.readFile, "nowhere")).map((e) => facts(e)));
console.log(await callback(fs.mkdir, "d"), await callback(fs.readdir, "."), await callback(fs.access, "a"));
console.log((await callback(fs.stat, "a"))[1].size, await callback(fs.exists, "a"));
const [, fd] = await callback(fs.open, "a", "r");
const into = Buffer.alloc(8);
console.log(await callback(fs.read, fd, into, 0, 4, 0));
console.log(await promisify(fs.read)(fd, into, 0, 2, 1));
console.log(await callback(fs.close, fd));
try {
  fs.readFile("a");
} catch (error) {
  console.log(facts(error));
}
try {
  fs.readFile(7.5, () => {});
} catch (error) {
  console.log(error.code);
}

await writeFile("b", "héllo");
console.log(await readFile("b", { encoding: "utf8" }), await readFile("b"));
await appendFile("b", "!");
await writeFile("c", (async function* () {
  yield "one ";
  yield "two";
})());
console.log(await readFile("c", "utf8"));
await mkdir("x/y/z", { recursive: true });
console.log(await readdir("x", { recursive: true }), (await stat("x")).isDirectory());
await cp("x", "copied", { recursive: true });
await copyFile("b", "copied/b");
await rename("copied/b", "copied/c");
console.log(await readdir("copied"), await realpath("x") === `${process.cwd()}/x`, (await mkdtemp("temp-")).length);
for await (const entry of await opendir("copied")) console.log(entry.name);
await unlink("copied/c");
await rm("copied", { recursive: true });
await fails("readFile", readFile("nowhere"));
await fails("folder", readFile("x"));
await fails("access", access("nowhere"));
await fails("stat", stat("nowhere"));
await fails("realpath", realpath("nowhere"));
await fails("rm", rm("x"));
await fails("rm, missing", rm("nowhere"));
await fails("mkdir", mkdir("x"));
await fails("path", readFile(undefined));
await fails("null byte", readFile("a\0"));
await fails("aborted", readFile("a", { signal: AbortSignal.abort() }));

const handle = await open("h", "w+");
console.log(typeof handle.fd, (await handle.write("0123456789")).bytesWritten, (await handle.read(Buffer.alloc(4), 0, 4, 2)).buffer.toString());
await handle.writeFile("more");
await handle.truncate(12);
console.log((await handle.stat()).size, await readFile("h", "utf8"));
await handle.close();
await fails("closed", handle.read(Buffer.alloc(1)));
const again = await open("h");
console.log(await again.readFile("utf8"));
await again.close();
const lines = await open("lines", "w+");
await lines.writeFile("one\ntwo\nthree");
await lines.close();
for await (const line of (await open("lines")).readLines()) console.log("line", line);

const events = [];
const out = fs.createWriteStream("s");
for (const name of ["open", "ready", "finish", "close"]) out.on(name, () => events.push(name));
out.write("first ");
out.end("second");
await new Promise((resolve) => out.on("close", resolve));
console.log(events, out.bytesWritten, await readFile("s", "utf8"));
let text = "";
for await (const chunk of fs.createReadStream("s", { encoding: "utf8", highWaterMark: 5 })) text += `[${chunk}]`;
console.log(text);
for await (const chunk of fs.createReadStream("s", { start: 2, end: 6 })) console.log(chunk.toString());
await pipeline(fs.createReadStream("s"), fs.createWriteStream("s2"));
console.log(await readFile("s2", "utf8"));
await new Promise((resolve) => fs.createReadStream("nowhere").on("error", (error) => resolve(console.log(facts(error)))));
await new Promise((resolve) => fs.createWriteStream("no/where").on("error", (error) => resolve(console.log(facts(error)))));
fs.createWriteStream("s", { flags: "a" }).end("!", () => console.log(fs.readFileSync("s", "utf8")));
