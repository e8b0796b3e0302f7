/** process. It does not use node:events and node:stream, because every script loads it and those are slow to load. */

import { Emitter } from "internal/emitter";

const info = host.call("process.info");
const isWindows = info.platform === "win32";

/** Values of the environment are strings, and on Windows names ignore case. */
const env = new Proxy(info.env, {
  get: (target, name) => target[envName(target, name)],
  set: (target, name, value) => {
    target[envName(target, name)] = `${value}`;
    return true;
  },
  has: (target, name) => envName(target, name) in target,
  deleteProperty: (target, name) => delete target[envName(target, name)],
});

function envName(target, name) {
  if (!isWindows || typeof name === "symbol" || name in target) return name;
  const upper = name.toUpperCase();
  return Object.keys(target).find((known) => known.toUpperCase() === upper) ?? name;
}

function hrtime(previous) {
  let [seconds, nanoseconds] = host.call("time.hr");
  if (previous) {
    seconds -= previous[0];
    nanoseconds -= previous[1];
    if (nanoseconds < 0) [seconds, nanoseconds] = [seconds - 1, nanoseconds + 1e9];
  }
  return [seconds, nanoseconds];
}
hrtime.bigint = () => {
  const [seconds, nanoseconds] = host.call("time.hr");
  return BigInt(seconds) * 1000000000n + BigInt(nanoseconds);
};

function memoryUsage() {
  const used = host.call("process.memory");
  return { rss: used, heapTotal: used, heapUsed: used, external: 0, arrayBuffers: 0 };
}
memoryUsage.rss = () => host.call("process.memory");

function unsupported(name) {
  return () => {
    throw host.unavailable(`process.${name}()`);
  };
}

let exiting = false;
let exitCode;

class Process extends Emitter {
  argv = info.argv;
  argv0 = "trailblaze";
  execPath = info.argv[0];
  execArgv = [];
  env = env;
  title = "trailblaze";
  pid = info.pid;
  ppid = info.ppid;
  platform = info.platform;
  arch = info.arch;
  version = `v${info.node}`;
  versions = { node: info.node, quickjs: info.quickjs, modules: "115" };
  release = { name: "node" };
  config = { target_defaults: {}, variables: {} };
  features = {};
  hrtime = hrtime;
  memoryUsage = memoryUsage;
  chdir = unsupported("chdir");
  dlopen = unsupported("dlopen");
  umask = () => 0o22;
  cwd = () => info.cwd;
  uptime = () => host.call("time.now") / 1000;
  nextTick = (task, ...args) => {
    if (typeof task !== "function") {
      throw Object.assign(new TypeError('The "callback" argument must be of type function'), { code: "ERR_INVALID_ARG_TYPE" });
    }
    if (!exiting) host.nextTick(task, ...args);
  };
  exit = (code) => {
    if (code !== undefined) this.exitCode = code;
    if (!exiting) {
      exiting = true;
      host.guard(() => this.emit("exit", exitCode ?? 0));
    }
    this.reallyExit(exitCode ?? 0);
  };
  reallyExit = (code) => host.call("process.exit", Number(code));
  abort = () => host.call("process.kill", "SIGABRT");
  cpuUsage = () => ({ user: Math.round(host.call("time.now") * 1000), system: 0 });
  emitWarning = (warning, type, code) => {
    const options = typeof type === "object" && type !== null ? type : { type, code };
    const error = warning instanceof Error ? warning : Object.assign(new Error(warning), { name: options.type ?? "Warning" });
    if (options.code && typeof options.code === "string") error.code = options.code;
    if (options.detail) error.detail = options.detail;
    host.nextTick(() => this.emit("warning", error));
    if (!this.noWarnings) host.call("process.write", 2, warningText(error));
  };
  kill = (pid, signal = "SIGTERM") => {
    if (pid !== info.pid) unsupported("kill")();
    if (signal === 0) return true;
    if (this.listenerCount(signal) > 0) host.nextTick(() => this.emit(signal, signal));
    else host.call("process.kill", String(signal));
    return true;
  };
  get exitCode() {
    return exitCode;
  }
  set exitCode(code) {
    if (code !== undefined && code !== null && !Number.isInteger(Number(code))) {
      throw Object.assign(new TypeError(`The "code" argument must be of type number. Received ${code}`), { code: "ERR_INVALID_ARG_TYPE" });
    }
    exitCode = code === undefined || code === null ? undefined : Number(code);
  }
  get stdin() {
    return defineOwn(this, "stdin", require("internal/stdio").stdin);
  }
  get stdout() {
    return defineOwn(this, "stdout", require("internal/stdio").stdout);
  }
  get stderr() {
    return defineOwn(this, "stderr", require("internal/stdio").stderr);
  }
  get [Symbol.toStringTag]() {
    return "process";
  }
}

function warningText(error) {
  const code = error.code ? `[${error.code}] ` : "";
  return `(node:${info.pid}) ${code}${error.name}: ${error.message}\n${error.detail ? `${error.detail}\n` : ""}`;
}

function defineOwn(target, name, value) {
  Object.defineProperty(target, name, { value, configurable: true, enumerable: true, writable: true });
  return value;
}

const process = new Process();
process.onListeners = (name) => {
  if (name === "SIGTERM") host.call("process.signal", process.listenerCount("SIGTERM") > 0);
};

export default process;
