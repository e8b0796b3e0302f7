/** node:buffer: the buffer package with Go's codecs, and with functions that node has added since. @module */
import * as base from "buffer/";
import engineCodecs from "internal/codec";
import { named } from "internal/named";
import { unavailableFunctions, ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_OUT_OF_RANGE, ERR_UNKNOWN_ENCODING } from "internal/errors";

const { INSPECT_MAX_BYTES, kMaxLength } = base;
const { prototype } = base.Buffer;
const { alloc, concat, from, isEncoding, byteLength } = base.Buffer;
const { compare, toString, write } = prototype;

const utf16 = {
  decode(text) {
    const units = new Uint16Array(text.length);
    for (let i = 0; i < text.length; i++) units[i] = text.charCodeAt(i);
    return new Uint8Array(units.buffer);
  },
  encode(bytes) {
    const units = new Uint16Array(new Uint8Array(bytes).buffer, 0, bytes.length >> 1);
    let text = "";
    for (let i = 0; i < units.length; i += 4096) text += String.fromCharCode(...units.subarray(i, i + 4096));
    return text;
  },
};

/** Encodings that Go converts faster than the package, or that the package does not have. */
const codecs = {
  __proto__: null, ...engineCodecs, "utf-8": engineCodecs.utf8, binary: engineCodecs.latin1, utf16le: utf16, "utf-16le": utf16, ucs2: utf16, "ucs-2": utf16,
};

/** @param {unknown} encoding */
const codecOf = (encoding) => (encoding === undefined || encoding === null ? codecs.utf8 : codecs[`${encoding}`.toLowerCase()]);

/** @param {Uint8Array} bytes @returns {Buffer} the same bytes */
const asBuffer = (bytes) => Object.setPrototypeOf(bytes, prototype);

const clamp = (value, limit, fallback) => {
  const at = Math.trunc(value === undefined ? fallback : +value || 0);
  return Math.min(Math.max(at, 0), limit);
};

base.Buffer.from = function (value, encoding, length) {
  if (typeof value === "string") {
    const codec = codecOf(encoding === "" ? undefined : encoding);
    if (codec) return asBuffer(codec.decode(value));
    if (!isEncoding(encoding)) throw new ERR_UNKNOWN_ENCODING(encoding);
    return from(value, encoding);
  }
  try {
    if (typeof value === "symbol") throw new TypeError("no bytes");
    return from(value, encoding, length);
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw new ERR_INVALID_ARG_TYPE("first argument", ["string", "Buffer", "ArrayBuffer", "Array", "Array-like Object"], value);
  }
};

base.Buffer.byteLength = function (value, encoding) {
  const codec = typeof value === "string" && value.length > 0 ? codecOf(encoding) : undefined;
  if (codec === codecs.utf8) return host.call("utf8.length", value);
  if (codec) return codec.decode(value).length;
  return byteLength(value, encoding);
};

base.Buffer.isEncoding = (encoding) => isEncoding(encoding) || (typeof encoding === "string" && encoding.toLowerCase() === "base64url");

