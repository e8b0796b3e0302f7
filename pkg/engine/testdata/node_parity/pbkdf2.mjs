// Keys of PBKDF2, of no, one and many blocks, at once and later.
import crypto from "node:crypto";

for (const digest of ["sha1", "sha256", "sha512", "md5", "sha3-256"])
  for (const size of [0, 1, 16, 32, 65, 200])
    for (const rounds of [1, 2, 1001]) {
      const now = crypto.pbkdf2Sync("pässword", Buffer.from([1, 2, 0]), rounds, size, digest).toString("hex");
      const later = await new Promise((done) => crypto.pbkdf2("pässword", Buffer.from([1, 2, 0]), rounds, size, digest, (_, key) => done(key)));
      console.log(digest, size, rounds, now, later.toString("hex") === now);
    }
console.log(crypto.pbkdf2Sync("", "", 3, 20, "sha256").toString("hex"), crypto.pbkdf2Sync("k".repeat(300), "s".repeat(300), 3, 20, "sha256").toString("hex"));
