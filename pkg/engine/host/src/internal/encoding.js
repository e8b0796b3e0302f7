/** TextEncoder and TextDecoder. @module */
import { ERR_INVALID_ARG_TYPE } from "internal/errors";

export class TextEncoder {
  get encoding() {
    return "utf-8";
  }

  encode(text = "") {
    return host.call("utf8.encode", `${text}`);
  }

  encodeInto(text, target) {
    if (typeof text !== "string") throw new ERR_INVALID_ARG_TYPE("src", "string", text);
    if (!(target instanceof Uint8Array)) throw new ERR_INVALID_ARG_TYPE("dest", "Uint8Array", target);
    let bytes = this.encode(text);
    let read = text.length;
    if (bytes.length > target.length) {
      let end = target.length;
      while (end > 0 && (bytes[end] & 0xc0) === 0x80) end--;
      bytes = bytes.subarray(0, end);
      read = host.call("utf8.decode", bytes).length;
    }
    target.set(bytes);
    return { read, written: bytes.length };
  }

  get [Symbol.toStringTag]() {
    return "TextEncoder";
  }
}

/** Labels of the supported encodings. */
const labels = {
  __proto__: null,
  "utf-8": "utf-8", utf8: "utf-8", "unicode-1-1-utf-8": "utf-8",
  "utf-16le": "utf-16le", "utf-16": "utf-16le", "ucs-2": "utf-16le", unicode: "utf-16le",
  "utf-16be": "utf-16be",
  "windows-1252": "windows-1252", latin1: "windows-1252", "iso-8859-1": "windows-1252", ascii: "windows-1252", "us-ascii": "windows-1252",
};

export class TextDecoder {
  #encoding;
  #fatal;
  #ignoreBOM;
  #rest = new Uint8Array(0);
  #started = false;

  constructor(label = "utf-8", options = undefined) {
    this.#encoding = labels[`${label}`.trim().toLowerCase()];
    if (!this.#encoding) {
      throw Object.assign(new RangeError(`The "${label}" encoding is not supported`), { code: "ERR_ENCODING_NOT_SUPPORTED" });
    }
    this.#fatal = Boolean(options?.fatal);
    this.#ignoreBOM = Boolean(options?.ignoreBOM);
  }

  get encoding() {
    return this.#encoding;
  }

  get fatal() {
    return this.#fatal;
  }

  get ignoreBOM() {
    return this.#ignoreBOM;
  }

  decode(input = new Uint8Array(0), options = undefined) {
    const last = !options?.stream;
    const bytes = concat(this.#rest, view(input));
    const [decoded, left, valid] = host.call("text.decode", this.#encoding, bytes, last);
    if (!valid && this.#fatal) {
      this.#reset();
      const error = new TypeError(`The encoded data was not valid for encoding ${this.#encoding}`);
      throw Object.assign(error, { code: "ERR_ENCODING_INVALID_ENCODED_DATA" });
    }
    const hasBOM = !this.#started && !this.#ignoreBOM && decoded.startsWith("\ufeff");
    this.#started ||= decoded !== "";
    this.#rest = bytes.slice(bytes.length - left);
    if (last) this.#reset();
    return hasBOM ? decoded.slice(1) : decoded;
  }

  #reset() {
    this.#rest = new Uint8Array(0);
    this.#started = false;
  }

  get [Symbol.toStringTag]() {
    return "TextDecoder";
  }
}

function view(input) {
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  if (input instanceof ArrayBuffer || input instanceof SharedArrayBuffer) return new Uint8Array(input);
  throw Object.assign(new TypeError('The "list" argument must be an instance of SharedArrayBuffer, ArrayBuffer or ArrayBufferView.'),
    { code: "ERR_INVALID_ARG_TYPE" });
}

function concat(first, second) {
  if (first.length === 0) return second;
  const out = new Uint8Array(first.length + second.length);
  out.set(first);
  out.set(second, first.length);
  return out;
}
