/** Blob and File. Their bytes are in memory. @module */
import { named } from "internal/named";
import { ERR_INVALID_ARG_TYPE } from "internal/errors";

const typeOf = (type) => (type === undefined || /[^\x20-\x7e]/.test(`${type}`) ? "" : `${type}`.toLowerCase());

function bytesOf(part, endings) {
  if (part instanceof Blob) return bytes(part);
  if (part instanceof ArrayBuffer || part instanceof SharedArrayBuffer) return new Uint8Array(part.slice(0));
  if (ArrayBuffer.isView(part)) return new Uint8Array(part.buffer, part.byteOffset, part.byteLength).slice();
  const text = endings === "native" ? `${part}`.replace(/\r\n?|\n/g, process.platform === "win32" ? "\r\n" : "\n") : `${part}`;
  return host.call("utf8.encode", text);
}

function concat(all) {
  const out = new Uint8Array(all.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of all) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Returns the bytes of a blob, which must not be changed; set by Blob. */
export let bytes;

export class Blob {
  static {
    named(this, "Blob");
  }

  #bytes;
  #type;

  static {
    bytes = (blob) => blob.#bytes;
  }

  constructor(sources = [], options = undefined) {
    if (sources === null || typeof sources?.[Symbol.iterator] !== "function" || typeof sources === "string") {
      throw new ERR_INVALID_ARG_TYPE("sources", "a sequence", sources);
    }
    this.#bytes = concat(Array.from(sources, (part) => bytesOf(part, options?.endings)));
    this.#type = typeOf(options?.type);
  }

  get size() {
    return this.#bytes.length;
  }

  get type() {
    return this.#type;
  }

  slice(start = 0, end = this.size, type = "") {
    const part = new Blob();
    part.#bytes = this.#bytes.subarray(start, end);
    part.#type = typeOf(type);
    return part;
  }

  async arrayBuffer() {
    return this.#bytes.slice().buffer;
  }

  async bytes() {
    return this.#bytes.slice();
  }

  async text() {
    return new TextDecoder().decode(this.#bytes);
  }

  stream() {
    const all = this.#bytes;
    let at = 0;
    return new ReadableStream({
      type: "bytes",
      pull(controller) {
        if (at < all.length) controller.enqueue(all.slice(at, at + 65536));
        at += 65536;
        if (at >= all.length) {
          controller.close();
          controller.byobRequest?.respond(0);
        }
      },
    });
  }

  get [Symbol.toStringTag]() {
    return "Blob";
  }

  [Symbol.for("nodejs.util.inspect.custom")](depth, options, inspect) {
    return `${this.constructor.name} ${inspect({ size: this.size, type: this.type }, options)}`;
  }
}

export class File extends Blob {
  #name;
  #lastModified;

  constructor(sources, name, options = undefined) {
    if (arguments.length < 2) throw new TypeError(`Failed to construct 'File': 2 arguments required, but only ${arguments.length} present.`);
    super(sources, options);
    this.#name = `${name}`;
    this.#lastModified = Math.trunc(Number(options?.lastModified ?? Date.now())) || 0;
  }

  get name() {
    return this.#name;
  }

  get lastModified() {
    return this.#lastModified;
  }

  get [Symbol.toStringTag]() {
    return "File";
  }
}
