/** console: writes to stdout and stderr, and formats objects with util.inspect. */

const util = () => require("node:util");

/** Does not load util.inspect for strings. */
function format(args) {
  if (args.length === 1 && typeof args[0] === "string") return args[0];
  if (args.every((arg) => typeof arg === "string") && !args[0]?.includes("%")) return args.join(" ");
  return util().format(...args);
}

class Console {
  #indent = "";
  #counts = new Map();
  #timers = new Map();
  #streams;

  constructor(stdout, stderr = stdout) {
    const options = stdout?.stdout ? stdout : { stdout, stderr };
    this.#streams = { 1: options.stdout, 2: options.stderr ?? options.stdout };
    for (const name of Object.getOwnPropertyNames(Console.prototype)) {
      if (name !== "constructor") this[name] = this[name].bind(this);
    }
  }
  #print(fd, text) {
    const indented = this.#indent ? this.#indent + text.replaceAll("\n", `\n${this.#indent}`) : text;
    const stream = this.#streams[fd] ?? require("node:process")[fd === 1 ? "stdout" : "stderr"];
    stream.write(`${indented}\n`);
  }
  log(...args) {
    this.#print(1, format(args));
  }
  info(...args) {
    this.#print(1, format(args));
  }
  debug(...args) {
    this.#print(1, format(args));
  }
  error(...args) {
    this.#print(2, format(args));
  }
  warn(...args) {
    this.#print(2, format(args));
  }
  trace(...args) {
    const error = new Error(format(args));
    error.name = "Trace";
    this.#print(2, error.stack);
  }
  assert(ok, ...args) {
    if (ok) return;
    if (typeof args[0] === "string") args[0] = `Assertion failed: ${args[0]}`;
    else args.unshift("Assertion failed");
    this.#print(2, format(args));
  }
  dir(object, options) {
    this.#print(1, util().inspect(object, { customInspect: false, ...options }));
  }
  dirxml(...args) {
    this.log(...args);
  }
  table(data, columns) {
    this.log(typeof data === "object" && data !== null ? require("internal/table").table(data, columns) : data);
  }
  group(...label) {
    if (label.length > 0) this.log(...label);
    this.#indent += "  ";
  }
  groupCollapsed(...label) {
    this.group(...label);
  }
  groupEnd() {
    this.#indent = this.#indent.slice(2);
  }
  count(label = "default") {
    const n = (this.#counts.get(`${label}`) ?? 0) + 1;
    this.#counts.set(`${label}`, n);
    this.log(`${label}: ${n}`);
  }
  countReset(label = "default") {
    this.#counts.delete(`${label}`);
  }
  time(label = "default") {
    this.#timers.set(`${label}`, host.call("time.now"));
  }
  timeEnd(label = "default") {
    this.timeLog(label);
    this.#timers.delete(`${label}`);
  }
  timeLog(label = "default", ...args) {
    const start = this.#timers.get(`${label}`);
    if (start === undefined) {
      require("node:process").emitWarning(`No such label '${label}' for console.timeLog()`);
      return;
    }
    const ms = host.call("time.now") - start;
    this.log(`${label}: ${ms >= 1000 ? `${(ms / 1000).toFixed(3)}s` : `${ms.toFixed(3)}ms`}`, ...args);
  }
  timeStamp() {}
  profile() {}
  profileEnd() {}
}

const console = new Console();
Object.defineProperty(console, "Console", { value: Console, writable: true, configurable: true });

export default console;
