/**
 * The functions of node:fs. Each is a generator that yields operations of the host as [name, ...arguments] and receives their results:
 * runSync runs it as readFileSync, runAsync as readFile. @module
 */
import {
  AbortError, ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_OUT_OF_RANGE, validateAbortSignal, validateString,
} from "internal/errors";

// Runners.

/** @param {Generator} call */
export function runSync(call) {
  for (let next = call.next(); ; ) {
    if (next.done) return next.value;
    let answer;
    try {
      answer = host.call(...next.value);
    } catch (error) {
      next = call.throw(error);
      continue;
    }
    next = call.next(answer);
  }
}

/** Starts synchronously, so that invalid arguments throw. @param {Generator} call @returns {Promise<any>} */
export function runAsync(call) {
  return continueAsync(call, call.next());
}

async function continueAsync(call, next) {
  const stack = next.done || host.captureStack();
  while (!next.done) {
    let answer;
    const isOperation = Array.isArray(next.value);
    try {
      answer = await (isOperation ? host.callAsync(...next.value) : next.value);
    } catch (error) {
      next = call.throw(isOperation ? host.withStack(error, stack) : error);
      continue;
    }
    next = call.next(answer);
  }
  return next.value;
}

// Arguments.

/** @returns {string} */
export function pathOf(value, name = "path") {
  let path = value;
  if (value instanceof Uint8Array) path = host.call("utf8.decode", value);
  else if (typeof value?.href === "string" && value.protocol) path = require("node:url").fileURLToPath(value);
  if (typeof path !== "string") throw new ERR_INVALID_ARG_TYPE(name, ["string", "Buffer", "URL"], value);
  if (path.includes("\0")) {
    throw new ERR_INVALID_ARG_VALUE(name, value, "must be a string, Uint8Array, or URL without null bytes");
  }
  return path;
}

/** Validates a file descriptor. */
export function descriptor(value, name = "fd") {
  if (typeof value !== "number") throw new ERR_INVALID_ARG_TYPE(name, "number", value);
  if (!Number.isInteger(value) || value < 0 || value > 2147483647) {
    throw new ERR_OUT_OF_RANGE(name, Number.isInteger(value) ? ">= 0 && <= 2147483647" : "an integer", value);
  }
  return value;
}

/** Returns a path, or the descriptor of an open file, which may be given as a FileHandle. */
function target(value) {
  if (Number.isInteger(value) && value >= 0) return descriptor(value);
  return typeof value?.fd === "number" ? value.fd : pathOf(value);
}

export const constants = {
  UV_FS_SYMLINK_DIR: 1, UV_FS_SYMLINK_JUNCTION: 2, O_RDONLY: 0, O_WRONLY: 0o1, O_RDWR: 0o2, UV_DIRENT_UNKNOWN: 0, UV_DIRENT_FILE: 1,
  UV_DIRENT_DIR: 2, UV_DIRENT_LINK: 3, UV_DIRENT_FIFO: 4, UV_DIRENT_SOCKET: 5, UV_DIRENT_CHAR: 6, UV_DIRENT_BLOCK: 7,
  S_IFMT: 0o170000, S_IFREG: 0o100000, S_IFDIR: 0o040000, S_IFCHR: 0o020000, S_IFBLK: 0o060000, S_IFIFO: 0o010000, S_IFLNK: 0o120000,
  S_IFSOCK: 0o140000, O_CREAT: 0o100, O_EXCL: 0o200, UV_FS_O_FILEMAP: 0, O_NOCTTY: 0o400, O_TRUNC: 0o1000, O_APPEND: 0o2000,
  O_DIRECTORY: 0o200000, O_NOATIME: 0o1000000, O_NOFOLLOW: 0o400000, O_SYNC: 0o4010000, O_DSYNC: 0o10000, O_DIRECT: 0o40000,
  O_NONBLOCK: 0o4000, S_IRWXU: 0o700, S_IRUSR: 0o400, S_IWUSR: 0o200, S_IXUSR: 0o100, S_IRWXG: 0o070, S_IRGRP: 0o040, S_IWGRP: 0o020,
  S_IXGRP: 0o010, S_IRWXO: 0o007, S_IROTH: 0o004, S_IWOTH: 0o002, S_IXOTH: 0o001, F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1,
  UV_FS_COPYFILE_EXCL: 1, COPYFILE_EXCL: 1, UV_FS_COPYFILE_FICLONE: 2, COPYFILE_FICLONE: 2, UV_FS_COPYFILE_FICLONE_FORCE: 4,
  COPYFILE_FICLONE_FORCE: 4,
};

