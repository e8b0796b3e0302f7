/** node:stream: the readable-stream package, with conversions from and to web streams. @module */
import base from "readable-stream/lib/stream.js";
import { ERR_INVALID_ARG_TYPE } from "internal/errors";

const web = () => require("node:stream/web");

base.Readable.fromWeb = function (stream, options = {}) {
  if (typeof stream?.getReader !== "function") throw new ERR_INVALID_ARG_TYPE("readableStream", "ReadableStream", stream);
  const reader = stream.getReader();
  let done = false;
  const readable = new base.Readable({
    ...options,
    read() {
      reader.read().then((result) => {
        done = result.done;
        readable.push(done ? null : bytes(result.value, options));
      }, (error) => readable.destroy(error));
    },
    destroy(error, callback) {
      if (done) return callback(error);
      reader.cancel(error ?? undefined).then(() => callback(error), callback);
    },
  });
  reader.closed.catch((error) => readable.destroy(error));
  return readable;
};

const bytes = (value, options) => (options.objectMode || typeof value === "string" ? value : Buffer.from(value));

base.Readable.toWeb = function (readable) {
  const iterator = readable[Symbol.asyncIterator]();
  return new (web().ReadableStream)({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(Buffer.isBuffer(value) ? new Uint8Array(value.buffer, value.byteOffset, value.length) : value);
    },
    async cancel(reason) {
      readable.destroy(reason);
      await iterator.return?.();
    },
  }, { highWaterMark: 0 });
};

base.Writable.fromWeb = function (stream, options = {}) {
  if (typeof stream?.getWriter !== "function") throw new ERR_INVALID_ARG_TYPE("writableStream", "WritableStream", stream);
  const writer = stream.getWriter();
  const settle = (promise, callback) => promise.then(() => callback(), callback);
  return new base.Writable({
    ...options,
    write: (chunk, encoding, callback) => settle(writer.ready.then(() => writer.write(chunk)), callback),
    final: (callback) => settle(writer.close(), callback),
    destroy: (error, callback) => (error ? settle(writer.abort(error).then(() => Promise.reject(error)), callback) : callback(null)),
  });
};

base.Writable.toWeb = (writable) =>
  new (web().WritableStream)({
    start(controller) {
      writable.on("error", (error) => controller.error(error));
    },
    write: (chunk) =>
      new Promise((resolve, reject) => writable.write(chunk, (error) => (error ? reject(error) : resolve()))),
    close: () => new Promise((resolve) => writable.end(resolve)),
    abort: (reason) => void writable.destroy(reason),
  });

base.Duplex.fromWeb = ({ readable, writable }, options = {}) =>
  base.Duplex.from({ readable: base.Readable.fromWeb(readable, options), writable: base.Writable.fromWeb(writable, options) });
base.Duplex.toWeb = (duplex) => ({ readable: base.Readable.toWeb(duplex), writable: base.Writable.toWeb(duplex) });

export default base;
