// Returns the clock of a document, and installs it if there is none. date is how far it is ahead of the machine's clock,
// advanced how far its timers are, both in milliseconds.
(date, advanced) => {
  const key = Symbol.for("trailblaze.clock");
  if (globalThis[key]) return globalThis[key];

  const Native = Date;
  const native = {
    setTimeout: setTimeout.bind(globalThis), clearTimeout: clearTimeout.bind(globalThis),
    requestAnimationFrame: globalThis.requestAnimationFrame?.bind(globalThis),
    cancelAnimationFrame: globalThis.cancelAnimationFrame?.bind(globalThis),
    now: performance.now.bind(performance),
  };
  const frameLength = 16;
  const maxRuns = 100000; // of timers in one advance
  let atStart = advanced; // performance.now begins at 0 in each document
  const timers = new Map(); // by id
  const frames = new Map();
  let lastID = 1e9; // ids of timers that were started before differ
  let nesting = 0;
  let fresh = true;

  const elapsed = () => native.now() + advanced - atStart;
  const dateNow = () => Native.now() + date;

  // run calls the callback of a timer that is due, and plans the next call of an interval.
  function run(id) {
    const timer = timers.get(id);
    if (!timer) return;
    if (timer.interval === undefined) timers.delete(id);
    else {
      timer.due += Math.max(timer.interval, 1);
      plan(id, timer);
    }
    nesting = timer.nesting;
    try {
      if (typeof timer.callback === "function") timer.callback.apply(globalThis, timer.args);
      else (0, eval)(String(timer.callback));
    } catch (error) {
      reportError(error);
    } finally {
      nesting = 0;
    }
  }

  // plan makes the machine's clock run a timer when it is due.
  function plan(id, timer) {
    native.clearTimeout(timer.native);
    timer.native = native.setTimeout(() => run(id), Math.max(0, timer.due - elapsed()));
  }

  function start(callback, delay, interval, args) {
    const id = ++lastID;
    let wait = Math.max(0, Number(delay) || 0);
    if (wait > 0x7fffffff) wait = 0;
    if (nesting >= 5 || interval) wait = Math.max(wait, interval ? 1 : 4); // as the HTML standard says
    const timer = { callback, args, due: elapsed() + wait, interval: interval ? wait : undefined, nesting: nesting + 1, order: id };
    timers.set(id, timer);
    plan(id, timer);
    return id;
  }

  function stop(id) {
    const timer = timers.get(Number(id));
    if (!timer) return native.clearTimeout(id);
    native.clearTimeout(timer.native);
    timers.delete(Number(id));
  }

  function runFrame(id, time) {
    const frame = frames.get(id);
    if (!frame) return;
    frames.delete(id);
    native.cancelAnimationFrame(frame.native);
    try {
      frame.callback.call(globalThis, time);
    } catch (error) {
      reportError(error);
    }
  }

  // settle lets promises and messages of the page run.
  const settle = () => new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      channel.port1.close();
      resolve();
    };
    channel.port2.postMessage(0);
  });

  // advance runs what is due within the time, in order, at the time at which it is due.
  async function advance(milliseconds) {
    const end = elapsed() + milliseconds;
    let left = milliseconds;
    for (let runs = 0; ; runs++) {
      if (runs === maxRuns) throw new Error(`more than ${maxRuns} timers were due; advance the clock by less`);
      let next, nextID;
      for (const [id, timer] of timers) {
        if (timer.due <= end && (!next || timer.due < next.due || timer.due === next.due && timer.order < next.order)) {
          next = timer;
          nextID = id;
        }
      }
      const step = frames.size > 0 ? Math.min(frameLength, left) : Infinity;
      const until = next ? Math.max(0, next.due - elapsed()) : Infinity;
      if (step < until && left > 0) {
        advanced += step;
        date += step;
        left -= step;
        for (const id of [...frames.keys()]) runFrame(id, elapsed());
      } else if (next) {
        const jump = Math.min(until, left);
        advanced += jump;
        date += jump;
        left -= jump;
        native.clearTimeout(next.native);
        run(nextID);
      } else break;
      await settle();
    }
    advanced += left;
    date += left;
    for (const [id, timer] of timers) plan(id, timer);
  }

  function FakeDate(...args) {
    if (!new.target) return new Native(dateNow()).toString();
    return Reflect.construct(Native, args.length === 0 ? [dateNow()] : args, new.target === FakeDate ? Native : new.target);
  }
  Object.setPrototypeOf(FakeDate, Native);
  Object.defineProperties(FakeDate, {
    name: { value: "Date" }, length: { value: 7 }, prototype: { value: Native.prototype },
    now: { value: dateNow, writable: true, configurable: true },
    parse: { value: Native.parse, writable: true, configurable: true }, UTC: { value: Native.UTC, writable: true, configurable: true },
  });
  Object.defineProperty(Native.prototype, "constructor", { value: FakeDate, writable: true, configurable: true });

  const NativeFormat = Intl.DateTimeFormat;
  const format = Object.getOwnPropertyDescriptor(NativeFormat.prototype, "format").get;
  const { formatToParts } = NativeFormat.prototype;
  Object.defineProperty(NativeFormat.prototype, "format", {
    configurable: true,
    get() {
      const bound = format.call(this);
      return (value) => bound(value === undefined ? dateNow() : value);
    },
  });
  NativeFormat.prototype.formatToParts = function (value) {
    return formatToParts.call(this, value === undefined ? dateNow() : value);
  };

  const replace = (object, name, value) => Object.defineProperty(object, name, { value, writable: true, configurable: true, enumerable: true });
  replace(globalThis, "Date", FakeDate);
  Object.defineProperty(globalThis, "Date", { enumerable: false });
  replace(globalThis, "setTimeout", (callback, delay, ...args) => start(callback, delay, false, args));
  replace(globalThis, "setInterval", (callback, delay, ...args) => start(callback, delay, true, args));
  replace(globalThis, "clearTimeout", stop);
  replace(globalThis, "clearInterval", stop);
  replace(performance, "now", elapsed);
  if (native.requestAnimationFrame) {
    replace(globalThis, "requestAnimationFrame", (callback) => {
      const id = ++lastID;
      frames.set(id, { callback, native: native.requestAnimationFrame(() => runFrame(id, elapsed())) });
      return id;
    });
    replace(globalThis, "cancelAnimationFrame", (id) => {
      const frame = frames.get(id);
      if (!frame) return native.cancelAnimationFrame(id);
      native.cancelAnimationFrame(frame.native);
      frames.delete(id);
    });
  }

  const clock = {
    // begin sets the clock of a document that has started no timers.
    begin(newDate, newAdvanced) {
      date = newDate;
      advanced = atStart = newAdvanced;
    },
    // set sets the clock, runs what is due then, and reports whether the document got the clock just now.
    async set(newDate, newAdvanced) {
      const wasFresh = fresh;
      fresh = false;
      const difference = newAdvanced - advanced;
      date = newDate - Math.max(0, difference);
      if (difference > 0) await advance(difference);
      date = newDate;
      return wasFresh;
    },
  };
  Object.defineProperty(globalThis, key, { value: clock });
  return clock;
}
