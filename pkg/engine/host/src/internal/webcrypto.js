/** Web Crypto: random values, digests, HMAC, and keys derived with PBKDF2 and HKDF. @module */

const quota = 65536; // limit of getRandomValues in bytes
const hashes = { "SHA-1": 64, "SHA-256": 64, "SHA-384": 128, "SHA-512": 128 }; // block sizes in bytes

const unsupported = (what) =>
  new DOMException(`${what} is not supported in the embedded engine; install bun (https://bun.sh) or node`, "NotSupportedError");

function bytesOf(data) {
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  throw Object.assign(new TypeError("the data is not an ArrayBuffer, Buffer, TypedArray or DataView"), { code: "ERR_INVALID_ARG_TYPE" });
}

const nameOf = (algorithm) => `${typeof algorithm === "object" ? algorithm?.name : algorithm}`.toUpperCase();

function hashOf(algorithm) {
  const name = nameOf(algorithm);
  if (!Object.hasOwn(hashes, name)) throw new DOMException("Unrecognized algorithm name", "NotSupportedError");
  return name;
}

/** @type {WeakMap<CryptoKey, Uint8Array>} */
const secrets = new WeakMap();

export class CryptoKey {
  constructor() {
    throw new TypeError("Illegal constructor");
  }

  get [Symbol.toStringTag]() {
    return "CryptoKey";
  }
}

function makeKey(secret, algorithm, extractable, usages) {
  const key = Object.create(CryptoKey.prototype);
  Object.assign(key, { type: "secret", extractable: Boolean(extractable), algorithm, usages: [...usages] });
  secrets.set(key, secret);
  return key;
}

/** Returns the secret of a CryptoKey; undefined for other values. */
export const rawSecret = (key) => secrets.get(key);

/** Returns the secret of a key, after checking that it may be used. */
function secretOf(key, algorithm, usage) {
  const secret = secrets.get(key);
  if (!secret) throw Object.assign(new TypeError("the key is not a CryptoKey"), { code: "ERR_INVALID_ARG_TYPE" });
  if (algorithm && key.algorithm.name !== nameOf(algorithm)) throw new DOMException("Key algorithm mismatch", "InvalidAccessError");
  if (!key.usages.includes(usage)) throw new DOMException(`Unable to use this key to ${usage}`, "InvalidAccessError");
  return secret;
}

/** @param {string} hash @param {Uint8Array} secret @param {Uint8Array} data @returns {Uint8Array} */
function hmac(hash, secret, data) {
  const block = hashes[hash];
  const key = new Uint8Array(block);
  key.set(secret.length > block ? host.call("crypto.hash", hash, secret) : secret);
  const inner = host.call("crypto.update", hash, undefined, key.map((byte) => byte ^ 0x36));
  const outer = host.call("crypto.update", hash, undefined, key.map((byte) => byte ^ 0x5c));
  return host.call("crypto.digest", hash, outer, host.call("crypto.digest", hash, inner, data));
}

export class SubtleCrypto {
  async digest(algorithm, data) {
    return host.call("crypto.hash", hashOf(algorithm), bytesOf(data)).buffer;
  }

  async importKey(format, data, algorithm, extractable, usages) {
    const name = nameOf(algorithm);
    if (format !== "raw" || !["HMAC", "PBKDF2", "HKDF"].includes(name)) throw unsupported(`importing a key of ${name} as ${format}`);
    const secret = bytesOf(data).slice();
    const about = name === "HMAC" ? { name, hash: { name: hashOf(algorithm.hash) }, length: secret.length * 8 } : { name };
    return makeKey(secret, about, extractable, usages);
  }

  async exportKey(format, key) {
    const secret = secrets.get(key);
    if (!secret) throw Object.assign(new TypeError("the key is not a CryptoKey"), { code: "ERR_INVALID_ARG_TYPE" });
    if (!key.extractable) throw new DOMException("key is not extractable", "InvalidAccessError");
    if (format !== "raw") throw unsupported(`exporting a key as ${format}`);
    return secret.slice().buffer;
  }

  async generateKey(algorithm, extractable, usages) {
    const name = nameOf(algorithm);
    if (name !== "HMAC") throw unsupported(`generating a key of ${name}`);
    const hash = hashOf(algorithm.hash);
    const length = algorithm.length ?? hashes[hash] * 8;
    return makeKey(host.call("crypto.random", Math.ceil(length / 8)), { name, hash: { name: hash }, length }, extractable, usages);
  }

  async sign(algorithm, key, data) {
    const secret = secretOf(key, algorithm, "sign");
    return hmac(key.algorithm.hash.name, secret, bytesOf(data)).buffer;
  }

  async verify(algorithm, key, signature, data) {
    const secret = secretOf(key, algorithm, "verify");
    return host.call("crypto.equal", hmac(key.algorithm.hash.name, secret, bytesOf(data)), bytesOf(signature));
  }

  async deriveBits(algorithm, key, length) {
    const secret = secretOf(key, algorithm, "deriveBits");
    const hash = hashOf(algorithm.hash);
    if (length % 8 !== 0) throw new DOMException("length must be a multiple of 8", "OperationError");
    const salt = bytesOf(algorithm.salt);
    if (key.algorithm.name === "PBKDF2") {
      return (await host.callAsync("crypto.pbkdf2", hash, secret, salt, algorithm.iterations, length / 8)).buffer;
    }
    return host.call("crypto.hkdf", hash, secret, salt, bytesOf(algorithm.info), length / 8).buffer;
  }

  get [Symbol.toStringTag]() {
    return "SubtleCrypto";
  }
}

for (const name of ["encrypt", "decrypt", "deriveKey", "wrapKey", "unwrapKey"]) {
  SubtleCrypto.prototype[name] = async () => {
    throw unsupported(`crypto.subtle.${name}()`);
  };
}

export class Crypto {
  #subtle = new SubtleCrypto();

  get subtle() {
    return this.#subtle;
  }

  getRandomValues(array) {
    if (!ArrayBuffer.isView(array) || /^(Float|DataView)/.test(array.constructor.name)) {
      throw new DOMException("The data argument must be an integer-type TypedArray", "TypeMismatchError");
    }
    if (array.byteLength > quota) {
      throw new DOMException(`The requested length exceeds 65,536 bytes`, "QuotaExceededError");
    }
    bytesOf(array).set(host.call("crypto.random", array.byteLength));
    return array;
  }

  randomUUID() {
    return host.call("crypto.uuid");
  }

  get [Symbol.toStringTag]() {
    return "Crypto";
  }
}

export const crypto = new Crypto();
