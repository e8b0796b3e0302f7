/** performance: the clock, marks and measures. @module */
import { EventTarget } from "internal/event_target";

export class PerformanceEntry {
  constructor(name, entryType, startTime, duration, detail) {
    Object.assign(this, { name, entryType, startTime, duration, detail });
  }

  toJSON() {
    return { ...this };
  }
}

export class PerformanceMark extends PerformanceEntry {
  constructor(name, options = undefined) {
    super(`${name}`, "mark", options?.startTime ?? performance.now(), 0, options?.detail ?? null);
  }
}

export class PerformanceMeasure extends PerformanceEntry {}

export class Performance extends EventTarget {
  #entries = [];

  get timeOrigin() {
    return host.call("time.origin");
  }

  now() {
    return host.call("time.now");
  }

  mark(name, options = undefined) {
    const mark = new PerformanceMark(name, options);
    this.#entries.push(mark);
    return mark;
  }

  measure(name, from = undefined, to = undefined) {
    const { start = undefined, end = undefined, duration = undefined, detail = null } = typeof from === "object" && from ? from : { start: from, end: to };
    const last = end === undefined && duration !== undefined ? this.#time(start) + duration : this.#time(end, this.now());
    const first = start === undefined && duration !== undefined ? last - duration : this.#time(start);
    const measure = new PerformanceMeasure(`${name}`, "measure", first, last - first, detail);
    this.#entries.push(measure);
    return measure;
  }

  #time(mark, fallback = 0) {
    if (mark === undefined) return fallback;
    if (typeof mark === "number") return mark;
    const found = this.#entries.findLast((entry) => entry.entryType === "mark" && entry.name === mark);
    if (!found) throw new DOMException(`The "${mark}" performance mark has not been set`, "SyntaxError");
    return found.startTime;
  }

  clearMarks(name = undefined) {
    this.#clear("mark", name);
  }

  clearMeasures(name = undefined) {
    this.#clear("measure", name);
  }

  #clear(type, name) {
    this.#entries = this.#entries.filter((entry) => entry.entryType !== type || (name !== undefined && entry.name !== name));
  }

  getEntries() {
    return this.#entries.toSorted((a, b) => a.startTime - b.startTime);
  }

  getEntriesByName(name, type = undefined) {
    return this.getEntries().filter((entry) => entry.name === name && (type === undefined || entry.entryType === type));
  }

  getEntriesByType(type) {
    return this.getEntries().filter((entry) => entry.entryType === type);
  }

  timerify(fn) {
    return fn;
  }

  toJSON() {
    return { timeOrigin: this.timeOrigin };
  }
}

export const performance = new Performance();
