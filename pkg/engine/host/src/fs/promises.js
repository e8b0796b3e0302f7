/** node:fs/promises. @module */
import { absent } from "internal/errors";
import { calls, constants, later, missing, more } from "internal/files";

const promised = (call) => async (...args) => later(call(...args));

/** What writeFile takes besides text and bytes: what gives them by and by. */
const isIterable = (data) =>
  typeof data !== "string" && !ArrayBuffer.isView(data) && (data?.[Symbol.asyncIterator] || data?.[Symbol.iterator]);

async function writeEach(handle, data, options) {
  for await (const piece of data) await handle.write(piece, undefined, typeof piece === "string" ? options?.encoding : undefined);
}

async function writeFile(path, data, options = undefined) {
  if (!isIterable(data)) return later(calls.writeFile(path, data, options));
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
    await later(more.close(fd));
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.close();
  }

  read(...args) {
    return this.#call(more.read, ...args);
  }
  readv(...args) {
    return this.#call(more.readv, ...args);
  }
  write(...args) {
    return this.#call(more.write, ...args);
  }
  writev(...args) {
    return this.#call(more.writev, ...args);
  }
  readFile(options) {
    return this.#call(calls.readFile, options);
  }
  async writeFile(data, options) {
    return isIterable(data) ? writeEach(this, data, options) : this.#call(calls.writeFile, data, options);
  }
  async appendFile(data, options) {
    return this.writeFile(data, options);
  }
  stat(options) {
    return this.#call(more.fstat, options);
  }
  truncate(length) {
    return this.#call(more.ftruncate, length);
  }
  sync() {
    return this.#call(more.fsync);
  }
  datasync() {
    return this.#call(more.fsync);
  }
  chmod(mode) {
    return this.#call(more.fchmod, mode);
  }
  utimes(atime, mtime) {
    return this.#call(more.futimes, atime, mtime);
  }

  async #call(call, ...args) {
    if (this.#fd === -1) throw Object.assign(new Error("file closed"), { code: "EBADF", syscall: call.name });
    return later(call(this.#fd, ...args));
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
  return new FileHandle(await later(more.open(...args)));
}

export default {
  ...Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, promised(call)])),
  ...Object.fromEntries(Object.entries(absent("fs.promises", missing.join(" "))).map(([name, call]) => [name, async () => call()])),
  ...absent("fs.promises", "watch"), // gives an iterator and no promise
  constants,
  open,
  writeFile,
  appendFile: (path, data, options = undefined) =>
    writeFile(path, data, { flag: "a", ...(typeof options === "string" ? { encoding: options } : options) }),
};
