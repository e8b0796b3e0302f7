/** The part of EventEmitter that process and its streams need. It is small, because every script loads it. */
export class Emitter {
  #listeners = new Map();

  /** Called with the name of an event when its listeners change. */
  onListeners(_name) {}

  #add(name, listener, first, once) {
    if (typeof listener !== "function") {
      throw Object.assign(new TypeError('The "listener" argument must be of type function'), { code: "ERR_INVALID_ARG_TYPE" });
    }
    const list = this.#listeners.get(name) ?? [];
    const entry = { listener, once };
    this.#listeners.set(name, first ? [entry, ...list] : [...list, entry]);
    this.onListeners(name);
    return this;
  }
  on(name, listener) {
    return this.#add(name, listener, false, false);
  }
  once(name, listener) {
    return this.#add(name, listener, false, true);
  }
  prependListener(name, listener) {
    return this.#add(name, listener, true, false);
  }
  prependOnceListener(name, listener) {
    return this.#add(name, listener, true, true);
  }
  off(name, listener) {
    const list = this.#listeners.get(name) ?? [];
    const at = list.findLastIndex((entry) => entry.listener === listener);
    if (at >= 0) {
      this.#listeners.set(name, list.toSpliced(at, 1));
      this.onListeners(name);
    }
    return this;
  }
  removeAllListeners(name) {
    const names = name === undefined ? [...this.#listeners.keys()] : [name];
    for (const each of names) {
      this.#listeners.delete(each);
      this.onListeners(each);
    }
    return this;
  }
  emit(name, ...args) {
    const list = this.#listeners.get(name) ?? [];
    if (list.length === 0 && name === "error") throw args[0];
    for (const entry of list) {
      if (entry.once) this.off(name, entry.listener);
      entry.listener.apply(this, args);
    }
    return list.length > 0;
  }
  listeners(name) {
    return (this.#listeners.get(name) ?? []).map((entry) => entry.listener);
  }
  listenerCount(name) {
    return this.#listeners.get(name)?.length ?? 0;
  }
  eventNames() {
    return [...this.#listeners.keys()].filter((name) => this.listenerCount(name) > 0);
  }
  setMaxListeners() {
    return this;
  }
  getMaxListeners() {
    return 10;
  }
}
Emitter.prototype.addListener = Emitter.prototype.on;
Emitter.prototype.removeListener = Emitter.prototype.off;
Emitter.prototype.rawListeners = Emitter.prototype.listeners;