function flagsOf(flags) {
  if (typeof flags === "number") return flags;
  const [, letter, rest] = /^([rwa])([sx+]{0,3})$/.exec(flags) ?? [];
  const invalid = letter === undefined || (letter === "r" && rest.includes("x")) || (letter === "w" && rest.includes("s"));
  if (invalid || new Set(rest).size !== rest.length) throw new ERR_INVALID_ARG_VALUE("flags", flags);
  let bits = { r: 0, w: constants.O_TRUNC | constants.O_CREAT, a: constants.O_APPEND | constants.O_CREAT }[letter];
  if (rest.includes("+")) bits |= constants.O_RDWR;
  else if (letter !== "r") bits |= constants.O_WRONLY;
  if (rest.includes("x")) bits |= constants.O_EXCL;
  if (rest.includes("s")) bits |= constants.O_SYNC;
  return bits;
}

function modeOf(mode, defaults) {
  if (mode === undefined || mode === null) return defaults;
  const number = typeof mode === "string" && /^[0-7]+$/.test(mode) ? Number.parseInt(mode, 8) : mode;
  if (typeof number === "string") {
    throw new ERR_INVALID_ARG_VALUE("mode", mode, "must be a 32-bit unsigned integer or an octal string");
  }
  if (typeof number !== "number") throw new ERR_INVALID_ARG_TYPE("mode", "number", mode);
  if (!Number.isInteger(number) || number < 0 || number > 4294967295) throw new ERR_OUT_OF_RANGE("mode", ">= 0 && <= 4294967295", mode);
  return number;
}

/** Returns options as an object; a string is an encoding. */
export function optionsOf(options, defaults = {}) {
  if (options === undefined || options === null || typeof options === "function") return { ...defaults };
  if (typeof options === "string") options = { encoding: options };
  if (typeof options !== "object") throw new ERR_INVALID_ARG_TYPE("options", ["string", "Object"], options);
  const { encoding } = options;
  if (encoding && encoding !== "buffer" && !isEncoding(encoding)) {
    throw new ERR_INVALID_ARG_VALUE("encoding", encoding, "is invalid encoding");
  }
  validateAbortSignal(options.signal, "options.signal");
  return { ...defaults, ...options };
}

const isUTF8 = (encoding) => /^utf-?8$/i.test(encoding);
const isEncoding = (encoding) => isUTF8(encoding) || Buffer.isEncoding(encoding);

const buffer = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Returns a file name in the requested encoding. */
function encodeName(name, encoding) {
  if (!encoding || isUTF8(encoding)) return name;
  return encoding === "buffer" ? Buffer.from(name) : Buffer.from(name).toString(encoding);
}

/** Returns data to be written as text, which the host encodes as UTF-8, or as bytes. */
function contentOf(data, encoding, name = "data") {
  if (typeof data === "string") return !encoding || isUTF8(encoding) ? data : Buffer.from(data, encoding);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  throw new ERR_INVALID_ARG_TYPE(name, ["string", "Buffer", "TypedArray", "DataView"], data);
}

/** Returns seconds, a Date or a numeric string as milliseconds. */
function timeOf(value) {
  if (typeof value === "string" && `${+value}` === value) value = +value;
  if (typeof value === "number" && Number.isFinite(value)) return value < 0 ? Date.now() : value * 1000;
  if (value instanceof Date) return value.getTime();
  throw new ERR_INVALID_ARG_TYPE("time", ["Date", "Time in seconds"], value);
}

const systemError = (code, message, facts) => Object.assign(new Error(message), { name: "SystemError", code, ...facts });

function abortable({ signal }) {
  if (signal?.aborted) throw new AbortError(undefined, { cause: signal.reason });
}

// Results.

const fileTypes = {
  isDirectory: constants.S_IFDIR, isFile: constants.S_IFREG, isBlockDevice: constants.S_IFBLK, isCharacterDevice: constants.S_IFCHR,
  isSymbolicLink: constants.S_IFLNK, isFIFO: constants.S_IFIFO, isSocket: constants.S_IFSOCK,
};

