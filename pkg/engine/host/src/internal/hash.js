/** Hash and Hmac of node:crypto. @module */
import { Transform } from "node:stream";
import { bytesOf, coded, encoded } from "internal/crypto_bytes";

/** Number of bytes that are collected before they are passed to the host. */
const batchSize = 1 << 18;

/** An incremental hash: the serialized state of the host's hash, and data that was not yet passed to it. */
class IncrementalHash {
  constructor(algorithm) {
    this.algorithm = algorithm;
    this.state = undefined;
    this.waiting = [];
    this.size = 0;
  }

  update(bytes) {
    this.waiting.push(bytes.slice());
    this.size += bytes.length;
    if (this.size >= batchSize) this.state = host.call("crypto.update", this.algorithm, this.state, this.#takeWaiting());
  }

  #takeWaiting() {
    const all = this.waiting.length === 1 ? this.waiting[0] : Buffer.concat(this.waiting);
    this.waiting = [];
    this.size = 0;
    return all;
  }

  digest() {
    return host.call("crypto.digest", this.algorithm, this.state, this.#takeWaiting());
  }

  copy() {
    const other = new IncrementalHash(this.algorithm);
    Object.assign(other, { state: this.state, waiting: [...this.waiting], size: this.size });
    return other;
  }
}

/** The base class of Hash and Hmac. */
class Digest extends Transform {
  #digested = false;

  update(data, encoding) {
    this.requireOpen();
    this.running.update(bytesOf(data, encoding));
    return this;
  }

  digest(encoding) {
    this.#digested = true;
    return encoded(this.finish(), encoding);
  }

  requireOpen() {
    if (this.#digested) throw coded(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
  }

  _transform(chunk, encoding, callback) {
    this.running.update(bytesOf(chunk, encoding));
    callback();
  }

  _flush(callback) {
    this.push(Buffer.from(this.finish()));
    callback();
  }
}

/** digest may be called once, also after the end of the stream. */
export class Hash extends Digest {
  #sum;

  constructor(algorithm, options) {
    super(options);
    this.running = algorithm instanceof IncrementalHash ? algorithm : new IncrementalHash(algorithm);
  }

  digest(encoding) {
    this.requireOpen();
    return super.digest(encoding);
  }

  finish() {
    this.#sum ??= this.running.digest();
    return this.#sum;
  }

  copy() {
    this.requireOpen();
    return new Hash(this.running.copy());
  }
}

/** A second digest is empty, as in node. */
export class Hmac extends Digest {
  #finished = false;

  constructor(algorithm, block, key, options) {
    super(options);
    const padded = new Uint8Array(block);
    padded.set(key.length > block ? host.call("crypto.hash", algorithm, key) : key);
    this.running = new IncrementalHash(algorithm);
    this.running.update(padded.map((byte) => byte ^ 0x36));
    this.outer = new IncrementalHash(algorithm);
    this.outer.update(padded.map((byte) => byte ^ 0x5c));
  }

  finish() {
    if (this.#finished) return new Uint8Array();
    this.#finished = true;
    this.outer.update(this.running.digest());
    return this.outer.digest();
  }
}
