/** node:stream: the readable-stream package, with the ways from and to the streams of the web. @module */
import Stream from "readable-stream/lib/stream.js";
import { ERR_INVALID_ARG_TYPE } from "internal/errors";

const { Duplex, Readable, Writable } = Stream;
const web = () => require("node:stream/web");

Readable.fromWeb = function (stream, options = {}) {
  if (typeof stream?.getReader !== "function") throw new ERR_INVALID_ARG_TYPE("readableStream", "ReadableStream", stream);
  const reader = stream.getReader();
  let done = false;
  const readable = new Readable({
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

Readable.toWeb = function (readable) {
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

Writable.fromWeb = function (stream, options = {}) {
  if (typeof stream?.getWriter !== "function") throw new ERR_INVALID_ARG_TYPE("writableStream", "WritableStream", stream);
  const writer = stream.getWriter();
  const settle = (promise, callback) => promise.then(() => callback(), callback);
  return new Writable({
    ...options,
    write: (chunk, encoding, callback) => settle(writer.ready.then(() => writer.write(chunk)), callback),
    final: (callback) => settle(writer.close(), callback),
    destroy: (error, callback) => (error ? settle(writer.abort(error).then(() => Promise.reject(error)), callback) : callback(null)),
  });
};

Writable.toWeb = (writable) =>
  new (web().WritableStream)({
    start(controller) {
      writable.on("error", (error) => controller.error(error));
    },
    write: (chunk) =>
      new Promise((resolve, reject) => writable.write(chunk, (error) => (error ? reject(error) : resolve()))),
    close: () => new Promise((resolve) => writable.end(resolve)),
    abort: (reason) => void writable.destroy(reason),
  });

Duplex.fromWeb = ({ readable, writable }, options = {}) =>
  Duplex.from({ readable: Readable.fromWeb(readable, options), writable: Writable.fromWeb(writable, options) });
Duplex.toWeb = (duplex) => ({ readable: Readable.toWeb(duplex), writable: Writable.toWeb(duplex) });

export default Stream;
