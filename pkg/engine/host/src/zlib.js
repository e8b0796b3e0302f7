/** node:zlib, over Go's: gzip, zlib and raw deflate. @module */
import { buffer } from "internal/crypto_bytes";
import { absent, ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE, validateFunction } from "internal/errors";
import { constants } from "internal/zlib_constants";

const formats = ["gzip", "gunzip", "deflate", "inflate", "deflateRaw", "inflateRaw", "unzip"];
const classOf = (format) => format[0].toUpperCase() + format.slice(1);

const limits = { level: [-1, 9], windowBits: [8, 15], memLevel: [1, 9], strategy: [0, 4], flush: [0, 5], finishFlush: [0, 5] };
const most = 128 << 20;
const bytesLike = ["Buffer", "TypedArray", "DataView", "ArrayBuffer"];

function within(options, name, least, greatest) {
  const value = options[name];
  if (value === undefined || Number.isNaN(value)) return;
  if (typeof value !== "number") throw new ERR_INVALID_ARG_TYPE(`options.${name}`, "number", value);
  const range = greatest === undefined ? `>= ${least}` : `>= ${least} and <= ${greatest}`;
  if (!(value >= least && value <= (greatest ?? Number.POSITIVE_INFINITY))) throw new ERR_OUT_OF_RANGE(`options.${name}`, range, value);
}

function bytesOf(data, name, expected) {
  if (typeof data === "string" && expected !== bytesLike) return Buffer.from(data);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer || data instanceof SharedArrayBuffer) return new Uint8Array(data);
  throw new ERR_INVALID_ARG_TYPE(name, expected, data);
}

/** What the host makes a coder of. */
function settingsOf(format, options) {
  for (const [name, [least, greatest]] of Object.entries(limits)) {
    if (name === "windowBits" && options[name] === 0 && /^(g?un|inflate)/.test(format)) continue;
    within(options, name, name === "windowBits" && format === "gzip" ? 9 : least, greatest);
  }
  within(options, "chunkSize", constants.Z_MIN_CHUNK);
  within(options, "maxOutputLength", 1);
  const dictionary = options.dictionary === undefined ? undefined : bytesOf(options.dictionary, "options.dictionary", bytesLike);
  return [format, options.level ?? constants.Z_DEFAULT_COMPRESSION, options.strategy ?? constants.Z_DEFAULT_STRATEGY, dictionary];
}

function wholeOf(format, data, options) {
  const bytes = bytesOf(data, "buffer", ["string", ...bytesLike]);
  const limit = options.maxOutputLength ?? most;
  return [...settingsOf(format, options), bytes, options.finishFlush ?? constants.Z_FINISH, limit];
}

/** Streams take their time to load, and a whole text needs none. */
const streams = () => require("internal/zlib_streams");
const zlib = {
  // Whoever asks whether there is a createBrotliDecompress does without it.
  ...absent("zlib", "BrotliCompress BrotliDecompress brotliCompress brotliCompressSync brotliDecompress brotliDecompressSync createBrotliCompress"),
  codes: Object.fromEntries(
    ["Z_OK", "Z_STREAM_END", "Z_NEED_DICT", "Z_ERRNO", "Z_STREAM_ERROR", "Z_DATA_ERROR", "Z_MEM_ERROR", "Z_BUF_ERROR", "Z_VERSION_ERROR"]
      .flatMap((name) => [[name, constants[name]], [constants[name], name]]),
  ),
  constants,
  crc32: (data, value = 0) => host.call("zlib.crc32", bytesOf(data, "data", ["string", "Buffer", "TypedArray", "DataView"]), value >>> 0),
};

for (const [name, value] of Object.entries(constants)) {
  if (!name.startsWith("BROTLI")) Object.defineProperty(zlib, name, { value, configurable: false, enumerable: false });
}

for (const format of formats) {
  zlib[format] = (data, options, callback) => {
    if (typeof options === "function") [options, callback] = [{}, options];
    validateFunction(callback, "callback");
    host.start("zlib.all", ...wholeOf(format, data, options ?? {})).then(
      (result) => process.nextTick(callback, null, buffer(result)),
      (error) => process.nextTick(callback, error),
    );
  };
  zlib[`${format}Sync`] = (data, options) => buffer(host.call("zlib.all", ...wholeOf(format, data, options ?? {})));
  zlib[`create${classOf(format)}`] = (options) => new zlib[classOf(format)](options);
  Object.defineProperty(zlib, classOf(format), {
    enumerable: true,
    get: () => streams().streamOf(format, classOf(format), settingsOf),
  });
}

export default zlib;
