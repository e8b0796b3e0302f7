/** node:crypto: hashes, HMAC and its keys, random values, and keys derived with PBKDF2 and HKDF. @module */
import { buffer, bytesOf, coded, encoded } from "internal/crypto_bytes";
import { crypto as webcrypto } from "internal/webcrypto";
import { ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE, validateFunction, validateString } from "internal/errors";

/** Names for createHash. */
const hashes = ["md5", "sha1", "sha224", "sha256", "sha3-256", "sha3-384", "sha3-512", "sha384", "sha512", "sha512-224", "sha512-256"];

function describeHash(algorithm, name) {
  validateString(algorithm, name);
  const sizes = host.call("crypto.describe", algorithm);
  return sizes && { algorithm, block: sizes[0], size: sizes[1] };
}

/** Streams are slow to load, and most scripts only need randomUUID. */
const classes = () => require("internal/hash");
const keys = () => require("internal/keys");

function createHash(algorithm, options = undefined) {
  if (!describeHash(algorithm, "algorithm")) throw new Error("Digest method not supported");
  return new (classes().Hash)(algorithm, options);
}

function createHmac(algorithm, key, options = undefined) {
  const found = describeHash(algorithm, "hmac");
  if (!found) throw coded(TypeError, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${algorithm}`);
  return new (classes().Hmac)(algorithm, found.block, keys().hmacKey(key, options?.encoding), options);
}

function hash(algorithm, data, encoding = "hex") {
  if (!describeHash(algorithm, "algorithm")) throw new Error("Digest method not supported");
  return encoded(host.call("crypto.hash", algorithm, bytesOf(data)), encoding);
}

/** Calls back in a later turn, as asynchronous operations do. */
function callLater(callback, make) {
  let result;
  let error = null;
  try {
    result = make();
  } catch (thrown) {
    error = thrown;
  }
  setImmediate(callback, error, result);
}

function sizeOf(size, name, max = 2 ** 31 - 1) {
  if (typeof size !== "number") throw new ERR_INVALID_ARG_TYPE(name, "number", size);
  if (!(size >= 0 && size <= max)) throw new ERR_OUT_OF_RANGE(name, `>= 0 && <= ${max}`, size);
  return Math.trunc(size);
}

function randomBytes(size, callback = undefined) {
  const wanted = sizeOf(size, "size");
  if (callback === undefined) return buffer(host.call("crypto.random", wanted));
  validateFunction(callback, "callback");
  callLater(callback, () => buffer(host.call("crypto.random", wanted)));
}

function randomFillSync(target, offset = 0, size = undefined) {
  const bytes = bytesOf(target, undefined, "buf").subarray(sizeOf(offset, "offset"));
  bytes.set(host.call("crypto.random", size === undefined ? bytes.length : sizeOf(size, "size", bytes.length)));
  return target;
}

function randomFill(target, ...rest) {
  const callback = rest.pop();
  validateFunction(callback, "callback");
  callLater(callback, () => randomFillSync(target, ...rest));
}

function randomInt(min, max, callback) {
  if (max === undefined || typeof max === "function") [min, max, callback] = [0, min, max];
  if (!Number.isSafeInteger(min)) throw new ERR_INVALID_ARG_TYPE("min", "a safe integer", min);
  if (!Number.isSafeInteger(max)) throw new ERR_INVALID_ARG_TYPE("max", "a safe integer", max);
  if (max <= min) throw new ERR_OUT_OF_RANGE("max", `greater than the value of "min" (${min})`, max);
  const range = max - min;
  if (range >= 2 ** 48) throw new ERR_OUT_OF_RANGE("max - min", `<= ${2 ** 48 - 1}`, range);
  const next = () => {
    const fair = 2 ** 48 - (2 ** 48 % range);
    for (;;) {
      const number = buffer(host.call("crypto.random", 6)).readUIntBE(0, 6);
      if (number < fair) return min + (number % range);
    }
  };
  if (callback === undefined) return next();
  callLater(callback, next);
}

function timingSafeEqual(a, b) {
  const [one, other] = [bytesOf(a, undefined, "buf1"), bytesOf(b, undefined, "buf2")];
  if (typeof a === "string") throw new ERR_INVALID_ARG_TYPE("buf1", ["ArrayBuffer", "Buffer", "TypedArray", "DataView"], a);
  if (typeof b === "string") throw new ERR_INVALID_ARG_TYPE("buf2", ["ArrayBuffer", "Buffer", "TypedArray", "DataView"], b);
  if (one.length !== other.length) {
    throw coded(RangeError, "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH", "Input buffers must have the same byte length");
  }
  return host.call("crypto.equal", one, other);
}

function derivation(password, salt, iterations, size, digest) {
  if (!describeHash(digest, "digest")) throw coded(TypeError, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${digest}`);
  if (typeof iterations !== "number") throw new ERR_INVALID_ARG_TYPE("iterations", "number", iterations);
  if (!(iterations >= 1)) throw new ERR_OUT_OF_RANGE("iterations", ">= 1 && <= 2147483647", iterations);
  return [digest, bytesOf(password, undefined, "password"), bytesOf(salt, undefined, "salt"), iterations, sizeOf(size, "keylen")];
}

