/** Files as streams. @module */
import { Readable, Writable } from "node:stream";
import { ERR_OUT_OF_RANGE } from "internal/errors";
import { runAsync, descriptorCalls, optionsOf, pathOf } from "internal/files";

const pending = { path: undefined, fd: null };

/** Initializes a stream of a path, or of an open file. */
function prepare(stream, path, options, flags) {
  Object.assign(stream, pending, { flags: options.flags ?? flags, mode: options.mode ?? 0o666 });
  if (options.fd === undefined || options.fd === null) stream.path = typeof path === "string" || path instanceof Uint8Array ? path : pathOf(path);
  else stream.handle = options.fd;
  for (const name of ["start", "end"]) {
    const value = options[name];
    if (value !== undefined && value !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(value) && value >= 0)) {
      throw new ERR_OUT_OF_RANGE(name, `>= 0 && <= ${Number.MAX_SAFE_INTEGER}`, value);
    }
  }
}

function openFile(stream, callback) {
  const fd = typeof stream.handle === "number" ? stream.handle : stream.handle?.fd;
  const ready = fd === undefined ? runAsync(descriptorCalls.open(stream.path, stream.flags, stream.mode)) : Promise.resolve(fd);
  ready.then(
    (number) => {
      stream.fd = number;
      callback();
      stream.emit("open", number);
      stream.emit("ready");
    },
    callback,
  );
}

function closeFile(stream, error, callback) {
  const { fd, handle } = stream;
  stream.fd = null;
  if (fd === null || stream.autoClose === false) return callback(error);
  const done = typeof handle === "object" ? handle.close() : runAsync(descriptorCalls.close(fd));
  done.then(() => callback(error), (failure) => callback(error ?? failure));
}

const settings = (options) => {
  const { encoding, highWaterMark, emitClose, objectMode, signal, autoClose = true } = options;
  return { encoding, highWaterMark, emitClose, objectMode, signal, autoDestroy: autoClose };
};

export class ReadStream extends Readable {
  constructor(path, options = undefined) {
    const all = optionsOf(options);
    super({ ...settings(all), highWaterMark: all.highWaterMark ?? 65536 });
    prepare(this, path, all, "r");
    this.autoClose = all.autoClose ?? true;
    this.start = all.start;
    this.end = all.end ?? Number.POSITIVE_INFINITY;
    this.bytesRead = 0;
    if (this.start !== undefined && this.start > this.end) throw new ERR_OUT_OF_RANGE("start", `<= "end" (here: ${this.end})`, this.start);
  }

  get pending() {
    return this.fd === null;
  }

  _construct(callback) {
    openFile(this, callback);
  }

  _read(size) {
    const left = this.end - (this.start ?? 0) + 1 - this.bytesRead;
    const at = this.start === undefined ? undefined : this.start + this.bytesRead;
    if (left <= 0) return void this.push(null);
    const into = Buffer.allocUnsafeSlow(Math.min(size, left));
    runAsync(descriptorCalls.read(this.fd, into, 0, into.length, at)).then(
      ({ bytesRead }) => {
        this.bytesRead += bytesRead;
        this.push(bytesRead === 0 ? null : into.subarray(0, bytesRead));
      },
      (error) => this.destroy(error),
    );
  }

  _destroy(error, callback) {
    closeFile(this, error, callback);
  }

  close(callback = undefined) {
    if (callback) this.once("close", callback);
    this.destroy();
  }
}

export class WriteStream extends Writable {
  constructor(path, options = undefined) {
    const all = optionsOf(options);
    super({ ...settings(all), decodeStrings: true, defaultEncoding: all.encoding ?? "utf8" });
    prepare(this, path, all, all.start === undefined ? "w" : "r+");
    this.autoClose = all.autoClose ?? true;
    this.start = all.start;
    this.bytesWritten = 0;
  }

  get pending() {
    return this.fd === null;
  }

  _construct(callback) {
    openFile(this, callback);
  }

  _write(chunk, _encoding, callback) {
    this.#writeAll(chunk).then(() => callback(), callback);
  }

  async #writeAll(chunk) {
    for (let done = 0; done < chunk.length; ) {
      const at = this.start === undefined ? undefined : this.start + this.bytesWritten;
      const { bytesWritten } = await runAsync(descriptorCalls.write(this.fd, chunk, done, chunk.length - done, at));
      done += bytesWritten;
      this.bytesWritten += bytesWritten;
    }
  }

  _destroy(error, callback) {
    closeFile(this, error, callback);
  }

  close(callback = undefined) {
    if (callback) this.once("close", callback);
    this.end();
  }
}
