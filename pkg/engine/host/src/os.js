/** node:os. @module */
import { unavailableFunctions } from "internal/errors";
import process from "node:process";
import { errno, dlopen, priority, signals } from "unenv/node/internal/os/constants";

const facts = () => host.call("os.facts");
const windows = process.platform === "win32";

/** Functions that convert to their result, as in node. */
const primitive = (fn) => Object.defineProperty(fn, Symbol.toPrimitive, { value: fn });

function tmpdir() {
  const { env } = process;
  const dir = windows
    ? env.TEMP || env.TMP || `${env.SystemRoot || env.windir}\\temp`
    : env.TMPDIR || env.TMP || env.TEMP || "/tmp";
  return dir.length > 1 && /[/\\]$/.test(dir) && !(windows && dir.endsWith(":\\")) ? dir.slice(0, windows || dir.endsWith("/") ? -1 : undefined) : dir;
}

const homedir = () => (windows ? process.env.USERPROFILE : process.env.HOME) || facts().home;
const types = { darwin: "Darwin", linux: "Linux", win32: "Windows_NT", freebsd: "FreeBSD" };

function userInfo(options = undefined) {
  const { username, uid, gid, shell, home } = facts();
  const info = { uid, gid, username, homedir: home, shell: shell || null };
  if (options?.encoding !== "buffer") return info;
  for (const name of ["username", "homedir", "shell"]) if (info[name] !== null) info[name] = Buffer.from(info[name]);
  return info;
}

function cpus() {
  const times = { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 };
  return Array.from({ length: facts().cpus }, () => ({ model: "unknown", speed: 0, times: { ...times } }));
}

export default {
  EOL: windows ? "\r\n" : "\n",
  devNull: windows ? "\\\\.\\nul" : "/dev/null",
  ...unavailableFunctions("os", "setPriority"),
  arch: primitive(() => process.arch),
  availableParallelism: primitive(() => facts().cpus),
  constants: { UV_UDP_REUSEADDR: 4, dlopen, errno, signals, priority },
  cpus,
  endianness: primitive(() => "LE"),
  freemem: primitive(() => facts().freemem),
  getPriority: () => 0,
  homedir: primitive(homedir),
  hostname: primitive(() => facts().hostname),
  loadavg: () => [0, 0, 0],
  machine: primitive(() => ({ x64: "x86_64", arm64: windows || process.platform === "linux" ? "aarch64" : "arm64" })[process.arch] ?? process.arch),
  networkInterfaces: () => ({}),
  platform: primitive(() => process.platform),
  release: primitive(() => facts().release),
  tmpdir: primitive(tmpdir),
  totalmem: primitive(() => facts().totalmem),
  type: primitive(() => types[process.platform] ?? process.platform),
  uptime: primitive(() => facts().uptime),
  userInfo,
  version: primitive(() => facts().version),
};
