// MCP over stdin and stdout: one JSON object per line.

import { Conversation } from "./server.js";
import { takeStdout, writeStdout } from "./stdout.js";

/** @import { ServerInfo, Tool } from "./server.js" */

// How long to wait for a client to read the rest of stdout, in milliseconds. trailblaze sends SIGTERM after 5 s.
const FLUSH_MS = 4000;

/** @param {Record<string, unknown>} message */
const send = (message) => writeStdout(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");

/**
 * Serves tools on stdin and stdout, and exits at the end of stdin, even if timers are active.
 *
 * There is no handler for SIGTERM: in bun, it would not run while stdin is read, and would only keep the process running.
 * @param {Map<string, Tool>} tools
 * @param {ServerInfo} serverInfo
 */
export function serveStdio(tools, serverInfo) {
  takeStdout();
  const conversation = new Conversation(tools, serverInfo);
  process.stdout.on("error", () => process.exit()); // the client no longer reads
  readLines(
    (message) => void conversation.receive(message, send),
    async () => {
      await conversation.finish();
      exit();
    },
  );
}

function exit() {
  process.stdout.end(() => process.exit()); // in bun, the callback of an empty write does not wait for the writes before it
  setTimeout(() => process.exit(), FLUSH_MS);
}

/**
 * @param {(message: any) => void} receive
 * @param {() => void} end
 */
function readLines(receive, end) {
  /** @type {string[]} */
  let parts = []; // of a line that has not ended yet
  const stdin = process.stdin;
  stdin.setEncoding("utf8");
  stdin.on("data", (/** @type {string} */ chunk) => {
    const [first, ...others] = chunk.split("\n");
    parts.push(first);
    for (const part of others) {
      parse(parts.join(""), receive);
      parts = [part];
    }
  });
  whenStdinEnds(end);
}

/**
 * Calls end once at the end of stdin. The caller must read stdin.
 * @param {() => void} end
 */
export function whenStdinEnds(end) {
  let ended = false;
  const once = () => {
    if (!ended) end();
    ended = true;
  };
  for (const event of ["end", "close", "error"]) process.stdin.on(event, once);
}

/**
 * @param {string} line
 * @param {(message: any) => void} receive
 */
function parse(line, receive) {
  const text = line.trim(); // of \r, and of a byte order mark
  if (text === "") return;
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    // Reported below.
  }
  if (typeof message === "object" && message !== null && !Array.isArray(message)) return receive(message);
  console.error(`@trailblaze/scripting: ignored a line on stdin that is not a message: ${text.slice(0, 200)}`);
}

