/** node:async_hooks, without what follows calls through promises: QuickJS does not tell. @module */
import { absent } from "internal/errors";

/** Calls a function as if where this was made; nothing follows such calls here. */
class AsyncResource {
  constructor(type) {
    this.type = type;
  }

  runInAsyncScope(fn, receiver = undefined, ...args) {
    return Reflect.apply(fn, receiver, args);
  }

  bind(fn, receiver = undefined) {
    return receiver === undefined ? fn : fn.bind(receiver);
  }

  static bind(fn, _type = undefined, receiver = undefined) {
    return new AsyncResource().bind(fn, receiver);
  }

  emitDestroy() {
    return this;
  }

  asyncId() {
    return 1;
  }

  triggerAsyncId() {
    return 0;
  }
}

export default {
  ...absent("async_hooks", "AsyncLocalStorage createHook"),
  AsyncResource,
  executionAsyncId: () => 1,
  executionAsyncResource: () => ({}),
  triggerAsyncId: () => 0,
};
