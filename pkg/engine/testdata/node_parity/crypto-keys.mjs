// The keys of node:crypto that HMAC takes, and hashes at the end of a pipeline.
import { createHash, createHmac, createSecretKey, KeyObject, timingSafeEqual } from "node:crypto";
import { createReadStream, writeFileSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { types } from "node:util";

const fails = (name, task) => {
  try {
    console.log(name, task());
  } catch (error) {
    console.log(name, error.name, error.code, error.message);
  }
};

const key = createSecretKey(Buffer.from("secret"));
console.log(key.type, key.symmetricKeySize, key instanceof KeyObject, key.constructor === KeyObject, types.isKeyObject(key), types.isKeyObject({}));
console.log(key.export(), key.export({ format: "buffer" }).toString(), key.export({ format: "jwk" }));
console.log(createSecretKey("736563726574", "hex").equals(key), key.equals(createSecretKey("other", "utf8")), key.equals(createSecretKey("secre7")));
console.log(createSecretKey(new Uint8Array([1, 2]).buffer).symmetricKeySize, createSecretKey("").symmetricKeySize);
console.log(Object.prototype.toString.call(key), key.asymmetricKeyType, JSON.stringify(key));
const exported = key.export();
exported.fill(0);
console.log(key.export().toString());
for (const algorithm of ["sha256", "sha512"]) {
  console.log(createHmac(algorithm, key).update("data").digest("hex") === createHmac(algorithm, "secret").update("data").digest("hex"));
}
fails("createSecretKey", () => createSecretKey(7));
fails("createSecretKey", () => createSecretKey(undefined));
fails("createSecretKey", () => createSecretKey({}));
fails("export", () => key.export({ format: "pem" }));
fails("export", () => key.export(7));
fails("equals", () => key.equals(7));
fails("createHmac", () => createHmac("sha256", 7));
fails("createHmac", () => createHmac("sha256", {}));
fails("createHmac", () => createHmac("sha256"));
fails("new", () => new KeyObject("secret", {}));
fails("new", () => new KeyObject("x"));
fails("from", () => KeyObject.from(7));
const known = await crypto.subtle.importKey("raw", Buffer.from("secret"), { name: "HMAC", hash: "SHA-256" }, true, ["sign"]);
console.log(KeyObject.from(known).equals(key));

writeFileSync("data.txt", "x".repeat(200_000));
const hash = createHash("sha256");
await pipeline(createReadStream("data.txt"), hash);
console.log(hash.digest("hex"));
fails("again", () => hash.digest("hex"));
const read = createHash("sha1");
await pipeline(Readable.from(["a", "b"]), read);
console.log(read.read().toString("hex"), read.digest("base64"));
const encoded = createHash("md5").setEncoding("hex");
encoded.end("text");
for await (const text of encoded) console.log(text);
const mac = createHmac("sha256", key);
await pipeline(Readable.from(["a", "b"]), mac);
console.log(mac.read().toString("hex"));
fails("mac", () => mac.digest("hex"));
fails("mac again", () => mac.digest("hex"));
fails("mac again", () => mac.digest());
const direct = createHmac("md5", "k").update("x");
fails("direct", () => direct.digest("hex"));
fails("direct again", () => direct.digest("hex"));
fails("direct update", () => direct.update("hex"));
let sum = "";
await pipeline(Readable.from(["a", "b"]), createHash("sha1"), async (source) => {
  for await (const chunk of source) sum += chunk.toString("hex");
});
console.log(sum, timingSafeEqual(Buffer.from(sum), Buffer.from(sum)));
