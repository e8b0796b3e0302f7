/** node:timers/promises. @module */
import timers from "node:timers";
import { AbortError, validateAbortSignal } from "internal/errors";

/** Returns a promise that rejects when its signal is aborted. */
function waiting(start, stop, value, options = {}) {
  const { signal, ref = true } = options;
  try {
    validateAbortSignal(signal, "options.signal");
  } catch (error) {
    return Promise.reject(error);
  }
  const aborted = () => new AbortError(undefined, { cause: signal.reason });
  if (signal?.aborted) return Promise.reject(aborted());
  return new Promise((resolve, reject) => {
    const abort = () => {
      stop(timer);
      reject(aborted());
    };
    const timer = start(() => {
      signal?.removeEventListener("abort", abort);
      resolve(value);
    });
    if (!ref) timer.unref();
    signal?.addEventListener("abort", abort, { once: true });
  });
}

const setTimeout = (delay, value, options) => waiting((done) => timers.setTimeout(done, delay), timers.clearTimeout, value, options);
const setImmediate = (value, options) => waiting((done) => timers.setImmediate(done), timers.clearImmediate, value, options);

async function* setInterval(delay, value, options = {}) {
  const { signal, ref = true } = options;
  validateAbortSignal(signal, "options.signal");
  let due = 0;
  let wake = () => {};
  const timer = timers.setInterval(() => {
    due++;
    wake();
  }, delay);
  if (!ref) timer.unref();
  const abort = () => wake();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    for (;;) {
      if (signal?.aborted) throw new AbortError(undefined, { cause: signal.reason });
      for (; due > 0; due--) yield value;
      if (!signal?.aborted) await new Promise((resolve) => (wake = resolve));
    }
  } finally {
    timers.clearInterval(timer);
    signal?.removeEventListener("abort", abort);
  }
}

export default {
  setTimeout,
  setImmediate,
  setInterval,
  scheduler: { wait: (delay, options) => setTimeout(delay, undefined, options), yield: () => setImmediate() },
};
