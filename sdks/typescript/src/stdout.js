// stdout carries the protocol. Importing this module moves the console to stderr, so that a console.log cannot corrupt a
// message even while the author's modules load. process.stdout itself stays as it is until we serve: before, it may be the way
// out of somebody else's server, such as one that only wants TrailblazeClient.fromContext, or of a test runner's reports.

const METHODS = (
  "log info debug warn error trace dir dirxml table assert count countReset " +
  "group groupCollapsed groupEnd time timeLog timeEnd"
).split(" ");

const target = /** @type {any} */ (console);
const error = target.error;
/** @type {any} */
let onStderr; // made by the first line that is logged: most servers log none
for (const method of METHODS) {
  target[method] = (/** @type {any[]} */ ...args) => {
    onStderr ??= target.Console ? new target.Console(process.stderr, process.stderr) : {};
    (onStderr[method] ?? error)(...args);
  };
}

/** @type {(text: string) => void} */
let write;

/** Makes stdout ours: what others write to it goes to stderr from now on. */
export function takeStdout() {
  write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
}

/**
 * Writes to stdout, once it is ours.
 * @param {string} text
 */
export const writeStdout = (text) => write(text);
