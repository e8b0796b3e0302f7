/**
 * The globals that are loaded when they are first used, by the chunk that exports them. bootstrap.js includes this file.
 * @module
 */

/** @type {Record<string, string[]>} */
const chunks = {
  "node:buffer": ["Buffer"],
  "internal/url": ["URL", "URLSearchParams"],
  "internal/encoding": ["TextEncoder", "TextDecoder"],
  "internal/event_target": ["Event", "EventTarget", "CustomEvent"],
  "internal/abort": ["AbortController", "AbortSignal"],
  "internal/dom_exception": ["DOMException"],
  "internal/structured_clone": ["structuredClone"],
  "internal/base64": ["atob", "btoa"],
  "internal/performance": ["performance", "Performance", "PerformanceEntry", "PerformanceMark", "PerformanceMeasure"],
  "internal/blob": ["Blob", "File"],
  "internal/form_data": ["FormData"],
  "internal/headers": ["Headers"],
  "internal/body": ["Request", "Response"],
  "internal/fetch": ["fetch"],
  "internal/webcrypto": ["crypto", "Crypto", "CryptoKey", "SubtleCrypto"],
  "node:stream/web": [
    "ByteLengthQueuingStrategy", "CountQueuingStrategy", "ReadableByteStreamController", "ReadableStream", "ReadableStreamBYOBReader",
    "ReadableStreamBYOBRequest", "ReadableStreamDefaultController", "ReadableStreamDefaultReader", "TextDecoderStream",
    "TextEncoderStream", "TransformStream", "TransformStreamDefaultController", "WritableStream", "WritableStreamDefaultController",
    "WritableStreamDefaultWriter",
  ],
};

/** @type {[global: string, chunk: string][]} */
export const globals = Object.entries(chunks).flatMap(([chunk, names]) => names.map((name) => [name, chunk]));

for (const name of ["dispose", "asyncDispose"]) {
  if (!Symbol[name]) Object.defineProperty(Symbol, name, { value: Symbol(`Symbol.${name}`) });
}
