/** node:module for built-in modules. @module */
import { unavailableFunctions, ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE } from "internal/errors";

const builtinModules = `
  assert assert/strict async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns dns/promises domain
  events fs fs/promises http http2 https inspector inspector/promises module net os path path/posix path/win32 perf_hooks process punycode
  querystring readline readline/promises repl stream stream/consumers stream/promises stream/web string_decoder sys timers timers/promises
  tls trace_events tty url util util/types v8 vm wasi worker_threads zlib`.trim().split(/\s+/);

const isBuiltin = (name) => builtinModules.includes(`${name}`.replace(/^node:/, ""));

const advice = host.sandbox
  ? "in on-device mode only node's own modules can be required; import it, so that it is bundled, mark the tool requiresHost: true, " +
    "or give its server a runtime: bun"
  : "in the embedded engine only JSON files and node's own modules can be required; import it, so that it is bundled, " +
    "or install bun (https://bun.sh) or node";

/** Loaded JSON files by path. */
const cache = Object.create(null);

const isPath = (name) => /^(\.{0,2}\/|\.{1,2}$|[a-zA-Z]:[\\/]|\.{1,2}\\)/.test(name);

/** Returns the file of a path, or undefined. It does not read package.json. */
function fileAt(path) {
  const { realpathSync, statSync } = require("node:fs");
  const join = require("node:path").join;
  const endings = ["", ".js", ".json", ".node"];
  const found = [...endings.map((end) => path + end), ...endings.slice(1).map((end) => join(path, `index${end}`))];
  const file = found.find((one) => statSync(one, { throwIfNoEntry: false })?.isFile());
  return file && realpathSync(file);
}

function readJSON(file) {
  const text = require("node:fs").readFileSync(file, "utf8").replace(/^\ufeff/, "");
  try {
    return JSON.parse(text);
  } catch (error) {
    error.message = `${file}: ${error.message}`;
    throw error;
  }
}

/** @param {string | URL} from path or URL of the requiring file */
function createRequire(from) {
  const isFile = typeof from === "string" ? /^(file:|\/|[a-zA-Z]:[\\/])/.test(from) : from?.protocol === "file:";
  if (!isFile) throw new ERR_INVALID_ARG_VALUE("filename", from, "must be a file URL object, file URL string, or absolute path string");
  const file = /^file:/.test(`${from}`) ? require("node:url").fileURLToPath(from) : from;
  const missing = (name, why = "") =>
    Object.assign(new Error(`Cannot find module '${name}'${why}\nRequire stack:\n- ${file}`), { code: "MODULE_NOT_FOUND", requireStack: [file] });
  const resolve = (name) => {
    if (typeof name !== "string") throw new ERR_INVALID_ARG_TYPE("id", "string", name);
    if (isBuiltin(name)) return name;
    if (!isPath(name) || host.sandbox) throw missing(name, `: ${advice}`);
    const { dirname, resolve: join } = require("node:path");
    const found = fileAt(join(file.endsWith("/") ? file : dirname(file), name));
    if (!found) throw missing(name);
    return found;
  };
  const required = (name) => {
    const found = resolve(name);
    if (isBuiltin(found)) return builtin(`node:${found.replace(/^node:/, "")}`);
    if (found.endsWith(".node")) throw addon(found);
    if (!found.endsWith(".json")) throw missing(name, `: ${advice}`);
    cache[found] ??= { id: found, filename: found, loaded: true, exports: readJSON(found) };
    return cache[found].exports;
  };
  return Object.assign(required, { resolve, cache, main: undefined, extensions: {} });
}

/** Not MODULE_NOT_FOUND, so that packages that try several paths show this error. */
const addon = (file) =>
  Object.assign(new Error(`${file} is a native addon, which the embedded engine cannot load; install bun (https://bun.sh) or node`),
    { code: "ERR_DLOPEN_FAILED" });

function builtin(name) {
  const found = host.require(name);
  if (found !== undefined) return found;
  const message = `${name} is not available in the embedded engine; install bun (https://bun.sh) or node`;
  throw Object.assign(new Error(message), { code: "ERR_UNKNOWN_BUILTIN_MODULE" });
}

export default { builtinModules, createRequire, isBuiltin, ...unavailableFunctions("module", "Module findSourceMap register syncBuiltinESMExports") };
