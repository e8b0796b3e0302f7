/** Timers and immediates in node's order. The loop in Go knows when the first timer is due, and how many there are. */

const [nextTimer, liveTimers, allImmediates, liveImmediates] = [0, 1, 2, 3];
const { state } = host;
const now = () => host.call("time.now");

let lastId = 0;
/** A heap: the timer that is due first is the first. @type {Timeout[]} */
const heap = [];
/** @type {Map<number, Timeout>} */
const byId = new Map();

const before = (a, b) => a.due - b.due || a.order - b.order;

function put(i, timer) {
  heap[i] = timer;
  timer.at = i;
}

function up(i, timer) {
  while (i > 0) {
    const parent = (i - 1) >> 1;
    if (before(heap[parent], timer) <= 0) break;
    put(i, heap[parent]);
    i = parent;
  }
  put(i, timer);
}

function down(i, timer) {
  for (;;) {
    let child = 2 * i + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && before(heap[child + 1], heap[child]) < 0) child++;
    if (before(timer, heap[child]) <= 0) break;
    put(i, heap[child]);
    i = child;
  }
  put(i, timer);
}

function schedule(timer) {
  timer.due = Math.floor(now()) + timer.delay;
  timer.order = ++lastId;
  heap.push(timer);
  up(heap.length - 1, timer);
  if (timer.live) state[liveTimers]++;
  state[nextTimer] = heap[0].due;
}

function unschedule(timer) {
  if (timer.at < 0) return;
  const last = heap.pop();
  if (last !== timer) {
    const i = timer.at;
    if (i > 0 && before(last, heap[(i - 1) >> 1]) < 0) up(i, last);
    else down(i, last);
  }
  timer.at = -1;
  if (timer.live) state[liveTimers]--;
  state[nextTimer] = heap.length > 0 ? heap[0].due : 0;
}

class Timeout {
  constructor(task, delay, args, repeats) {
    this.delay = delay >= 1 && delay <= 2147483647 ? Math.trunc(delay) : 1;
    Object.defineProperties(this, {
      task: { value: task, writable: true },
      args: { value: args },
      repeats: { value: repeats },
      live: { value: true, writable: true },
      at: { value: -1, writable: true },
      id: { value: ++lastId },
      due: { value: 0, writable: true },
      order: { value: 0, writable: true },
      closed: { value: false, writable: true },
    });
    schedule(this);
  }
  ref() {
    if (!this.live && this.at >= 0) state[liveTimers]++;
    this.live = true;
    return this;
  }
  unref() {
    if (this.live && this.at >= 0) state[liveTimers]--;
    this.live = false;
    return this;
  }
  hasRef() {
    return this.live;
  }
  refresh() {
    if (!this.closed) {
      unschedule(this);
      schedule(this);
    }
    return this;
  }
  close() {
    clearTimeout(this);
    return this;
  }
  [Symbol.toPrimitive]() {
    byId.set(this.id, this);
    return this.id;
  }
  [Symbol.dispose ?? Symbol.for("nodejs.dispose")]() {
    this.close();
  }
}

function checkCallback(task) {
  if (typeof task === "function") return;
  const shown = require("node:util").inspect(task);
  throw Object.assign(new TypeError(`The "callback" argument must be of type function. Received ${shown}`), { code: "ERR_INVALID_ARG_TYPE" });
}

export function setTimeout(task, delay, ...args) {
  checkCallback(task);
  return new Timeout(task, Number(delay), args, false);
}

export function setInterval(task, delay, ...args) {
  checkCallback(task);
  return new Timeout(task, Number(delay), args, true);
}

export function clearTimeout(timer) {
  if (typeof timer === "number" || typeof timer === "string") timer = byId.get(Number(timer));
  if (!(timer instanceof Timeout)) return;
  unschedule(timer);
  timer.closed = true;
  byId.delete(timer.id);
}

export const clearInterval = clearTimeout;

/** Runs what is due now. What it schedules runs in a later turn. */
export function runTimers() {
  const time = now();
  const newest = lastId;
  while (heap.length > 0 && heap[0].due <= time && heap[0].order <= newest) {
    const timer = heap[0];
    unschedule(timer);
    host.guard(() => timer.task.apply(timer, timer.args));
    if (timer.repeats && !timer.closed && timer.at < 0) schedule(timer);
    else if (timer.at < 0) byId.delete(timer.id);
    host.drain();
  }
}

class Immediate {
  constructor(task, args) {
    Object.defineProperties(this, {
      task: { value: task, writable: true },
      args: { value: args },
      live: { value: true, writable: true },
    });
    state[allImmediates]++;
    state[liveImmediates]++;
  }
  ref() {
    if (!this.live && this.task) state[liveImmediates]++;
    this.live = true;
    return this;
  }
  unref() {
    if (this.live && this.task) state[liveImmediates]--;
    this.live = false;
    return this;
  }
  hasRef() {
    return this.live;
  }
}

/** @type {Immediate[]} */
let immediates = [];

function retire(immediate) {
  const { task } = immediate;
  if (!task) return undefined;
  immediate.task = undefined;
  state[allImmediates]--;
  if (immediate.live) state[liveImmediates]--;
  return task;
}

export function setImmediate(task, ...args) {
  checkCallback(task);
  const immediate = new Immediate(task, args);
  immediates.push(immediate);
  return immediate;
}

export function clearImmediate(immediate) {
  if (immediate instanceof Immediate) retire(immediate);
}

export function runImmediates() {
  const batch = immediates;
  immediates = [];
  for (const immediate of batch) {
    const task = retire(immediate);
    if (!task) continue;
    host.guard(() => task(...immediate.args));
    host.drain();
  }
}

/** The module; timers.promises is loaded when it is asked for. */
for (const timer of [setTimeout, setImmediate]) {
  Object.defineProperty(timer, Symbol.for("nodejs.util.promisify.custom"), { get: () => require("node:timers/promises")[timer.name] });
}

export default {
  setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate, runTimers, runImmediates, Timeout, Immediate,
  get promises() {
    return require("node:timers/promises");
  },
};
