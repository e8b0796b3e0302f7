/** process.stdin, stdout and stderr: the part of their API that servers and packages use, without node:stream. */

import { Emitter } from "internal/emitter";

class Stdin extends Emitter {
  fd = 0;
  readable = true;
  readableEnded = false;
  destroyed = false;
  readableFlowing = null;
  #id = host.listen((piece) => this.#receive(piece));
  #pieces = [];
  #ended = false;
  #decoder = null;

  onListeners(name) {
    if (name === "data" && this.listenerCount("data") > 0 && this.readableFlowing !== false) this.resume();
    if (name === "readable" && this.listenerCount("readable") > 0) {
      this.readableFlowing = false;
      this.#start();
    }
  }
  #start() {
    if (!this.#ended && !this.destroyed) host.call("stdin.start", this.#id);
  }
  #receive(piece) {
    if (piece === undefined) {
      this.#ended = true;
      const rest = this.#decoder?.end();
      if (rest) this.#pieces.push(rest);
    } else {
      const { Buffer } = require("node:buffer");
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      const text = this.#decoder ? this.#decoder.write(bytes) : bytes;
      if (text.length > 0) this.#pieces.push(text);
    }
    this.#flow();
  }
  #flow() {
    if (this.listenerCount("readable") > 0) {
      this.emit("readable");
    } else {
      while (this.readableFlowing && this.#pieces.length > 0) this.emit("data", this.#pieces.shift());
    }
    if (this.#ended && this.#pieces.length === 0 && !this.readableEnded && this.readableFlowing !== null) this.#end();
  }
  #end() {
    this.readableEnded = true;
    this.readable = false;
    host.nextTick(() => {
      this.emit("end");
      this.destroy();
    });
  }
  read() {
    if (this.#pieces.length === 0) {
      if (this.#ended && !this.readableEnded) this.#end();
      return null;
    }
    const all = this.#pieces;
    this.#pieces = [];
    return this.#decoder ? all.join("") : require("node:buffer").Buffer.concat(all);
  }
  resume() {
    if (this.readableFlowing !== true) {
      this.readableFlowing = true;
      host.nextTick(() => {
        this.emit("resume");
        this.#flow();
      });
      this.#start();
    }
    return this;
  }
  pause() {
    if (this.readableFlowing !== false) {
      this.readableFlowing = false;
      host.call("stdin.pause");
      this.emit("pause");
    }
    return this;
  }
  isPaused() {
    return this.readableFlowing === false;
  }
  setEncoding(encoding) {
    this.#decoder = new (require("node:string_decoder").StringDecoder)(encoding);
    return this;
  }
  ref() {
    host.call("stdin.ref", true);
    return this;
  }
  unref() {
    host.call("stdin.ref", false);
    return this;
  }
  pipe(target, options) {
    this.on("data", (piece) => {
      if (target.write(piece) === false) {
        this.pause();
        target.once("drain", () => this.resume());
      }
    });
    if (options?.end !== false) this.once("end", () => target.end());
    target.emit?.("pipe", this);
    return target;
  }
  destroy(error) {
    if (this.destroyed) return this;
    this.destroyed = true;
    this.readable = false;
    host.call("stdin.close");
    host.nextTick(() => {
      if (error) this.emit("error", error);
      this.emit("close");
    });
    return this;
  }
  [Symbol.asyncIterator]() {
    let wake = () => {};
    const notify = () => wake();
    for (const event of ["readable", "close"]) this.on(event, notify);
    const finish = async () => {
      for (const event of ["readable", "close"]) this.off(event, notify);
      this.destroy();
      return { done: true, value: undefined };
    };
    const next = async () => {
      for (;;) {
        const value = this.read();
        if (value !== null) return { done: false, value };
        if (this.readableEnded || this.destroyed) return finish();
        await new Promise((resolve) => (wake = resolve));
      }
    };
    return {
      next,
      return: finish,
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }
}

/** Writes are synchronous, as node's writes to pipes: they block while the reader does not read. */
class Output extends Emitter {
  writable = true;
  writableEnded = false;
  writableFinished = false;
  writableLength = 0;
  writableHighWaterMark = 16384;
  writableNeedDrain = false;
  destroyed = false;
  constructor(fd) {
    super();
    this.fd = fd;
  }
  write(piece, encoding, done) {
    if (typeof encoding === "function") [encoding, done] = [undefined, encoding];
    const error = this.#validate(piece) ?? this.#write(piece, encoding);
    host.nextTick(() => {
      done?.(error);
      if (error) this.destroy(error);
    });
    return !error;
  }
  #validate(piece) {
    if (typeof piece !== "string" && !ArrayBuffer.isView(piece)) {
      throw Object.assign(new TypeError('The "chunk" argument must be of type string or an instance of Buffer or Uint8Array'), {
        code: "ERR_INVALID_ARG_TYPE",
      });
    }
    if (this.writableEnded) return Object.assign(new Error("write after end"), { code: "ERR_STREAM_WRITE_AFTER_END" });
    return null;
  }
  #write(piece, encoding) {
    const isUTF8 = typeof piece !== "string" || !encoding || /^utf-?8$/i.test(encoding);
    try {
      host.call("process.write", this.fd, isUTF8 ? piece : require("node:buffer").Buffer.from(piece, encoding));
      return null;
    } catch (error) {
      return error;
    }
  }
  end(piece, encoding, done) {
    if (typeof piece === "function") [piece, done] = [undefined, piece];
    if (typeof encoding === "function") [encoding, done] = [undefined, encoding];
    if (piece !== undefined && piece !== null) this.write(piece, encoding);
    this.writableEnded = true;
    this.writable = false;
    host.nextTick(() => {
      this.writableFinished = true;
      this.emit("finish");
      done?.();
    });
    return this;
  }
  cork() {}
  uncork() {}
  setDefaultEncoding() {
    return this;
  }
  destroy(error) {
    if (this.destroyed) return this;
    this.destroyed = true;
    this.writable = false;
    host.nextTick(() => {
      if (error) this.emit("error", error);
      this.emit("close");
    });
    return this;
  }
}

export const stdin = new Stdin();
export const stdout = new Output(1);
export const stderr = new Output(2);
