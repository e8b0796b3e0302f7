/** node:readline for input that is not a terminal. @module */
import EventEmitter from "node:events";
import { StringDecoder } from "node:string_decoder";
import { AbortError, ERR_USE_AFTER_CLOSE, validateAbortSignal } from "internal/errors";

const lineEnd = /\r?\n|\r(?!\n)/;

class Interface extends EventEmitter {
  #decoder = new StringDecoder("utf8");
  #rest = "";
  #carriageReturn = -Infinity;
  #delay;
  #prompt;
  #question;
  #stop;
  #paused = false;

  constructor(input, output = undefined, completer = undefined, terminal = undefined) {
    super();
    const options = input?.input ? input : { input, output, completer, terminal };
    this.input = options.input;
    this.output = options.output;
    this.terminal = false;
    this.closed = false;
    this.line = "";
    this.cursor = 0;
    this.#prompt = options.prompt ?? "> ";
    this.#delay = Math.max(100, options.crlfDelay ?? 100);
    this.#listen(options.signal);
  }

  #listen(signal) {
    validateAbortSignal(signal, "options.signal");
    const { input } = this;
    const data = (chunk) => this.#read(typeof chunk === "string" ? chunk : this.#decoder.write(chunk));
    const end = () => this.#end();
    const fail = (error) => this.emit("error", error);
    const abort = () => this.close();
    input.on("data", data);
    input.on("end", end);
    input.on("error", fail);
    if (signal?.aborted) queueMicrotask(abort);
    else signal?.addEventListener("abort", abort, { once: true });
    this.#stop = () => {
      input.removeListener("data", data);
      input.removeListener("end", end);
      input.removeListener("error", fail);
      signal?.removeEventListener("abort", abort);
    };
    input.resume();
  }

  #read(text) {
    if (text === "") return;
    if (Date.now() - this.#carriageReturn <= this.#delay && text.startsWith("\n")) text = text.slice(1);
    this.#carriageReturn = text.endsWith("\r") ? Date.now() : -Infinity;
    const lines = (this.#rest + text).split(lineEnd);
    this.#rest = lines.pop();
    for (const line of lines) this.#line(line);
  }

  #line(line) {
    const answer = this.#question;
    this.#question = undefined;
    if (answer) answer(line);
    else this.emit("line", line);
  }

  #end() {
    const last = this.#rest + this.#decoder.end();
    this.#rest = "";
    if (last !== "") this.#line(last);
    this.close();
  }

  getPrompt() {
    return this.#prompt;
  }

  setPrompt(prompt) {
    this.#prompt = `${prompt}`;
  }

  prompt() {
    if (this.#paused) this.resume();
    this.output?.write(this.#prompt);
  }

  question(query, options, callback = options) {
    if (this.closed) throw new ERR_USE_AFTER_CLOSE("readline");
    if (typeof callback !== "function" || this.#question) return;
    const signal = options?.signal;
    if (signal?.aborted) return;
    const abort = () => (this.#question = undefined);
    signal?.addEventListener("abort", abort, { once: true });
    this.#question = (line) => {
      signal?.removeEventListener("abort", abort);
      callback(line);
    };
    this.output?.write(query);
    if (this.#paused) this.resume();
  }

  write(text) {
    if (this.closed) throw new ERR_USE_AFTER_CLOSE("readline");
    if (this.#paused) this.resume();
    this.#read(typeof text === "string" ? text : this.#decoder.write(text));
  }

  pause() {
    if (this.#paused) return this;
    this.input.pause();
    this.#paused = true;
    this.emit("pause");
    return this;
  }

  resume() {
    if (!this.#paused) return this;
    this.input.resume();
    this.#paused = false;
    this.emit("resume");
    return this;
  }

  close() {
    if (this.closed) return;
    this.pause();
    this.#stop();
    this.closed = true;
    this.emit("close");
  }

  [Symbol.asyncIterator]() {
    const lines = EventEmitter.on(this, "line", { close: ["close"] });
    return (async function* (self) {
      try {
        for await (const [line] of lines) yield line;
      } finally {
        self.close();
      }
    })(this);
  }
}

/** question with a promise. */
function askQuestion(rl, query, options = {}) {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    const abort = () => reject(new AbortError(undefined, { cause: signal.reason }));
    if (signal?.aborted) return abort();
    signal?.addEventListener("abort", abort, { once: true });
    Interface.prototype.question.call(rl, query, options, resolve);
  });
}

Object.defineProperty(Interface.prototype.question, Symbol.for("nodejs.util.promisify.custom"), {
  value(query, options) {
    return askQuestion(this, query, options);
  },
});

const sequence = (stream, text, callback) => {
  if (stream === null || stream === undefined) {
    if (typeof callback === "function") process.nextTick(callback, null);
    return true;
  }
  return stream.write(text, callback);
};

export default {
  Interface,
  createInterface: (...args) => new Interface(...args),
  clearLine: (stream, direction, callback) => sequence(stream, `\u001b[${direction < 0 ? 1 : direction > 0 ? 0 : 2}K`, callback),
  clearScreenDown: (stream, callback) => sequence(stream, "\u001b[0J", callback),
  cursorTo: (stream, x, y, callback) =>
    sequence(stream, typeof y === "number" ? `\u001b[${y + 1};${x + 1}H` : `\u001b[${x + 1}G`, typeof y === "function" ? y : callback),
  moveCursor(stream, dx, dy, callback) {
    const horizontal = dx < 0 ? `\u001b[${-dx}D` : dx > 0 ? `\u001b[${dx}C` : "";
    const vertical = dy < 0 ? `\u001b[${-dy}A` : dy > 0 ? `\u001b[${dy}B` : "";
    return sequence(stream, horizontal + vertical, callback);
  },
  emitKeypressEvents() {},
  get promises() {
    return require("node:readline/promises");
  },
};
