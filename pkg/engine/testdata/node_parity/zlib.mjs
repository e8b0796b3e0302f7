// node:zlib. What compressed bytes are is the library's; what they mean is not.
import zlib from "node:zlib";
import { constants, createDeflateRaw, createGunzip, createGzip, createInflateRaw, gunzipSync, gzip, gzipSync } from "node:zlib";
import { randomBytes } from "node:crypto";
import { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";

const fails = (name, task) => {
  try {
    console.log(name, `${task()}`);
  } catch (error) {
    console.log(name, error.name, error.code, error.errno, error.message);
  }
};
const later = (name, promise) => promise.then((value) => console.log(name, `${value}`), (error) => console.log(name, error.name, error.code, error.errno, error.message));

const big = Buffer.concat([randomBytes(60_000), Buffer.alloc(100_000, "wörds and "), Buffer.alloc(100_000)]);
const pairs = [["gzip", "gunzip"], ["deflate", "inflate"], ["deflateRaw", "inflateRaw"], ["gzip", "unzip"], ["deflate", "unzip"]];
for (const [pack, unpack] of pairs) {
  for (const options of [undefined, { level: 0 }, { level: 1 }, { level: 9 }, { strategy: constants.Z_HUFFMAN_ONLY }, { level: 6, memLevel: 9, windowBits: 15 }]) {
    const packed = zlib[`${pack}Sync`](big, options);
    console.log(pack, unpack, zlib[`${unpack}Sync`](packed).equals(big), packed.length < 200_000);
  }
  const packed = await promisify(zlib[pack])("short");
  console.log(Buffer.isBuffer(packed), (await promisify(zlib[unpack])(packed, {})).toString(), zlib[`${unpack}Sync`](zlib[`${pack}Sync`]("")).length);
  const made = (name) => zlib[`create${name[0].toUpperCase()}${name.slice(1)}`]();
  const sums = [];
  await pipeline(Readable.from([big.subarray(0, 9), big.subarray(9, 70_000), big.subarray(70_000)]), made(pack), made(unpack), new Writable({
    write(chunk, _, done) {
      sums.push(chunk);
      setImmediate(done);
    },
  }));
  console.log("streamed", Buffer.concat(sums).equals(big));
}
// What node made.
console.log(gunzipSync(Buffer.from("H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA==", "base64")).toString());
console.log(zlib.inflateSync(Buffer.from("eJzLSM3JyQcABiwCFQ==", "base64")).toString(), zlib.inflateRawSync(Buffer.from("y0jNyckHAA==", "base64")).toString());
console.log(gzipSync("x").subarray(0, 10), gzipSync("x", { level: 9 }).subarray(0, 10));

for (const name of ["gunzipSync", "inflateSync", "inflateRawSync", "unzipSync"]) {
  fails(`${name}, nothing`, () => zlib[name](""));
  if (name !== "inflateRawSync") fails(`${name}, no archive`, () => zlib[name]("hello"));
}
const file = gzipSync("hello");
const bytes = (...parts) => Buffer.concat(parts.map((part) => Buffer.from(part)));
fails("zeros after it", () => gunzipSync(bytes(file, Buffer.alloc(20))));
fails("something after it", () => gunzipSync(bytes(file, "XXXXXXXXXXXXXXXX")));
fails("two", () => gunzipSync(bytes(file, file)) + zlib.unzipSync(bytes(file, file)));
fails("half a second one", () => gunzipSync(bytes(file, [0x1f, 0x8b])));
fails("cut", () => gunzipSync(file.subarray(0, -3)));
fails("cut and content", () => gunzipSync(file.subarray(0, -3), { finishFlush: constants.Z_SYNC_FLUSH }));
fails("cut in the middle", () => zlib.inflateSync(zlib.deflateSync("hello hello hello").subarray(0, -8)));
const damaged = Buffer.from(file);
damaged[damaged.length - 6] ^= 1;
fails("damaged", () => gunzipSync(damaged));
fails("after zlib's end", () => zlib.inflateSync(bytes(zlib.deflateSync("hello"), "xxx")));
const bomb = gzipSync(Buffer.alloc(1_000_000));
fails("too large", () => gunzipSync(bomb, { maxOutputLength: 1000 }));
await later("too large", promisify(zlib.gunzip)(bomb, { maxOutputLength: 1000 }));
await later("no archive", promisify(zlib.gunzip)("hello"));
const dictionary = Buffer.from("hello");
const said = zlib.deflateSync("hello hello", { dictionary });
fails("dictionary", () => zlib.inflateSync(said, { dictionary }));
fails("no dictionary", () => zlib.inflateSync(said));
fails("another dictionary", () => zlib.inflateSync(said, { dictionary: Buffer.from("nope") }));
fails("raw, with a dictionary", () => zlib.inflateRawSync(zlib.deflateRawSync("hello hello", { dictionary }), { dictionary }));

fails("number", () => gzipSync(7));
fails("nothing", () => gzipSync());
fails("level", () => gzipSync("", { level: 10 }));
fails("level", () => gzipSync("", { level: "x" }));
fails("window", () => createGzip({ windowBits: 3 }));
fails("chunk", () => createGzip({ chunkSize: 3 }));
fails("callback", () => gzip("a"));
fails("callback", () => gzip("a", {}));
fails("dictionary", () => zlib.inflateSync("", { dictionary: 7 }));
fails("views", () => gunzipSync(gzipSync(new Uint16Array([104, 105]))).equals(Buffer.from([104, 0, 105, 0])));
console.log(zlib.crc32("hello"), zlib.crc32(Buffer.from("lo"), zlib.crc32("hel")));

// Streams.
console.log(createGunzip() instanceof zlib.Gunzip, new zlib.Gzip() instanceof zlib.Gzip, createGzip() instanceof zlib.Gunzip, createGzip().constructor.name);
await later("stream, no archive", text(Readable.from([Buffer.from("hello")]).pipe(createGunzip())));
const empty = createGunzip();
await later("stream, nothing", new Promise((resolve, reject) => empty.on("error", reject).on("end", resolve).resume().end()));
const lenient = createGunzip({ flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH });
lenient.end(file.subarray(0, -3));
console.log(await text(lenient));
const byByte = createGunzip();
for (const byte of bytes(file, file)) byByte.write(Buffer.from([byte]));
byByte.end();
console.log(await text(byByte), byByte.bytesWritten === 2 * file.length);

// What is flushed can be read at once, on both sides.
const packer = createDeflateRaw();
const unpacker = createInflateRaw();
packer.pipe(unpacker);
for (const word of ["one", "two", "three"]) {
  packer.write(word);
  const arrived = new Promise((resolve) => unpacker.once("data", resolve));
  await new Promise((resolve) => packer.flush(constants.Z_SYNC_FLUSH, resolve));
  console.log(`${await arrived}`);
}
packer.destroy();
unpacker.close(() => console.log("closed", unpacker.destroyed));
const again = createGzip();
again.on("data", () => {});
again.write("x");
await new Promise((resolve) => again.flush(resolve));
again.reset();
again.end("y");
await new Promise((resolve) => again.on("end", resolve));

// Who does not read is not flooded.
const slow = createGunzip();
let pushed = 0;
const { push } = slow;
slow.push = function (chunk) {
  pushed += chunk?.length ?? 0;
  return push.call(this, chunk);
};
slow.end(gzipSync(Buffer.alloc(10_000_000)));
await new Promise((resolve) => slow.once("readable", resolve));
for (let i = 0; i < 20; i++) await new Promise(setImmediate);
console.log(pushed < 1_000_000);
let sum = 0;
for await (const chunk of slow) sum += chunk.length;
console.log(sum);
console.log(constants, zlib.codes.Z_DATA_ERROR, zlib.codes[-5], zlib.Z_DEFAULT_WINDOWBITS);
createGunzip().write(file.subarray(0, 5)); // what is open does not keep a process alive
