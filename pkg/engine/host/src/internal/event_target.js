/** Event, EventTarget and CustomEvent. An error of a listener is an uncaught one, as in node. @module */
import { Event, EventTarget, setErrorHandler, setWarningHandler } from "event-target-shim";

setErrorHandler((error) => {
  process.nextTick(() => {
    throw error;
  });
});
setWarningHandler(() => {});

export class CustomEvent extends Event {
  #detail;

  /** @param {string} type @param {EventInit & { detail?: unknown }} [init] */
  constructor(type, init = undefined) {
    super(type, init);
    this.#detail = init?.detail ?? null;
  }

  get detail() {
    return this.#detail;
  }
}

export { Event, EventTarget };
