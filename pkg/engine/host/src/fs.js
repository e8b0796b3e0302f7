/** node:fs. @module */
import {
  pathCalls, constants, Dir, Dirent, runAsync, missing, descriptorCalls, runSync, pathOf, realpathNative, Stats,
} from "internal/files";
import { unavailableFunctions, validateFunction } from "internal/errors";

const all = { ...pathCalls, ...descriptorCalls };

const fs = {
  constants,
  Dir,
  Dirent,
  Stats,
  F_OK: constants.F_OK,
  R_OK: constants.R_OK,
  W_OK: constants.W_OK,
  X_OK: constants.X_OK,
  get promises() {
    return require("node:fs/promises");
  },
  get ReadStream() {
    return require("internal/file_streams").ReadStream;
  },
  get WriteStream() {
    return require("internal/file_streams").WriteStream;
  },
  createReadStream: (path, options) => new fs.ReadStream(path, options),
  createWriteStream: (path, options) => new fs.WriteStream(path, options),
};

/** Arguments of the callback after the error, for functions with several results. */
const results = {
  read: ({ bytesRead, buffer }) => [bytesRead, buffer],
  readv: ({ bytesRead, buffers }) => [bytesRead, buffers],
  write: ({ bytesWritten, buffer }) => [bytesWritten, buffer],
  writev: ({ bytesWritten, buffers }) => [bytesWritten, buffers],
};

const promised = Symbol.for("nodejs.util.promisify.custom");

/** @param {(...args: any[]) => Generator} call */
function withCallback(name, call) {
  const spread = results[name] ?? ((value) => (value === undefined ? [] : [value]));
  return function (...args) {
    const callback = typeof args.at(-1) === "function" ? args.pop() : undefined;
    validateFunction(callback, "cb");
    runAsync(call(...args)).then(
      (value) => process.nextTick(callback, null, ...spread(value)),
      (error) => process.nextTick(callback, error),
    );
  };
}

for (const [name, call] of Object.entries(all)) {
  const sync = (...args) => runSync(call(...args));
  fs[name] = Object.defineProperty(withCallback(name, call), "name", { value: name });
  fs[`${name}Sync`] = Object.defineProperty(results[name] ? (...args) => results[name](sync(...args))[0] : sync, "name", { value: `${name}Sync` });
  if (results[name]) fs[name][promised] = (...args) => runAsync(call(...args));
}

fs.exists = (path, callback) => {
  validateFunction(callback, "cb");
  runAsync(all.exists(path)).then((found) => process.nextTick(callback, found));
};
fs.exists[promised] = (path) => runAsync(all.exists(path));
fs.realpath.native = withCallback("realpath", realpathNative);
fs.realpathSync.native = (...args) => runSync(realpathNative(...args));
fs.existsSync = (path) => {
  try {
    return runSync(all.exists(pathOf(path)));
  } catch {
    return false;
  }
};
fs.openAsBlob = async (path, options) => new Blob([await runAsync(pathCalls.readFile(path))], options);

Object.assign(fs, unavailableFunctions("fs", missing.flatMap((name) => [name, `${name}Sync`]).join(" ")), unavailableFunctions("fs", "watch watchFile unwatchFile"));

export default fs;
