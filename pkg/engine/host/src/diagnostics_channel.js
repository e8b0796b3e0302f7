/** node:diagnostics_channel without stores, which need AsyncLocalStorage. @module */
import { ERR_INVALID_ARG_TYPE, validateFunction } from "internal/errors";

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

const stages = ["start", "end", "asyncStart", "asyncEnd", "error"];

/** Runs traced functions and publishes their stages. */
class TracingChannel {
  constructor(name) {
    for (const stage of stages) this[stage] = typeof name === "object" ? name[stage] : channel(`tracing:${name}:${stage}`);
  }

  get hasSubscribers() {
    return stages.some((stage) => this[stage].hasSubscribers);
  }

  subscribe(subscribers) {
    for (const stage of stages) if (subscribers[stage]) this[stage].subscribe(subscribers[stage]);
  }

  unsubscribe(subscribers) {
    return stages.map((stage) => !subscribers[stage] || this[stage].unsubscribe(subscribers[stage])).every(Boolean);
  }

  traceSync(fn, context = {}, receiver = undefined, ...args) {
    this.start.publish(context);
    try {
      context.result = Reflect.apply(fn, receiver, args);
      return context.result;
    } catch (error) {
      context.error = error;
      this.error.publish(context);
      throw error;
    } finally {
      this.end.publish(context);
    }
  }

  tracePromise(fn, context = {}, receiver = undefined, ...args) {
    const settled = (name, value) => {
      context[name] = value;
      if (name === "error") this.error.publish(context);
      this.asyncStart.publish(context);
      this.asyncEnd.publish(context);
      return value;
    };
    return Promise.resolve(this.traceSync(fn, context, receiver, ...args)).then(
      (result) => settled("result", result),
      (error) => Promise.reject(settled("error", error)),
    );
  }
}

export default {
  Channel,
  tracingChannel: (name) => new TracingChannel(name),
  channel,
  hasSubscribers: (name) => channels.get(name)?.hasSubscribers ?? false,
  subscribe: (name, subscriber) => channel(name).subscribe(subscriber),
  unsubscribe: (name, subscriber) => channels.get(name)?.unsubscribe(subscriber) ?? false,
};
