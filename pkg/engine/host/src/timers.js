/** Timers and immediates in node's order. Go's event loop reads the next deadline and the numbers of timers from host.state. */

const [stateNextTimer, stateActiveTimers, stateImmediates, stateActiveImmediates] = [0, 1, 2, 3];
const { state } = host;
const now = () => host.call("time.now");

let lastId = 0;
/** A binary heap, ordered by deadline. @type {Timeout[]} */
const heap = [];
/** @type {Map<number, Timeout>} */
const byId = new Map();

const before = (a, b) => a.deadline - b.deadline || a.order - b.order;

function setAt(i, timer) {
  heap[i] = timer;
  timer.index = i;
}

function siftUp(i, timer) {
  while (i > 0) {
    const parent = (i - 1) >> 1;
    if (before(heap[parent], timer) <= 0) break;
    setAt(i, heap[parent]);
    i = parent;
  }
  setAt(i, timer);
}

function siftDown(i, timer) {
  for (;;) {
    let child = 2 * i + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && before(heap[child + 1], heap[child]) < 0) child++;
    if (before(timer, heap[child]) <= 0) break;
    setAt(i, heap[child]);
    i = child;
  }
  setAt(i, timer);
}

function schedule(timer) {
  timer.deadline = Math.floor(now()) + timer.delay;
  timer.order = ++lastId;
  heap.push(timer);
  siftUp(heap.length - 1, timer);
  if (timer.active) state[stateActiveTimers]++;
  state[stateNextTimer] = heap[0].deadline;
}

function unschedule(timer) {
  if (timer.index < 0) return;
  const last = heap.pop();
  if (last !== timer) {
    const i = timer.index;
    if (i > 0 && before(last, heap[(i - 1) >> 1]) < 0) siftUp(i, last);
    else siftDown(i, last);
  }
  timer.index = -1;
  if (timer.active) state[stateActiveTimers]--;
  state[stateNextTimer] = heap.length > 0 ? heap[0].deadline : 0;
}

class Timeout {
  constructor(task, delay, args, repeats) {
    this.delay = delay >= 1 && delay <= 2147483647 ? Math.trunc(delay) : 1;
    Object.defineProperties(this, {
      task: { value: task, writable: true },
      args: { value: args },
      repeats: { value: repeats },
      active: { value: true, writable: true },
      index: { value: -1, writable: true },
      id: { value: ++lastId },
      deadline: { value: 0, writable: true },
      order: { value: 0, writable: true },
      closed: { value: false, writable: true },
    });
    schedule(this);
  }
  ref() {
    if (!this.active && this.index >= 0) state[stateActiveTimers]++;
    this.active = true;
    return this;
  }
  unref() {
    if (this.active && this.index >= 0) state[stateActiveTimers]--;
    this.active = false;
    return this;
  }
  hasRef() {
    return this.active;
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

/** Runs the timers whose deadline has passed. Timers that they schedule run in a later turn. */
export function runTimers() {
  const time = now();
  const newest = lastId;
  while (heap.length > 0 && heap[0].deadline <= time && heap[0].order <= newest) {
    const timer = heap[0];
    unschedule(timer);
    host.guard(() => timer.task.apply(timer, timer.args));
    if (timer.repeats && !timer.closed && timer.index < 0) schedule(timer);
    else if (timer.index < 0) byId.delete(timer.id);
    host.runPending();
  }
}

class Immediate {
  constructor(task, args) {
    Object.defineProperties(this, {
      task: { value: task, writable: true },
      args: { value: args },
      active: { value: true, writable: true },
    });
    state[stateImmediates]++;
    state[stateActiveImmediates]++;
  }
  ref() {
    if (!this.active && this.task) state[stateActiveImmediates]++;
    this.active = true;
    return this;
  }
  unref() {
    if (this.active && this.task) state[stateActiveImmediates]--;
    this.active = false;
    return this;
  }
  hasRef() {
    return this.active;
  }
}

/** @type {Immediate[]} */
let immediates = [];

function takeTask(immediate) {
  const { task } = immediate;
  if (!task) return undefined;
  immediate.task = undefined;
  state[stateImmediates]--;
  if (immediate.active) state[stateActiveImmediates]--;
  return task;
}

export function setImmediate(task, ...args) {
  checkCallback(task);
  const immediate = new Immediate(task, args);
  immediates.push(immediate);
  return immediate;
}

export function clearImmediate(immediate) {
  if (immediate instanceof Immediate) takeTask(immediate);
}

export function runImmediates() {
  const batch = immediates;
  immediates = [];
  for (const immediate of batch) {
    const task = takeTask(immediate);
    if (!task) continue;
    host.guard(() => task(...immediate.args));
    host.runPending();
  }
}

/** timers.promises is loaded when it is first used. */
for (const timer of [setTimeout, setImmediate]) {
  Object.defineProperty(timer, Symbol.for("nodejs.util.promisify.custom"), { get: () => require("node:timers/promises")[timer.name] });
}

export default {
  setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate, runTimers, runImmediates, Timeout, Immediate,
  get promises() {
    return require("node:timers/promises");
  },
};
