/** Encodings, in Go because loops over bytes are slow in QuickJS. Each codec decodes text to bytes and encodes bytes as text. @module */

const codec = (name) => ({
  /** @param {string} text @returns {Uint8Array} */
  decode: (text) => host.call(`${name}.encode`, text),
  /** @param {Uint8Array} bytes @returns {string} */
  encode: (bytes) => host.call(`${name}.decode`, bytes),
});

/** Decoding accepts both alphabets, skips other characters and stops at "=", as in node. */
const base64 = (name) => ({
  decode: (text) => host.call("base64.decode", text),
  encode: (bytes) => host.call(`${name}.encode`, bytes),
});

export default {
  utf8: codec("utf8"),
  latin1: codec("latin1"),
  base64: base64("base64"),
  base64url: base64("base64url"),
  hex: {
    decode: (text) => host.call("hex.decode", text),
    encode: (bytes) => host.call("hex.encode", bytes),
  },
};
