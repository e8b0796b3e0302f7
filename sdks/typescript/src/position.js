// Where in the files of a project an error was thrown.

// A frame of a stack, as V8, bun and the embedded engine write it: "at name (file:line:column)", or without a name.
const FRAME = /^\s*at (?:(?:new )?([^/]*?) \()?(?:async )?((?:file:\/\/|\/|[A-Za-z]:[\\/]).*?):(\d+):\d+\)?$/;

/** @type {WeakMap<object, Error>} for the error of a call, an error that was made where the tool makes the call */
const callers = new WeakMap();

/**
 * Notes where the call was made that failed with a thrown value. Not every engine has that in the stack of the value.
 * @param {object} thrown
 * @param {Error} here
 */
export const noteCaller = (thrown, here) => void callers.set(thrown, here);

/**
 * Returns the file and the line of the first frame of a thrown value that is in neither a package nor the runtime, such
 * as /project/tools/shop.ts:42. undefined if that is not known.
 * @param {unknown} thrown
 * @returns {string | undefined}
 */
export function positionOf(thrown) {
  if (!(thrown instanceof Error)) return undefined;
  const [here] = framesOf(new Error());
  const own = here?.file.slice(0, -"position.js".length);
  const constructor = thrown.constructor.name; // some engines have it in the stack
  const frame = framesOf(callers.get(thrown) ?? thrown).find(
    ({ file, name }) => !(own && file.startsWith(own)) && !/[\\/]node_modules[\\/]/.test(file) && name !== constructor,
  );
  return frame && `${frame.file}:${frame.line}`;
}

/** @param {Error} error */
function framesOf({ message, stack }) {
  const text = String(stack);
  const at = /\n/.test(message) ? text.indexOf(message) : -1; // of some engines the stack begins with it
  return (at < 0 ? text : text.slice(at + message.length))
    .split("\n")
    .map((line) => FRAME.exec(line))
    .filter((match) => match !== null)
    .map(([, name, file, line]) => ({ name, file: pathOf(file), line }));
}

/**
 * Returns the path of a file URL, and anything else unchanged.
 * @param {string} file
 */
function pathOf(file) {
  if (!file.startsWith("file://")) return file;
  try {
    return decodeURIComponent(new URL(file).pathname).replace(/^\/(?=[A-Za-z]:)/, "");
  } catch {
    return file; // of something that is not in a file
  }
}