const fields = [
  "dev", "mode", "nlink", "uid", "gid", "rdev", "blksize", "ino", "size", "blocks", "atimeMs", "mtimeMs", "ctimeMs", "birthtimeMs",
];

export class Stats {
  constructor(facts) {
    fields.forEach((field, i) => {
      this[field] = facts[i];
    });
    for (const time of ["atime", "mtime", "ctime", "birthtime"]) this[time] = new Date(Math.round(Number(this[`${time}Ms`])));
  }
}

class BigIntStats extends Stats {
  constructor(facts) {
    super(facts);
    for (const field of fields) this[field] = BigInt(Math.trunc(this[field]));
    for (const time of ["atime", "mtime", "ctime", "birthtime"]) this[`${time}Ns`] = BigInt(Math.round(facts[fields.indexOf(`${time}Ms`)] * 1e3)) * 1000n;
  }
}

export class Dirent {
  #kind;

  constructor(name, parentPath, kind) {
    this.name = name;
    this.parentPath = parentPath;
    this.path = parentPath;
    this.#kind = kind;
  }

  static {
    for (const [method, kind] of Object.entries(fileTypes)) {
      Dirent.prototype[method] = function () {
        return this.#kind === kind;
      };
    }
  }
}

for (const [method, kind] of Object.entries(fileTypes)) {
  Stats.prototype[method] = function () {
    return (Number(this.mode) & constants.S_IFMT) === kind;
  };
}

const statsOf = (facts, options) => new (options?.bigint ? BigIntStats : Stats)(facts);

// The functions.

function* readFile(path, options) {
  const { encoding, flag = "r", ...rest } = optionsOf(options);
  abortable(rest);
  const utf8 = Boolean(encoding) && isUTF8(encoding);
  const data = yield ["fs.readAll", target(path), flagsOf(flag), utf8];
  abortable(rest);
  if (utf8) return data;
  return encoding && encoding !== "buffer" ? buffer(data).toString(encoding) : buffer(data);
}

function* writeFile(path, data, options) {
  const { encoding, flag = "w", mode, flush = false, ...rest } = optionsOf(options);
  abortable(rest);
  const where = target(path);
  const content = contentOf(data, encoding);
  if (isPipe(where)) return void host.call("process.write", where, content);
  yield ["fs.writeAll", where, flagsOf(flag), modeOf(mode, 0o666), content, flush];
}

const isPipe = (fd) => fd === 1 || fd === 2;

function* appendFile(path, data, options) {
  yield* writeFile(path, data, optionsOf(options, { flag: "a" }));
}

function* open(path, flags = "r", mode = undefined) {
  return yield ["fs.open", pathOf(path), flagsOf(flags ?? "r"), modeOf(mode, 0o666)];
}

function* close(fd) {
  yield ["fs.close", descriptor(fd)];
}

/** (fd, buffer, offset, length, position), (fd, buffer, options) or (fd, options) */
function* read(fd, into, offset = undefined, length = undefined, position = undefined) {
  if (!ArrayBuffer.isView(into) || (offset !== null && typeof offset === "object")) {
    const options = ArrayBuffer.isView(into) ? offset : (into ?? {});
    ({ offset, length, position } = options);
    into = ArrayBuffer.isView(into) ? into : (options.buffer ?? Buffer.alloc(16384));
  }
  offset ??= 0;
  length ??= into.byteLength - offset;
  validateRange("offset", offset, into.byteLength);
  validateRange("length", length, into.byteLength - offset);
  const at = typeof position === "bigint" ? Number(position) : position;
  const data = yield ["fs.read", descriptor(fd), length, typeof at === "number" && at >= 0 ? at : undefined];
  new Uint8Array(into.buffer, into.byteOffset, into.byteLength).set(data, offset);
  return { bytesRead: data.length, buffer: into };
}

function validateRange(name, value, max) {
  if (typeof value !== "number") throw new ERR_INVALID_ARG_TYPE(name, "number", value);
  if (!(value >= 0)) throw new ERR_OUT_OF_RANGE(name, ">= 0", value);
  if (value > max) throw new ERR_OUT_OF_RANGE(name, `<= ${max}`, value);
}

