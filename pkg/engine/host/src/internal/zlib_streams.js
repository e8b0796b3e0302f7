/** The streams of node:zlib. @module */
import { Transform } from "node:stream";
import { buffer } from "internal/crypto_bytes";
import { constants } from "internal/zlib_constants";

const hasMore = 1;
const ended = 2;
const flushKind = Symbol("kind of flush");

class ZlibBase extends Transform {
  #settings;
  #id;
  #over = false;
  #resume;

  bytesWritten = 0;

  constructor(settings, options) {
    super({ ...options, decodeStrings: true, objectMode: false, writableObjectMode: false, readableObjectMode: false });
    this.#settings = settings;
    this.flushWith = options.flush ?? constants.Z_NO_FLUSH;
    this.finishWith = options.finishFlush ?? constants.Z_FINISH;
  }

  _transform(chunk, _encoding, callback) {
    this.#feed(chunk, chunk[flushKind] ?? this.flushWith, false).then(() => callback(), callback);
  }

  _flush(callback) {
    this.#feed(new Uint8Array(), this.finishWith, true).then(() => callback(), callback);
  }

  /** Pushes what comes of the data. While nobody reads, nothing more is made. */
  async #feed(data, flush, last) {
    this.#id ??= host.call("zlib.open", ...this.#settings);
    this.bytesWritten += data.length;
    for (let state = hasMore; state === hasMore && !this.#over && !this.destroyed; data = undefined) {
      let out;
      [out, state] = await host.start("zlib.step", this.#id, data, flush, last);
      if (state === ended) this.#over = true;
      if (out?.length > 0 && !this.push(buffer(out)) && state === hasMore) await new Promise((resolve) => (this.#resume = resolve));
    }
    if (last) this.#release();
  }

  _read(size) {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
    super._read(size);
  }

  _destroy(error, callback) {
    this.#release();
    callback(error);
  }

  #release() {
    if (this.#id !== undefined) host.call("zlib.close", this.#id);
    this.#id = undefined;
    this.#over = true;
  }

  flush(kind, callback) {
    if (typeof kind === "function" || kind === undefined) [kind, callback] = [constants.Z_FULL_FLUSH, kind];
    if (this.writableFinished) {
      if (callback) process.nextTick(callback);
    } else if (this.writableEnded) {
      if (callback) this.once("end", callback);
    } else {
      this.write(Object.assign(Buffer.alloc(0), { [flushKind]: kind }), callback);
    }
  }

  reset() {
    if (this.#id !== undefined) host.call("zlib.close", this.#id);
    this.#id = undefined;
    this.#over = false;
  }

  close(callback = undefined) {
    if (callback) this.once("close", callback);
    this.destroy();
  }
}

/** @type {Map<string, typeof ZlibBase>} */
const classes = new Map();

/** The class of a format's streams. */
export function streamOf(format, name, settingsOf) {
  if (!classes.has(format)) {
    const made = {
      [name]: class extends ZlibBase {
        constructor(options = {}) {
          super(settingsOf(format, options ?? {}), options ?? {});
        }
      },
    };
    classes.set(format, made[name]);
  }
  return classes.get(format);
}
