/** node:async_hooks without AsyncLocalStorage and hooks, because QuickJS has no promise hooks. @module */
import { unavailableFunctions } from "internal/errors";

/** AsyncResource without tracking. */
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
  ...unavailableFunctions("async_hooks", "AsyncLocalStorage createHook"),
  AsyncResource,
  executionAsyncId: () => 1,
  executionAsyncResource: () => ({}),
  triggerAsyncId: () => 0,
};
