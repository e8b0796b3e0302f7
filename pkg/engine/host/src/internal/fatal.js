/** Uncaught exceptions and unhandled rejections. */

const process = () => require("node:process");

/** Returns the text that node prints for an uncaught exception. */
function describe(error) {
  if (error instanceof Error && Object.keys(error).length === 0 && error.cause === undefined) return error.stack;
  const shown = require("node:util").inspect(error);
  return error instanceof Error ? shown : `Uncaught:\n${shown}`;
}

function exitWithError(error) {
  let text;
  try {
    text = describe(error);
  } catch {
    text = String(error?.stack ?? error);
  }
  host.call("process.write", 2, `${text}\n`);
  process().exit(1);
}

function exception(error, origin) {
  if (process().listenerCount("uncaughtException") === 0) return exitWithError(error);
  try {
    process().emit("uncaughtException", error, origin);
  } catch (second) {
    exitWithError(second);
  }
}

function rejection(promise, reason) {
  if (process().listenerCount("unhandledRejection") > 0) {
    host.guard(() => process().emit("unhandledRejection", reason, promise));
    return;
  }
  if (reason instanceof Error) return exception(reason, "unhandledRejection");
  const text =
    "This error originated either by throwing inside of an async function without a catch block, or by rejecting a promise which was " +
    `not handled with .catch(). The promise rejected with the reason "${require("node:util").inspect(reason)}".`;
  const error = Object.assign(new Error(text), { code: "ERR_UNHANDLED_REJECTION" });
  error.name = "UnhandledPromiseRejection";
  error.stack = `UnhandledPromiseRejection: ${text}`;
  exception(error, "unhandledRejection");
}

function handled(promise) {
  host.guard(() => process().emit("rejectionHandled", promise));
}

export default { exception, rejection, handled };
