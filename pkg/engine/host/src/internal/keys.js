/** The secret keys of node:crypto. @module */
import { buffer, bytesOf, coded } from "internal/crypto_bytes";
import { ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE } from "internal/errors";
import { rawSecret } from "internal/webcrypto";

const types = ["ArrayBuffer", "Buffer", "TypedArray", "DataView"];

/** @type {WeakMap<KeyObject, Uint8Array>} */
const secrets = new WeakMap();

export class KeyObject {
  constructor(type, handle) {
    if (!["secret", "public", "private"].includes(type)) throw new ERR_INVALID_ARG_VALUE("type", type);
    throw new ERR_INVALID_ARG_TYPE("handle", "object", handle);
  }

  get type() {
    return "secret";
  }

  static from(key) {
    const secret = rawSecret(key);
    if (!secret) throw new ERR_INVALID_ARG_TYPE("key", "CryptoKey", key);
    return keyOf(secret);
  }

  equals(other) {
    if (!(other instanceof KeyObject)) throw new ERR_INVALID_ARG_TYPE("otherKeyObject", "KeyObject", other);
    return host.call("crypto.equal", secretOf(this), secretOf(other));
  }

  get [Symbol.toStringTag]() {
    return "KeyObject";
  }
}

class SecretKeyObject extends KeyObject {
  get symmetricKeySize() {
    return secretOf(this).length;
  }

  export(options = {}) {
    if (options === null || typeof options !== "object") throw new ERR_INVALID_ARG_TYPE("options", "object", options);
    const secret = buffer(secretOf(this).slice());
    switch (options.format) {
      case undefined:
      case "buffer":
        return secret;
      case "jwk":
        return { kty: "oct", k: secret.toString("base64url") };
    }
    throw new ERR_INVALID_ARG_VALUE("options.format", options.format, "must be one of: undefined, 'buffer', 'jwk'");
  }
}

function keyOf(secret) {
  const key = Object.create(SecretKeyObject.prototype);
  secrets.set(key, secret);
  return key;
}

function secretOf(key) {
  const secret = secrets.get(key);
  if (!secret) throw coded(TypeError, "ERR_INVALID_THIS", 'Value of "this" must be of type KeyObject');
  return secret;
}

export function createSecretKey(key, encoding = undefined) {
  return keyOf(bytesOf(key, encoding, "key", types).slice());
}

/** Returns the bytes of a key argument of createHmac. */
export function hmacKey(key, encoding) {
  const secret = secrets.get(key) ?? rawSecret(key);
  return secret ?? bytesOf(key, encoding, "key", ["string", ...types, "KeyObject", "CryptoKey"]);
}
