/** node:diagnostics_channel, without stores: nothing here keeps them across an await. @module */
import { absent, ERR_INVALID_ARG_TYPE, validateFunction } from "internal/errors";

/** @type {Map<string | symbol, Channel>} */
const channels = new Map();

class Channel {
  #subscribers = [];

  constructor(name) {
    this.name = name;
  }

  get hasSubscribers() {
    return this.#subscribers.length > 0;
  }

  subscribe(subscriber) {
    validateFunction(subscriber, "subscription");
    this.#subscribers = [...this.#subscribers, subscriber];
  }

  unsubscribe(subscriber) {
    const at = this.#subscribers.indexOf(subscriber);
    this.#subscribers = this.#subscribers.toSpliced(at, at < 0 ? 0 : 1);
    return at >= 0;
  }

  publish(message) {
    for (const subscriber of this.#subscribers) {
      try {
        subscriber(message, this.name);
      } catch (error) {
        process.nextTick(() => {
          throw error;
        });
      }
    }
  }
}

function channel(name) {
  if (typeof name !== "string" && typeof name !== "symbol") throw new ERR_INVALID_ARG_TYPE("channel", ["string", "symbol"], name);
  if (!channels.has(name)) channels.set(name, new Channel(name));
  return channels.get(name);
}

export default {
  ...absent("diagnostics_channel", "tracingChannel"),
  Channel,
  channel,
  hasSubscribers: (name) => channels.get(name)?.hasSubscribers ?? false,
  subscribe: (name, subscriber) => channel(name).subscribe(subscriber),
  unsubscribe: (name, subscriber) => channels.get(name)?.unsubscribe(subscriber) ?? false,
};