base.Buffer.copyBytesFrom = function (view, offset = 0, length = undefined) {
  if (!ArrayBuffer.isView(view) || view instanceof DataView) throw new ERR_INVALID_ARG_TYPE("view", "TypedArray", view);
  const part = view.subarray(offset, length === undefined ? undefined : offset + length);
  return base.Buffer.from(new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
};

prototype.toString = function (encoding, start, end) {
  const codec = codecOf(encoding);
  if (!codec && !isEncoding(encoding)) throw new ERR_UNKNOWN_ENCODING(encoding);
  if (!codec) return toString.call(this, encoding, start, end);
  const first = clamp(start, this.length, 0);
  const last = clamp(end, this.length, this.length);
  if (last <= first) return "";
  return codec.encode(first === 0 && last === this.length ? this : new Uint8Array(this.buffer, this.byteOffset + first, last - first));
};
prototype.toLocaleString = prototype.toString;

prototype.write = function (text, offset, length, encoding) {
  if (typeof offset === "string") [encoding, offset] = [offset, undefined];
  else if (typeof length === "string") [encoding, length] = [length, undefined];
  const codec = codecOf(encoding);
  if (typeof text !== "string") throw new ERR_INVALID_ARG_TYPE("argument", "string", text);
  if (offset < 0 || offset > this.length) throw new ERR_OUT_OF_RANGE("offset", `>= 0 && <= ${this.length}`, offset);
  if (!codec && !isEncoding(encoding)) throw new ERR_UNKNOWN_ENCODING(encoding);
  if (!codec) return write.call(this, text, offset ?? 0, length ?? this.length, encoding);
  const start = clamp(offset, this.length, 0);
  const space = clamp(length, this.length - start, this.length - start);
  let bytes = codec.decode(text);
  if (bytes.length > space) bytes = bytes.subarray(0, codec === codecs.utf8 ? characterBoundary(bytes, space) : codec === utf16 ? space & ~1 : space);
  this.set(bytes, start);
  return bytes.length;
};

/** Returns a Uint8Array as a Buffer of the same memory. */
const toBuffer = (value, name) => {
  if (value instanceof base.Buffer) return value;
  if (value instanceof Uint8Array) return base.Buffer.from(value.buffer, value.byteOffset, value.length);
  throw new ERR_INVALID_ARG_TYPE(name, ["Buffer", "Uint8Array"], value);
};

prototype.equals = function (other) {
  const bytes = toBuffer(other, "otherBuffer");
  return this.length === bytes.length && (this === bytes || host.call("crypto.equal", this, bytes));
};

/** Returns bytes as a Latin-1 string, which QuickJS compares and searches fast. */
const characters = (bytes) => engineCodecs.latin1.encode(bytes);

prototype.compare = function (target, ...range) {
  const bytes = toBuffer(target, "target");
  if (range.length > 0) return compare.call(this, bytes, ...range);
  const [mine, others] = [characters(this), characters(bytes)];
  return mine < others ? -1 : Number(mine > others);
};
base.Buffer.compare = (a, b) => toBuffer(a, "buf1").compare(toBuffer(b, "buf2"));

/** Returns the value to search for as a byte, or as a Latin-1 string. */
function searchValue(value, encoding) {
  if (typeof value === "number") return value & 255;
  if (typeof value === "string") value = base.Buffer.from(value, encoding);
  if (value instanceof Uint8Array) return value.length === 1 ? value[0] : characters(value);
  throw new ERR_INVALID_ARG_TYPE("value", ["number", "string", "Buffer", "Uint8Array"], value);
}

const offsetIn = (buffer, offset, fallback) => {
  const at = Number.isNaN(+offset) || offset === undefined ? fallback : Math.trunc(+offset);
  return at < 0 ? at + buffer.length : at;
};

prototype.indexOf = function (value, byteOffset, encoding) {
  if (typeof byteOffset === "string") [encoding, byteOffset] = [byteOffset, undefined];
  const start = Math.max(offsetIn(this, byteOffset, 0), 0);
  const wanted = searchValue(value, encoding);
  if (wanted === "") return Math.min(start, this.length);
  if (typeof wanted === "number") return Uint8Array.prototype.indexOf.call(this, wanted, start);
  return characters(this).indexOf(wanted, start);
};

prototype.lastIndexOf = function (value, byteOffset, encoding) {
  if (typeof byteOffset === "string") [encoding, byteOffset] = [byteOffset, undefined];
  const start = offsetIn(this, byteOffset, this.length);
  const wanted = searchValue(value, encoding);
  if (start < 0) return -1;
  if (typeof wanted === "number") return Uint8Array.prototype.lastIndexOf.call(this, wanted, start);
  return characters(this).lastIndexOf(wanted, start);
};

prototype.includes = function (value, byteOffset, encoding) {
  return this.indexOf(value, byteOffset, encoding) !== -1;
};

prototype.fill = function (value = 0, start = 0, end = this.length, encoding = "utf8") {
  if (typeof start === "string") [encoding, start, end] = [start, 0, this.length];
  else if (typeof end === "string") [encoding, end] = [end, this.length];
  if (!(start >= 0)) throw new ERR_OUT_OF_RANGE("offset", `>= 0 && <= ${this.length}`, start);
  if (!(end >= 0 && end <= this.length)) throw new ERR_OUT_OF_RANGE("end", `>= 0 && <= ${this.length}`, end);
  const pattern = typeof value === "string" && value !== "" ? base.Buffer.from(value, encoding) : value;
  if (!(pattern instanceof Uint8Array)) return Uint8Array.prototype.fill.call(this, pattern & 255, start, end);
  if (pattern.length === 0) throw new ERR_INVALID_ARG_VALUE("value", value);
  const space = end - start;
  if (space <= 0) return this;
  this.set(pattern.subarray(0, space), start);
  for (let filled = pattern.length; filled < space; filled *= 2) this.copyWithin(start + filled, start, start + Math.min(filled, space - filled));
  return this;
};

base.Buffer.alloc = function (size, fill, encoding) {
  validateSize(size);
  const buffer = alloc(size);
  return size === 0 || fill === undefined || fill === 0 ? buffer : buffer.fill(fill, encoding);
};
base.Buffer.allocUnsafe = base.Buffer.allocUnsafeSlow = (size) => base.Buffer.alloc(size);

function validateSize(size) {
  if (typeof size !== "number") throw new ERR_INVALID_ARG_TYPE("size", "number", size);
  if (!(size >= 0 && size <= kMaxLength)) throw new ERR_OUT_OF_RANGE("size", `>= 0 && <= ${kMaxLength}`, size);
}

base.Buffer.concat = function (list, length) {
  if (!Array.isArray(list)) throw new ERR_INVALID_ARG_TYPE("list", "Array", list);
  list.forEach((item, i) => toBuffer(item, `list[${i}]`));
  return concat(list, length);
};

/** Returns the last offset up to a limit that does not split a UTF-8 character. */
function characterBoundary(bytes, limit) {
  while (limit > 0 && (bytes[limit] & 0xc0) === 0x80) limit--;
  return limit;
}

for (const name of Object.keys(engineCodecs)) {
  prototype[`${name}Slice`] = function (start, end) {
    return this.toString(name, start, end);
  };
  prototype[`${name}Write`] = function (text, offset, length) {
    return this.write(text, offset, length, name);
  };
}

const bytesOf = (input) => {
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  throw new ERR_INVALID_ARG_TYPE("input", ["ArrayBuffer", "Buffer", "TypedArray"], input);
};

const isUtf8 = (input) => host.call("text.decode", "utf-8", bytesOf(input), true)[2];
const isAscii = (input) => engineCodecs.utf8.encode(bytesOf(input)).length === input.byteLength && isUtf8(input);

const transcode = (source, fromEncoding, toEncoding) => base.Buffer.from(asBuffer(bytesOf(source)).toString(fromEncoding), toEncoding);

named(base.Buffer, "Buffer");

export default {
  Buffer: base.Buffer,
  SlowBuffer: base.SlowBuffer,
  INSPECT_MAX_BYTES,
  kMaxLength,
  kStringMaxLength: 0x1fffffe8,
  constants: { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: 0x1fffffe8 },
  ...unavailableFunctions("buffer", "resolveObjectURL"),
  isUtf8,
  isAscii,
  transcode,
  atob: (text) => require("internal/base64").atob(text),
  btoa: (text) => require("internal/base64").btoa(text),
  get Blob() {
    return require("internal/blob").Blob;
  },
  get File() {
    return require("internal/blob").File;
  },
};