/** (fd, bytes, offset, length, position), (fd, bytes, options) or (fd, text, position, encoding) */
function* write(fd, data, offset = undefined, length = undefined, position = undefined) {
  let content = data;
  if (typeof data === "string") {
    position = offset;
    content = contentOf(data, length);
  } else {
    contentOf(data, undefined, "buffer");
    if (offset !== null && typeof offset === "object") ({ offset, length, position } = offset);
    offset ??= 0;
    length ??= data.byteLength - offset;
    validateRange("offset", offset, data.byteLength);
    validateRange("length", length, data.byteLength - offset);
    content = new Uint8Array(data.buffer, data.byteOffset + offset, length);
  }
  const bytesWritten = isPipe(descriptor(fd))
    ? (host.call("process.write", fd, content), typeof content === "string" ? Buffer.byteLength(content) : content.byteLength)
    : yield ["fs.write", fd, content, typeof position === "number" && position >= 0 ? position : undefined];
  return { bytesWritten, buffer: data };
}

function* readv(fd, buffers, position = undefined) {
  let bytesRead = 0;
  for (const into of buffers) {
    const { bytesRead: n } = yield* read(fd, into, 0, into.byteLength, typeof position === "number" ? position + bytesRead : undefined);
    bytesRead += n;
    if (n < into.byteLength) break;
  }
  return { bytesRead, buffers };
}

function* writev(fd, buffers, position = undefined) {
  let bytesWritten = 0;
  for (const data of buffers) {
    const at = typeof position === "number" ? position + bytesWritten : undefined;
    bytesWritten += (yield* write(fd, data, 0, data.byteLength, at)).bytesWritten;
  }
  return { bytesWritten, buffers };
}

const statOf = (name) =>
  function* (path, options) {
    const file = pathOf(path);
    try {
      return statsOf(yield [name, file], options);
    } catch (error) {
      if (options?.throwIfNoEntry === false && (error.code === "ENOENT" || error.code === "ENOTDIR")) return undefined;
      throw error;
    }
  };
const stat = statOf("fs.stat");
const lstat = statOf("fs.lstat");

function* fstat(fd, options) {
  return statsOf(yield ["fs.fstat", descriptor(fd)], options);
}

function* mkdir(path, options) {
  const { recursive = false, mode } = options !== null && typeof options === "object" ? options : { mode: options };
  return yield ["fs.mkdir", pathOf(path), Boolean(recursive), modeOf(mode, 0o777)];
}

function* mkdtemp(prefix, options) {
  const { encoding } = optionsOf(options);
  return encodeName(yield ["fs.mkdtemp", pathOf(prefix, "prefix")], encoding);
}

function* readdir(path, options) {
  const { encoding, withFileTypes, recursive } = optionsOf(options);
  const top = pathOf(path);
  const found = [];
  const folders = [""];
  for (let i = 0; i < folders.length; i++) {
    const folder = folders[i] === "" ? top : join(top, folders[i]);
    const entries = yield ["fs.readdir", folder];
    for (let j = 0; j < entries.length; j += 2) {
      const [name, kind] = [entries[j], entries[j + 1]];
      const below = folders[i] === "" ? name : join(folders[i], name);
      found.push(withFileTypes ? new Dirent(encodeName(name, encoding), folder, kind) : encodeName(below, encoding));
      if (recursive && kind === constants.S_IFDIR) folders.push(below);
    }
  }
  return found;
}

const separator = () => (require("node:process").platform === "win32" ? "\\" : "/");
const join = (folder, name) => (/[\\/]$/.test(folder) ? folder + name : folder + separator() + name);

function* rm(path, options) {
  const { force = false, recursive = false } = optionsOf(options);
  const file = pathOf(path);
  let kind;
  try {
    kind = (yield ["fs.lstat", file])[1] & constants.S_IFMT;
  } catch (error) {
    if (force && error.code === "ENOENT") return;
    throw error;
  }
  if (kind === constants.S_IFDIR && !recursive) {
    throw systemError("ERR_FS_EISDIR", `Path is a directory: rm returned EISDIR (is a directory) ${file}`, { errno: 21, syscall: "rm", path: file });
  }
  yield ["fs.removeAll", file];
}

