/** node:stream/consumers. @module */

/** @param {AsyncIterable<Uint8Array | string>} stream */
async function buffer(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks);
}

async function text(stream) {
  const decoder = new TextDecoder();
  let out = "";
  for await (const chunk of stream) out += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
  return out + decoder.decode();
}

async function arrayBuffer(stream) {
  const all = await buffer(stream);
  return all.buffer.slice(all.byteOffset, all.byteOffset + all.length);
}

export default {
  arrayBuffer,
  blob: async (stream) => new Blob([await buffer(stream)]),
  buffer,
  json: async (stream) => JSON.parse(await text(stream)),
  text,
};