const pbkdf2Sync = (...args) => buffer(host.call("crypto.pbkdf2", ...derivation(...args)));

function pbkdf2(password, salt, iterations, size, digest, callback) {
  validateFunction(callback, "callback");
  host.callAsync("crypto.pbkdf2", ...derivation(password, salt, iterations, size, digest)).then(
    (key) => process.nextTick(callback, null, buffer(key)),
    (error) => process.nextTick(callback, error),
  );
}

function hkdfSync(digest, key, salt, info, size) {
  if (!describeHash(digest, "digest")) throw coded(TypeError, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${digest}`);
  return host.call("crypto.hkdf", digest, bytesOf(key, undefined, "ikm"), bytesOf(salt, undefined, "salt"), bytesOf(info, undefined, "info"),
    sizeOf(size, "length")).buffer;
}

function hkdf(digest, key, salt, info, size, callback) {
  validateFunction(callback, "callback");
  callLater(callback, () => hkdfSync(digest, key, salt, info, size));
}

const missing = [
  "Cipheriv", "Decipheriv", "DiffieHellman", "ECDH", "Sign", "Verify", "X509Certificate", "checkPrime", "createCipheriv",
  "createDecipheriv", "createDiffieHellman", "createECDH", "createPrivateKey", "createPublicKey", "createSign", "createVerify",
  "diffieHellman", "generateKey", "generateKeyPair", "generateKeyPairSync", "generateKeySync", "generatePrime", "getDiffieHellman",
  "privateDecrypt", "privateEncrypt", "publicDecrypt", "publicEncrypt", "scrypt", "scryptSync", "sign", "verify",
];

function unavailable(name) {
  return function () {
    throw host.unavailable(`crypto.${name}()`);
  };
}

export default {
  ...Object.fromEntries(missing.map((name) => [name, unavailable(name)])),
  get Hash() {
    return classes().Hash;
  },
  get Hmac() {
    return classes().Hmac;
  },
  get KeyObject() {
    return keys().KeyObject;
  },
  constants: {},
  createHash,
  createHmac,
  createSecretKey: (key, encoding) => keys().createSecretKey(key, encoding),
  getCiphers: () => [],
  getCurves: () => [],
  getFips: () => 0,
  getHashes: () => [...hashes],
  getRandomValues: (array) => webcrypto.getRandomValues(array),
  hash,
  hkdf,
  hkdfSync,
  pbkdf2,
  pbkdf2Sync,
  randomBytes,
  randomFill,
  randomFillSync,
  randomInt,
  randomUUID: () => webcrypto.randomUUID(),
  subtle: webcrypto.subtle,
  timingSafeEqual,
  webcrypto,
};
