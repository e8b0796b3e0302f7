/** The streams of node:zlib. @module */
import { Transform } from "node:stream";
import { buffer } from "internal/crypto_bytes";
import { constants } from "internal/zlib_constants";

const hasMore = 1;
const ended = 2;
const flushKey = Symbol("kind of flush");

class ZlibBase extends Transform {
  #args;
  #id;
  #ended = false;
  #resume;

  bytesWritten = 0;

  constructor(settings, options) {
    super({ ...options, decodeStrings: true, objectMode: false, writableObjectMode: false, readableObjectMode: false });
    this.#args = settings;
    this.flushWith = options.flush ?? constants.Z_NO_FLUSH;
    this.finishWith = options.finishFlush ?? constants.Z_FINISH;
  }

  _transform(chunk, _encoding, callback) {
    this.#process(chunk, chunk[flushKey] ?? this.flushWith, false).then(() => callback(), callback);
  }

  _flush(callback) {
    this.#process(new Uint8Array(), this.finishWith, true).then(() => callback(), callback);
  }

  /** Pushes the output for the data. It waits while the readable side is full. */
  async #process(data, flush, last) {
    this.#id ??= host.call("zlib.open", ...this.#args);
    this.bytesWritten += data.length;
    for (let state = hasMore; state === hasMore && !this.#ended && !this.destroyed; data = undefined) {
      let out;
      [out, state] = await host.callAsync("zlib.step", this.#id, data, flush, last);
      if (state === ended) this.#ended = true;
      if (out?.length > 0 && !this.push(buffer(out)) && state === hasMore) await new Promise((resolve) => (this.#resume = resolve));
    }
    if (last) this.#closeHandle();
  }

  _read(size) {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
    super._read(size);
  }

  _destroy(error, callback) {
    this.#closeHandle();
    callback(error);
  }

  #closeHandle() {
    if (this.#id !== undefined) host.call("zlib.close", this.#id);
    this.#id = undefined;
    this.#ended = true;
  }

  flush(kind, callback) {
    if (typeof kind === "function" || kind === undefined) [kind, callback] = [constants.Z_FULL_FLUSH, kind];
    if (this.writableFinished) {
      if (callback) process.nextTick(callback);
    } else if (this.writableEnded) {
      if (callback) this.once("end", callback);
    } else {
      this.write(Object.assign(Buffer.alloc(0), { [flushKey]: kind }), callback);
    }
  }

  reset() {
    if (this.#id !== undefined) host.call("zlib.close", this.#id);
    this.#id = undefined;
    this.#ended = false;
  }

  close(callback = undefined) {
    if (callback) this.once("close", callback);
    this.destroy();
  }
}

/** @type {Map<string, typeof ZlibBase>} */
const classes = new Map();

/** Returns the stream class of a format. */
export function zlibClass(format, name, streamArgs) {
  if (!classes.has(format)) {
    const made = {
      [name]: class extends ZlibBase {
        constructor(options = {}) {
          super(streamArgs(format, options ?? {}), options ?? {});
        }
      },
    };
    classes.set(format, made[name]);
  }
  return classes.get(format);
}
