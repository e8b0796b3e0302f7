const EventEmitter = require("node:events");
const { once, on, errorMonitor, getEventListeners, setMaxListeners, addAbortListener } = EventEmitter;
await show("shape", () => [EventEmitter === EventEmitter.EventEmitter, typeof EventEmitter.on, EventEmitter.defaultMaxListeners, EventEmitter.name, typeof new EventEmitter().off]);
await show("order", () => {
  const e = new EventEmitter();
  const seen = [];
  e.on("a", (x) => seen.push(`1${x}`)); e.prependListener("a", (x) => seen.push(`0${x}`)); e.once("a", () => seen.push("once"));
  return [e.emit("a", "x"), e.emit("a", "y"), e.emit("none"), seen, e.listenerCount("a"), e.eventNames()];
});
await show("removal", () => {
  const e = new EventEmitter();
  const f = () => {};
  e.on("newListener", (name) => e.log = `${e.log ?? ""}+${String(name)}`);
  e.on("removeListener", (name) => (e.log += `-${String(name)}`));
  e.on("a", f).on("a", f).off("a", f); e.once(Symbol.for("s"), f); e.removeAllListeners("a");
  return [e.log, e.listeners("a").length, e.rawListeners(Symbol.for("s"))[0].listener === f, e.listenerCount("a", f)];
});
await show("this and args", () => {
  const e = new EventEmitter();
  let out;
  e.on("a", function (...args) { out = [this === e, args]; });
  e.emit("a", 1, 2, 3, 4, 5);
  return out;
});
await show("error thrown", () => new EventEmitter().emit("error", new TypeError("boom")));
await show("error not an error", () => new EventEmitter().emit("error", "text"));
await show("error object", () => new EventEmitter().emit("error", { a: 1 }));
await show("error nothing", () => new EventEmitter().emit("error"));
await show("error monitor", () => {
  const e = new EventEmitter();
  const seen = [];
  e.on(errorMonitor, (error) => seen.push(`m:${error.message}`)); e.on("error", (error) => seen.push(error.message));
  e.emit("error", new Error("x"));
  return seen;
});
await show("bad listener", () => new EventEmitter().on("a", "f"));
await show("bad listener null", () => new EventEmitter().once("a", null));
await show("max", () => [new EventEmitter().setMaxListeners(3).getMaxListeners(), new EventEmitter().getMaxListeners()]);
await show("max negative", () => new EventEmitter().setMaxListeners(-1));
await show("once", async () => {
  const e = new EventEmitter();
  setTimeout(() => e.emit("x", 1, 2), 1);
  return [await once(e, "x"), e.listenerCount("x"), e.listenerCount("error")];
});
await show("once error", async () => {
  const e = new EventEmitter();
  setTimeout(() => e.emit("error", new Error("nope")), 1);
  await once(e, "x");
});
await show("once error event", async () => {
  const e = new EventEmitter();
  setTimeout(() => e.emit("error", new Error("nope")), 1);
  return (await once(e, "error"))[0].message;
});
await show("once aborted", () => once(new EventEmitter(), "x", { signal: AbortSignal.abort() }));
await show("once abort later", () => {
  const c = new AbortController();
  setTimeout(() => c.abort(), 1);
  return once(new EventEmitter(), "x", { signal: c.signal });
});
await show("once target", async () => {
  const t = new EventTarget();
  setTimeout(() => t.dispatchEvent(new Event("x")), 1);
  return (await once(t, "x"))[0].type;
});
await show("once bad", () => once({}, "x"));
await show("on", async () => {
  const e = new EventEmitter();
  const c = new AbortController();
  const out = [];
  setTimeout(() => { e.emit("x", 1); e.emit("x", 2); setTimeout(() => c.abort(), 1); }, 1);
  try {
    for await (const args of on(e, "x", { signal: c.signal })) out.push(args);
  } catch (error) {
    out.push(error.name, error.code);
  }
  return [out, e.listenerCount("x")];
});
await show("on close", async () => {
  const e = new EventEmitter();
  const out = [];
  setTimeout(() => { e.emit("x", 1); e.emit("end"); e.emit("x", 2); }, 1);
  for await (const [v] of on(e, "x", { close: ["end"] })) out.push(v);
  return out;
});
await show("on break", async () => {
  const e = new EventEmitter();
  setTimeout(() => e.emit("x", 1), 1);
  for await (const _ of on(e, "x")) break;
  return e.listenerCount("x");
});
await show("listeners of both", () => {
  const t = new EventTarget();
  const f = () => {};
  t.addEventListener("a", f);
  setMaxListeners(5, t);
  return [getEventListeners(t, "a")[0] === f, getEventListeners(new EventEmitter().on("b", f), "b").length, EventEmitter.getMaxListeners(t)];
});
await show("addAbortListener", () => {
  const c = new AbortController();
  let n = 0;
  addAbortListener(c.signal, () => n++);
  c.abort();
  return n;
});
await show("inherits", () => {
  function Old() { EventEmitter.call(this); }
  require("util").inherits(Old, EventEmitter);
  const o = new Old();
  let n = 0;
  o.on("a", () => n++); o.emit("a");
  return [n, o instanceof EventEmitter, Old.super_ === EventEmitter];
});
await show("subclass", () => {
  class Mine extends EventEmitter { go() { return this.emit("go"); } }
  return new Mine().go();
});
await show("removed while emitting", () => {
  const e = new EventEmitter();
  const out = [];
  const b = () => out.push("b");
  e.on("x", () => { out.push("a"); e.off("x", b); }); e.on("x", b);
  e.emit("x"); e.emit("x");
  return out;
});
