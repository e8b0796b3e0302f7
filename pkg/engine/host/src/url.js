/** node:url. @module */
import path from "node:path";
import process from "node:process";
import {
  ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_INVALID_FILE_URL_HOST, ERR_INVALID_FILE_URL_PATH, ERR_INVALID_URL_SCHEME, validateString,
} from "internal/errors";
import { URL, URLSearchParams } from "internal/url";

const windows = process.platform === "win32";

/** @param {string | URL} url */
function fileURLToPath(url) {
  if (typeof url === "string") url = new URL(url);
  else if (typeof url?.href !== "string" || !url.protocol) throw new ERR_INVALID_ARG_TYPE("path", ["string", "URL"], url);
  if (url.protocol !== "file:") throw new ERR_INVALID_URL_SCHEME("file");
  const encodedSlash = windows ? /%2f|%5c/i : /%2f/i;
  if (encodedSlash.test(url.pathname)) {
    throw new ERR_INVALID_FILE_URL_PATH(`must not include encoded ${windows ? "\\ or " : ""}/ characters`);
  }
  const pathname = decodeURIComponent(url.pathname);
  if (!windows) {
    if (url.hostname !== "") throw new ERR_INVALID_FILE_URL_HOST(process.platform);
    return pathname;
  }
  const local = pathname.replace(/\//g, "\\");
  if (url.hostname !== "") return `\\\\${url.hostname}${local}`;
  if (!/^\\[a-zA-Z]:/.test(local)) throw new ERR_INVALID_FILE_URL_PATH("must be absolute");
  return local.slice(1);
}

/** @param {string} file */
function pathToFileURL(file) {
  validateString(file, "path");
  if (windows && file.startsWith("\\\\")) return pathOfShareToURL(file);
  let resolved = path.resolve(file);
  if (/[/\\]$/.test(windows ? file : file.replace(/\\$/, "")) && !resolved.endsWith(path.sep)) resolved += path.sep;
  return new URL(`file://${windows ? "/" : ""}${escapePath(windows ? resolved.replace(/\\/g, "/") : resolved)}`);
}

function pathOfShareToURL(file) {
  const [, , server, ...rest] = path.resolve(file).split("\\");
  if (rest.length === 0) throw new ERR_INVALID_ARG_VALUE("path", file, "Missing UNC resource path");
  return new URL(`file://${server}${escapePath(`/${rest.join("/")}`)}`);
}

const escapePath = (text) =>
  text.replace(/[%\\\n\r\t?#]/g, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase()}`);

/** @param {URL} url */
function urlToHttpOptions(url) {
  const { hostname, protocol, hash, search, pathname, port, username, password, href } = url;
  return {
    protocol,
    hostname: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
    hash,
    search,
    pathname,
    path: `${pathname || ""}${search || ""}`,
    href,
    ...(port !== "" && { port: Number(port) }),
    ...((username || password) && { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` }),
  };
}

const legacy = () => require("internal/url_legacy");

function format(url, options = undefined) {
  if (!(url instanceof URL)) return legacy().format(url);
  const { auth = true, fragment = true, search = true } = options ?? {};
  const copy = new URL(url.href);
  if (!auth) copy.username = copy.password = "";
  if (!fragment) copy.hash = "";
  if (!search) copy.search = "";
  return copy.href;
}

export default {
  URL,
  URLSearchParams,
  fileURLToPath,
  format,
  pathToFileURL,
  urlToHttpOptions,
  domainToASCII: (domain) => (URL.canParse(`ws://${domain}`) ? new URL(`ws://${domain}`).hostname : ""),
  domainToUnicode: (domain) => legacy().toUnicode(domain),
  parse: (...args) => legacy().parse(...args),
  resolve: (...args) => legacy().resolve(...args),
  resolveObject: (...args) => legacy().resolveObject(...args),
  get Url() {
    return legacy().Url;
  },
};
