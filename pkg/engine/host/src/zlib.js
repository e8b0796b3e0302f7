/** node:zlib with Go's compressors: gzip, zlib and raw deflate. @module */
import { buffer } from "internal/crypto_bytes";
import { unavailableFunctions, ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE, validateFunction } from "internal/errors";
import { constants } from "internal/zlib_constants";

const formats = ["gzip", "gunzip", "deflate", "inflate", "deflateRaw", "inflateRaw", "unzip"];
const classOf = (format) => format[0].toUpperCase() + format.slice(1);

const limits = { level: [-1, 9], windowBits: [8, 15], memLevel: [1, 9], strategy: [0, 4], flush: [0, 5], finishFlush: [0, 5] };
const maxOutput = 128 << 20;
const bytesLike = ["Buffer", "TypedArray", "DataView", "ArrayBuffer"];

function validateRange(options, name, min, max) {
  const value = options[name];
  if (value === undefined || Number.isNaN(value)) return;
  if (typeof value !== "number") throw new ERR_INVALID_ARG_TYPE(`options.${name}`, "number", value);
  const range = max === undefined ? `>= ${min}` : `>= ${min} and <= ${max}`;
  if (!(value >= min && value <= (max ?? Number.POSITIVE_INFINITY))) throw new ERR_OUT_OF_RANGE(`options.${name}`, range, value);
}

function bytesOf(data, name, expected) {
  if (typeof data === "string" && expected !== bytesLike) return Buffer.from(data);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer || data instanceof SharedArrayBuffer) return new Uint8Array(data);
  throw new ERR_INVALID_ARG_TYPE(name, expected, data);
}

/** Returns the arguments of zlib.open. */
function streamArgs(format, options) {
  for (const [name, [min, max]] of Object.entries(limits)) {
    if (name === "windowBits" && options[name] === 0 && /^(g?un|inflate)/.test(format)) continue;
    validateRange(options, name, name === "windowBits" && format === "gzip" ? 9 : min, max);
  }
  validateRange(options, "chunkSize", constants.Z_MIN_CHUNK);
  validateRange(options, "maxOutputLength", 1);
  const dictionary = options.dictionary === undefined ? undefined : bytesOf(options.dictionary, "options.dictionary", bytesLike);
  return [format, options.level ?? constants.Z_DEFAULT_COMPRESSION, options.strategy ?? constants.Z_DEFAULT_STRATEGY, dictionary];
}

function oneShotArgs(format, data, options) {
  const bytes = bytesOf(data, "buffer", ["string", ...bytesLike]);
  const limit = options.maxOutputLength ?? maxOutput;
  return [...streamArgs(format, options), bytes, options.finishFlush ?? constants.Z_FINISH, limit];
}

/** Streams are slow to load, and functions such as gzip do not need them. */
const streams = () => require("internal/zlib_streams");
const zlib = {
  // createBrotliDecompress is undefined, because packages check whether it exists.
  ...unavailableFunctions("zlib", "BrotliCompress BrotliDecompress brotliCompress brotliCompressSync brotliDecompress brotliDecompressSync createBrotliCompress"),
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
    host.callAsync("zlib.all", ...oneShotArgs(format, data, options ?? {})).then(
      (result) => process.nextTick(callback, null, buffer(result)),
      (error) => process.nextTick(callback, error),
    );
  };
  zlib[`${format}Sync`] = (data, options) => buffer(host.call("zlib.all", ...oneShotArgs(format, data, options ?? {})));
  zlib[`create${classOf(format)}`] = (options) => new zlib[classOf(format)](options);
  Object.defineProperty(zlib, classOf(format), {
    enumerable: true,
    get: () => streams().zlibClass(format, classOf(format), streamArgs),
  });
}

export default zlib;
