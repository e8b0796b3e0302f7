/** node:stream/web. @module */
import * as streams from "web-streams-polyfill";

/** A transform between text and bytes. */
class Recoded {
  #transform;

  constructor(transform, flush) {
    this.#transform = new streams.TransformStream({ transform, flush });
  }

  get readable() {
    return this.#transform.readable;
  }

  get writable() {
    return this.#transform.writable;
  }
}

class TextEncoderStream extends Recoded {
  constructor() {
    const encoder = new TextEncoder();
    let half = ""; // a high surrogate at the end of a chunk
    super((chunk, controller) => {
      const text = half + chunk;
      half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? "";
      const whole = text.slice(0, text.length - half.length);
      if (whole !== "") controller.enqueue(encoder.encode(whole));
    }, (controller) => {
      if (half !== "") controller.enqueue(encoder.encode(half));
    });
  }

  get encoding() {
    return "utf-8";
  }
}

class TextDecoderStream extends Recoded {
  #decoder;

  constructor(label = "utf-8", options = undefined) {
    const decoder = new TextDecoder(label, options);
    const pass = (text, controller) => text !== "" && controller.enqueue(text);
    super((chunk, controller) => pass(decoder.decode(chunk, { stream: true }), controller),
      (controller) => pass(decoder.decode(), controller));
    this.#decoder = decoder;
  }

  get encoding() {
    return this.#decoder.encoding;
  }

  get fatal() {
    return this.#decoder.fatal;
  }

  get ignoreBOM() {
    return this.#decoder.ignoreBOM;
  }
}

for (const [type, facts] of [
  [streams.ReadableStream, ({ locked, _state, _readableStreamController: controller }) =>
    ({ locked, state: _state, supportsBYOB: controller instanceof streams.ReadableByteStreamController })],
  [streams.WritableStream, ({ locked, _state }) => ({ locked, state: _state })],
  [streams.TransformStream, ({ readable, writable }) => ({ readable, writable })],
]) {
  type.prototype[Symbol.for("nodejs.util.inspect.custom")] = function (depth, options, inspect) {
    return `${type.name} ${inspect(facts(this), options)}`;
  };
}

export default { ...streams, TextEncoderStream, TextDecoderStream };
