// stdout is used for MCP messages. Importing this module makes the console write to stderr, so that a console.log cannot corrupt a
// message, even while the author's modules load. process.stdout itself stays unchanged until we serve, because another server that
// only uses TrailblazeClient.fromContext, or a test runner, may write to it.

const METHODS = (
  "log info debug warn error trace dir dirxml table assert count countReset " +
  "group groupCollapsed groupEnd time timeLog timeEnd"
).split(" ");

const target = /** @type {any} */ (console);
const error = target.error;
/** @type {any} */
let onStderr; // created for the first logged line, because most servers log nothing
for (const method of METHODS) {
  target[method] = (/** @type {any[]} */ ...args) => {
    onStderr ??= target.Console ? new target.Console(process.stderr, process.stderr) : {};
    (onStderr[method] ?? error)(...args);
  };
}

/** @type {(text: string) => void} */
let write;

/** Reserves stdout for writeStdout. What other code writes to it goes to stderr from now on. */
export function takeStdout() {
  write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
}

/**
 * Writes to stdout. takeStdout must have been called.
 * @param {string} text
 */
export const writeStdout = (text) => write(text);
