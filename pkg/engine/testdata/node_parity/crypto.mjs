// node:crypto and the crypto of the web.
import crypto from "node:crypto";
import { createHash, createHmac, getHashes, hash, hkdfSync, pbkdf2, pbkdf2Sync, randomBytes, randomInt, randomUUID, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

const fails = (name, task) => {
  try {
    console.log(name, task());
  } catch (error) {
    console.log(name, error.name, error.code, error.message);
  }
};

for (const algorithm of ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha512-256", "sha3-256", "SHA256"]) {
  console.log(algorithm, createHash(algorithm).update("hello").digest("hex"), createHmac(algorithm, "key").update("hello").digest("base64"));
}
console.log(createHash("sha256").update("a").update(Buffer.from("b")).update(new Uint8Array([99])).digest());
console.log(createHash("sha256").update("616263", "hex").digest("base64url"), createHash("md5").digest("hex"));
const big = createHash("sha256");
for (let i = 0; i < 50; i++) big.update(Buffer.alloc(10007, i));
const copy = big.copy();
console.log(big.digest("hex"), copy.update("x").digest("hex"));
console.log(createHmac("sha512", Buffer.alloc(300, 7)).update("long key").digest("hex"));
fails("unknown hash", () => createHash("klingon"));
fails("unknown hmac", () => createHmac("klingon", "k"));
fails("twice", () => {
  const h = createHash("md5");
  h.digest();
  h.digest();
});
fails("after the end", () => {
  const h = createHash("md5");
  h.digest();
  h.update("x");
});
fails("update", () => createHash("md5").update(7));
fails("update nothing", () => createHash("md5").update(undefined));
console.log(["md5", "sha1", "sha256", "sha512"].every((name) => getHashes().includes(name)));
const streamed = createHash("sha1");
await pipeline(Readable.from([Buffer.from("stre"), Buffer.from("amed")]), streamed);
console.log(streamed.digest === undefined, streamed.read().toString("hex"));

console.log(randomBytes(16).length, Buffer.isBuffer(randomBytes(1)), randomBytes(8).equals(randomBytes(8)));
console.log((await promisify(randomBytes)(4)).length);
console.log(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(randomUUID()), randomUUID() === randomUUID());
const drawn = Array.from({ length: 200 }, () => randomInt(5, 8));
console.log(Math.min(...drawn), Math.max(...drawn), randomInt(1));
fails("randomInt", () => randomInt(3, 3));
fails("randomBytes", () => randomBytes(-1));
fails("randomBytes, text", () => randomBytes("7"));
console.log(timingSafeEqual(Buffer.from("abc"), Buffer.from("abc")), timingSafeEqual(Buffer.from("abc"), Buffer.from("abd")));
fails("timingSafeEqual", () => timingSafeEqual(Buffer.from("abc"), Buffer.from("ab")));
console.log(pbkdf2Sync("secret", "salt", 1000, 24, "sha256").toString("hex"));
console.log((await promisify(pbkdf2)("secret", "salt", 10, 24, "sha512")).toString("hex"));
console.log(Buffer.from(hkdfSync("sha256", "key", "salt", "info", 20)).toString("hex"));
fails("pbkdf2", () => pbkdf2Sync("a", "b", 0, 1, "sha1"));
fails("pbkdf2, digest", () => pbkdf2Sync("a", "b", 1, 1, "klingon"));

const { subtle } = globalThis.crypto;
const hex = (data) => Buffer.from(data).toString("hex");
for (const algorithm of ["SHA-1", "sha-256", { name: "SHA-384" }, "SHA-512"]) {
  console.log(hex(await subtle.digest(algorithm, new TextEncoder().encode("hello"))));
}
console.log((await subtle.digest("SHA-256", new ArrayBuffer(3))) instanceof ArrayBuffer);
await subtle.digest("MD5", new Uint8Array()).catch((error) => console.log(error.name, error.message, error instanceof DOMException));
const key = await subtle.importKey("raw", Buffer.from("secret"), { name: "HMAC", hash: "SHA-256" }, true, ["sign", "verify"]);
const signature = await subtle.sign("HMAC", key, Buffer.from("message"));
console.log(hex(signature), await subtle.verify("HMAC", key, signature, Buffer.from("message")), await subtle.verify("HMAC", key, signature, Buffer.from("other")));
console.log(key.type, key.extractable, key.algorithm.name, key.algorithm.hash.name, key.usages, hex(await subtle.exportKey("raw", key)));
const password = await subtle.importKey("raw", Buffer.from("pass"), "PBKDF2", false, ["deriveBits"]);
console.log(hex(await subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt: Buffer.from("s"), iterations: 100 }, password, 128)));
const array = new Uint32Array(4);
console.log(globalThis.crypto.getRandomValues(array) === array, array.some((n) => n !== 0), globalThis.crypto.randomUUID().length);
fails("getRandomValues", () => globalThis.crypto.getRandomValues(new Uint8Array(65537)));
fails("getRandomValues, floats", () => globalThis.crypto.getRandomValues(new Float32Array(1)));
console.log(typeof crypto.webcrypto.subtle.digest, crypto.webcrypto === globalThis.crypto);