function* rmdir(path, options) {
  if (!options?.recursive) return yield ["fs.rmdir", pathOf(path)];
  yield* rm(path, { recursive: true });
}

function* unlink(path) {
  yield ["fs.unlink", pathOf(path)];
}

function* rename(from, to) {
  yield ["fs.rename", pathOf(from, "oldPath"), pathOf(to, "newPath")];
}

function* link(from, to) {
  yield ["fs.link", pathOf(from, "existingPath"), pathOf(to, "newPath")];
}

function* symlink(to, path) {
  yield ["fs.symlink", pathOf(to, "target"), pathOf(path)];
}

function* readlink(path, options) {
  const { encoding } = optionsOf(options);
  return encodeName(yield ["fs.readlink", pathOf(path)], encoding);
}

function* realpath(path, options) {
  const { encoding } = optionsOf(options);
  return encodeName(yield ["fs.realpath", pathOf(path)], encoding);
}

/** In node, realpath and realpathSync resolve links in JavaScript, so that lstat fails. */
function* realpathByLinks(path, options) {
  try {
    return yield* realpath(path, options);
  } catch (error) {
    if (error.syscall !== "realpath") throw error;
    const parts = require("node:path").resolve(pathOf(path)).split(separator());
    for (let i = 2; i <= parts.length; i++) yield ["fs.lstat", parts.slice(0, i).join(separator())];
    throw error;
  }
}

function* access(path, mode = constants.F_OK) {
  yield ["fs.access", pathOf(path), mode];
}

function* exists(path) {
  try {
    yield* access(path);
    return true;
  } catch {
    return false;
  }
}

function* chmod(path, mode) {
  yield ["fs.chmod", pathOf(path), modeOf(mode)];
}

function* fchmod(fd, mode) {
  yield ["fs.chmod", descriptor(fd), modeOf(mode)];
}

function* utimes(path, atime, mtime) {
  yield ["fs.utimes", pathOf(path), timeOf(atime), timeOf(mtime)];
}

function* futimes(fd, atime, mtime) {
  yield ["fs.utimes", descriptor(fd), timeOf(atime), timeOf(mtime)];
}

function* truncate(path, length = 0) {
  yield ["fs.truncate", typeof path === "number" ? path : pathOf(path), Math.max(0, length ?? 0)];
}

function* ftruncate(fd, length = 0) {
  yield ["fs.truncate", descriptor(fd), Math.max(0, length ?? 0)];
}

function* fsync(fd) {
  yield ["fs.sync", descriptor(fd)];
}

function* copyFile(from, to, mode = 0) {
  yield ["fs.copy", pathOf(from, "src"), pathOf(to, "dest"), (mode & constants.COPYFILE_EXCL) !== 0];
}

function* cp(from, to, options) {
  const settings = { force: true, filter: () => true, ...optionsOf(options) };
  const path = require("node:path");
  const [src, dest] = [pathOf(from, "src"), pathOf(to, "dest")];
  const [source, absoluteDest] = [path.resolve(src), path.resolve(dest)];
  const failed = (code, text, file) => systemError(code, `${text} ${file}`, { errno: 22, syscall: "cp", path: file });
  if (source === absoluteDest) throw failed("ERR_FS_CP_EINVAL", "Invalid src or dest: cp returned EINVAL (src and dest cannot be the same)", dest);
  const { [1]: mode } = yield [settings.dereference ? "fs.stat" : "fs.lstat", src];
  if ((mode & constants.S_IFMT) === constants.S_IFDIR) {
    if (!settings.recursive) {
      throw failed("ERR_FS_EISDIR", `Path is a directory: cp returned EISDIR (${src} is a directory (not copied))`, src);
    }
    if (absoluteDest.startsWith(source + path.sep)) {
      throw failed("ERR_FS_CP_EINVAL", `Invalid src or dest: cp returned EINVAL (cannot copy ${src} to a subdirectory of self ${dest})`, dest);
    }
  }
  if (!(yield* isSelected(settings, src, dest))) return;
  yield ["fs.mkdir", path.dirname(absoluteDest), true, 0o777];
  yield* copyTree(src, dest, settings);
}

function* isSelected({ filter }, src, dest) {
  const answer = filter(src, dest);
  return typeof answer?.then === "function" ? yield answer : answer;
}

