/** Arguments and results of node:crypto. @module */
import { ERR_INVALID_ARG_TYPE } from "internal/errors";

export const coded = (Base, code, message) => Object.assign(new Base(message), { code });

const types = ["string", "Buffer", "TypedArray", "DataView"];

export function bytesOf(data, encoding, name = "data", expected = types) {
  if (typeof data === "string") return Buffer.from(data, encoding === "buffer" ? "utf8" : encoding);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  throw new ERR_INVALID_ARG_TYPE(name, expected, data);
}

export const buffer = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export const encoded = (bytes, encoding) => (encoding && encoding !== "buffer" ? buffer(bytes).toString(encoding) : buffer(bytes));
