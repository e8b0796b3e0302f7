/** The hashes of node:crypto, which are streams too. @module */
import { Transform } from "node:stream";
import { bytesOf, coded, encoded } from "internal/crypto_bytes";

/** What waits to be hashed before the host is asked, in bytes. */
const batch = 1 << 18;

/** A hash that is given its data by and by: a state of the host's, and what the host was not told yet. */
class Running {
  constructor(algorithm) {
    this.algorithm = algorithm;
    this.state = undefined;
    this.waiting = [];
    this.size = 0;
  }

  update(bytes) {
    this.waiting.push(bytes.slice());
    this.size += bytes.length;
    if (this.size >= batch) this.state = host.call("crypto.update", this.algorithm, this.state, this.#take());
  }

  #take() {
    const all = this.waiting.length === 1 ? this.waiting[0] : Buffer.concat(this.waiting);
    this.waiting = [];
    this.size = 0;
    return all;
  }

  digest() {
    return host.call("crypto.digest", this.algorithm, this.state, this.#take());
  }

  copy() {
    const other = new Running(this.algorithm);
    Object.assign(other, { state: this.state, waiting: [...this.waiting], size: this.size });
    return other;
  }
}

/** What createHash and createHmac have in common. */
class Digest extends Transform {
  #done = false;

  update(data, encoding) {
    if (this.#done) throw coded(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
    this.running.update(bytesOf(data, encoding));
    return this;
  }

  digest(encoding) {
    if (this.#done) throw coded(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
    this.#done = true;
    return encoded(this.finished(), encoding);
  }

  get finalized() {
    return this.#done;
  }

  _transform(chunk, encoding, callback) {
    this.update(chunk, encoding);
    callback();
  }

  _flush(callback) {
    this.push(this.digest());
    callback();
  }
}

export class Hash extends Digest {
  constructor(algorithm, options) {
    super(options);
    this.running = algorithm instanceof Running ? algorithm : new Running(algorithm);
  }

  finished() {
    return this.running.digest();
  }

  copy() {
    if (this.finalized) throw coded(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
    return new Hash(this.running.copy());
  }
}

export class Hmac extends Digest {
  constructor(algorithm, block, key, options) {
    super(options);
    const padded = new Uint8Array(block);
    padded.set(key.length > block ? host.call("crypto.hash", algorithm, key) : key);
    this.running = new Running(algorithm);
    this.running.update(padded.map((byte) => byte ^ 0x36));
    this.outer = new Running(algorithm);
    this.outer.update(padded.map((byte) => byte ^ 0x5c));
  }

  finished() {
    this.outer.update(this.running.digest());
    return this.outer.digest();
  }
}