function* copyTree(src, dest, settings) {
  const path = require("node:path");
  const { [1]: mode, [10]: atime, [11]: mtime } = yield [settings.dereference ? "fs.stat" : "fs.lstat", src];
  const existing = yield* lstat(dest, { throwIfNoEntry: false });
  const kind = mode & constants.S_IFMT;
  if (kind === constants.S_IFDIR) {
    if (existing && !existing.isDirectory()) {
      throw systemError("ERR_FS_CP_DIR_TO_NON_DIR",
        `Cannot overwrite non-directory with directory: cp returned EISDIR (cannot overwrite non-directory ${dest} with directory ${src}) ${dest}`);
    }
    if (!existing) yield ["fs.mkdir", dest, false, mode & 0o777];
    const entries = yield ["fs.readdir", src];
    for (let i = 0; i < entries.length; i += 2) {
      const [one, other] = [path.join(src, entries[i]), path.join(dest, entries[i])];
      if (yield* isSelected(settings, one, other)) yield* copyTree(one, other, settings);
    }
    return;
  }
  if (existing?.isDirectory()) {
    throw systemError("ERR_FS_CP_NON_DIR_TO_DIR",
      `Cannot overwrite directory with non-directory: cp returned ENOTDIR (cannot overwrite directory ${dest} with non-directory ${src}) ${dest}`);
  }
  if (existing && !settings.force) {
    if (!settings.errorOnExist) return;
    throw systemError("ERR_FS_CP_EEXIST", `Target already exists: cp returned EEXIST (${dest} already exists) ${dest}`, { syscall: "cp", path: dest });
  }
  if (existing) yield ["fs.unlink", dest];
  if (kind !== constants.S_IFLNK) yield ["fs.copy", src, dest, false];
  else {
    const absoluteDest = yield ["fs.readlink", src];
    yield ["fs.symlink", settings.verbatimSymlinks ? absoluteDest : path.resolve(path.dirname(src), absoluteDest), dest];
  }
  if (settings.preserveTimestamps && kind !== constants.S_IFLNK) yield ["fs.utimes", dest, atime, mtime];
}

/** The result of opendir. */
export class Dir {
  #entries;
  #closed = false;

  constructor(path, entries) {
    this.path = path;
    this.#entries = entries;
  }

  #open() {
    if (this.#closed) throw Object.assign(new Error("Directory handle was closed"), { code: "ERR_DIR_CLOSED" });
  }

  readSync() {
    this.#open();
    return this.#entries.shift() ?? null;
  }

  read(callback = undefined) {
    const entry = this.readSync();
    if (!callback) return Promise.resolve(entry);
    process.nextTick(callback, null, entry);
  }

  closeSync() {
    this.#open();
    this.#closed = true;
  }

  close(callback = undefined) {
    this.closeSync();
    if (!callback) return Promise.resolve();
    process.nextTick(callback, null);
  }

  async *entries() {
    try {
      for (let entry = await this.read(); entry !== null; entry = await this.read()) yield entry;
    } finally {
      this.closeSync();
    }
  }

  [Symbol.asyncIterator]() {
    return this.entries();
  }
}

function* opendir(path, options) {
  const { recursive, encoding } = optionsOf(options);
  const file = pathOf(path);
  try {
    return new Dir(file, yield* readdir(file, { recursive, encoding, withFileTypes: true }));
  } catch (error) {
    if (error.syscall !== "scandir") throw error;
    error.message = error.message.replace(", scandir ", ", opendir ");
    error.syscall = "opendir";
    throw error;
  }
}

/** Functions that fs and fs.promises have in common. */
export const pathCalls = {
  access, appendFile, chmod, copyFile, cp, link, lstat, mkdir, mkdtemp, opendir, readFile, readdir, readlink, realpath, rename, rm, rmdir,
  stat, symlink, truncate, unlink, utimes, writeFile,
};

/** Functions of fs that fs.promises does not have. */
export const descriptorCalls = {
  close, exists, fchmod, fdatasync: fsync, fstat, fsync, ftruncate, futimes, open, read, readv, realpath: realpathByLinks, write, writev,
};

export const realpathNative = realpath;

/** Functions of node that the engine does not have. */
export const missing = ["chown", "fchown", "lchmod", "lchown", "lutimes", "statfs"];
