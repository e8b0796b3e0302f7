/** node:fs/promises. @module */
import { unavailableFunctions } from "internal/errors";
import { pathCalls, constants, runAsync, missing, descriptorCalls } from "internal/files";

const promised = (call) => async (...args) => runAsync(call(...args));

/** Whether data for writeFile is a stream or an iterable. */
const isIterable = (data) =>
  typeof data !== "string" && !ArrayBuffer.isView(data) && (data?.[Symbol.asyncIterator] || data?.[Symbol.iterator]);

async function writeEach(handle, data, options) {
  for await (const piece of data) await handle.write(piece, undefined, typeof piece === "string" ? options?.encoding : undefined);
}

async function writeFile(path, data, options = undefined) {
  if (!isIterable(data)) return runAsync(pathCalls.writeFile(path, data, options));
  if (path instanceof FileHandle) return writeEach(path, data, options);
  const handle = await open(path, options?.flag ?? "w", options?.mode);
  try {
    await writeEach(handle, data, options);
  } finally {
    await handle.close();
  }
}

class FileHandle {
  #fd;

  constructor(fd) {
    this.#fd = fd;
  }

  get fd() {
    return this.#fd;
  }

  async close() {
    const fd = this.#fd;
    if (fd === -1) return;
    this.#fd = -1;
    await runAsync(descriptorCalls.close(fd));
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.close();
  }

  read(...args) {
    return this.#call(descriptorCalls.read, ...args);
  }
  readv(...args) {
    return this.#call(descriptorCalls.readv, ...args);
  }
  write(...args) {
    return this.#call(descriptorCalls.write, ...args);
  }
  writev(...args) {
    return this.#call(descriptorCalls.writev, ...args);
  }
  readFile(options) {
    return this.#call(pathCalls.readFile, options);
  }
  async writeFile(data, options) {
    return isIterable(data) ? writeEach(this, data, options) : this.#call(pathCalls.writeFile, data, options);
  }
  async appendFile(data, options) {
    return this.writeFile(data, options);
  }
  stat(options) {
    return this.#call(descriptorCalls.fstat, options);
  }
  truncate(length) {
    return this.#call(descriptorCalls.ftruncate, length);
  }
  sync() {
    return this.#call(descriptorCalls.fsync);
  }
  datasync() {
    return this.#call(descriptorCalls.fsync);
  }
  chmod(mode) {
    return this.#call(descriptorCalls.fchmod, mode);
  }
  utimes(atime, mtime) {
    return this.#call(descriptorCalls.futimes, atime, mtime);
  }

  async #call(call, ...args) {
    if (this.#fd === -1) throw Object.assign(new Error("file closed"), { code: "EBADF", syscall: call.name });
    return runAsync(call(this.#fd, ...args));
  }

  createReadStream(options = undefined) {
    return new (require("internal/file_streams").ReadStream)(undefined, { ...options, fd: this });
  }
  createWriteStream(options = undefined) {
    return new (require("internal/file_streams").WriteStream)(undefined, { ...options, fd: this });
  }
  readLines(options = undefined) {
    return require("node:readline").createInterface({ input: this.createReadStream(options), crlfDelay: Number.POSITIVE_INFINITY });
  }
}

async function open(...args) {
  return new FileHandle(await runAsync(descriptorCalls.open(...args)));
}

export default {
  ...Object.fromEntries(Object.entries(pathCalls).map(([name, call]) => [name, promised(call)])),
  ...Object.fromEntries(Object.entries(unavailableFunctions("fs.promises", missing.join(" "))).map(([name, call]) => [name, async () => call()])),
  ...unavailableFunctions("fs.promises", "watch"), // returns an iterator, not a promise
  constants,
  open,
  writeFile,
  appendFile: (path, data, options = undefined) =>
    writeFile(path, data, { flag: "a", ...(typeof options === "string" ? { encoding: options } : options) }),
};
