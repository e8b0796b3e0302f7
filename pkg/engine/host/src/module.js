/** node:module, for the modules that are built in. @module */
import { absent, ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE } from "internal/errors";

const builtinModules = `
  assert assert/strict async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns dns/promises domain
  events fs fs/promises http http2 https inspector inspector/promises module net os path path/posix path/win32 perf_hooks process punycode
  querystring readline readline/promises repl stream stream/consumers stream/promises stream/web string_decoder sys timers timers/promises
  tls trace_events tty url util util/types v8 vm wasi worker_threads zlib`.trim().split(/\s+/);

const isBuiltin = (name) => builtinModules.includes(`${name}`.replace(/^node:/, ""));

/** @param {string | URL} from the file that requires, as a path or a URL */
function createRequire(from) {
  const isFile = typeof from === "string" ? /^(file:|\/|[a-zA-Z]:[\\/])/.test(from) : from?.protocol === "file:";
  if (!isFile) throw new ERR_INVALID_ARG_VALUE("filename", from, "must be a file URL object, file URL string, or absolute path string");
  const file = /^file:/.test(`${from}`) ? require("node:url").fileURLToPath(from) : from;
  const missing = (name) =>
    Object.assign(new Error(`Cannot find module '${name}': what is not bundled cannot be required in the embedded engine\nRequire stack:\n- ${file}`),
      { code: "MODULE_NOT_FOUND", requireStack: [file] });
  const resolve = (name) => {
    if (typeof name !== "string") throw new ERR_INVALID_ARG_TYPE("id", "string", name);
    if (!isBuiltin(name)) throw missing(name);
    return name;
  };
  const required = (name) => {
    const full = `node:${resolve(name).replace(/^node:/, "")}`;
    const found = host.require(full);
    if (found === undefined) throw Object.assign(new Error(`${full} is not available in the embedded engine`), { code: "ERR_UNKNOWN_BUILTIN_MODULE" });
    return found;
  };
  return Object.assign(required, { resolve, cache: {}, main: undefined, extensions: {} });
}

export default { builtinModules, createRequire, isBuiltin, ...absent("module", "Module findSourceMap register syncBuiltinESMExports") };
