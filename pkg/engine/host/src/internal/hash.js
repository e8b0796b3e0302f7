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
    this.mustBeOpen();
    this.running.update(bytesOf(data, encoding));
    return this;
  }

  digest(encoding) {
    this.#done = true;
    return encoded(this.finished(), encoding);
  }

  mustBeOpen() {
    if (this.#done) throw coded(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
  }

  _transform(chunk, encoding, callback) {
    this.running.update(bytesOf(chunk, encoding));
    callback();
  }

  _flush(callback) {
    this.push(Buffer.from(this.finished()));
    callback();
  }
}

/** Its digest can be asked for once, after its end as a stream too. */
export class Hash extends Digest {
  #sum;

  constructor(algorithm, options) {
    super(options);
    this.running = algorithm instanceof Running ? algorithm : new Running(algorithm);
  }

  digest(encoding) {
    this.mustBeOpen();
    return super.digest(encoding);
  }

  finished() {
    this.#sum ??= this.running.digest();
    return this.#sum;
  }

  copy() {
    this.mustBeOpen();
    return new Hash(this.running.copy());
  }
}

/** Its digest is empty when it was taken before. */
export class Hmac extends Digest {
  #over = false;

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
    if (this.#over) return new Uint8Array();
    this.#over = true;
    this.outer.update(this.running.digest());
    return this.outer.digest();
  }
}
