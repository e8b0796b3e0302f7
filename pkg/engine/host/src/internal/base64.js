/** atob and btoa. @module */

const invalid = (message) => new DOMException(message, "InvalidCharacterError");

/** @param {string} text one character below U+0100 for each byte */
export function btoa(text) {
  if (arguments.length === 0) throw missing("data");
  const data = `${text}`;
  const bytes = host.call("latin1.encode", data);
  if (host.call("latin1.decode", bytes) !== data) throw invalid("Invalid character");
  return host.call("base64.encode", bytes);
}

/** @param {string} text base64, may contain white space */
export function atob(text) {
  if (arguments.length === 0) throw missing("input");
  try {
    return host.call("latin1.decode", Uint8Array.fromBase64(`${text}`));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  let data = `${text}`.replace(/[\t\n\f\r ]/g, "");
  if (data.length % 4 === 0) data = data.replace(/={1,2}$/, "");
  if (/[^A-Za-z0-9+/]/.test(data)) throw invalid("Invalid character");
  throw invalid("The string to be decoded is not correctly encoded.");
}

const missing = (name) => Object.assign(new TypeError(`The "${name}" argument must be specified`), { code: "ERR_MISSING_ARGS" });
