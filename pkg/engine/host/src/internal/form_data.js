/** FormData, and its encoding as multipart/form-data. @module */
import { Blob, bytes, File } from "internal/blob";

function entry(value, filename) {
  if (!(value instanceof Blob)) return `${value}`.toWellFormed();
  if (value instanceof File && filename === undefined) return value;
  return new File([value], filename ?? "blob", { type: value.type, lastModified: value.lastModified });
}

function requireArgs(given, count, method) {
  if (given < count) {
    throw new TypeError(`FormData.${method}: ${count} argument${count > 1 ? "s" : ""} required, but${given > 0 ? " only" : ""} ${given} found.`);
  }
}

export class FormData {
  #entries = [];

  append(name, value, filename = undefined) {
    requireArgs(arguments.length, 2, "append");
    this.#entries.push([`${name}`, entry(value, filename)]);
  }

  set(name, value, filename = undefined) {
    requireArgs(arguments.length, 2, "set");
    const newEntry = [`${name}`, entry(value, filename)];
    const at = this.#entries.findIndex(([key]) => key === newEntry[0]);
    if (at < 0) this.#entries.push(newEntry);
    else this.#entries = this.#entries.flatMap((old, i) => (i === at ? [newEntry] : old[0] === newEntry[0] ? [] : [old]));
  }

  delete(name) {
    requireArgs(arguments.length, 1, "delete");
    this.#entries = this.#entries.filter(([key]) => key !== `${name}`);
  }

  get(name) {
    requireArgs(arguments.length, 1, "get");
    return this.#entries.find(([key]) => key === `${name}`)?.[1] ?? null;
  }

  getAll(name) {
    requireArgs(arguments.length, 1, "getAll");
    return this.#entries.filter(([key]) => key === `${name}`).map(([, value]) => value);
  }

  has(name) {
    requireArgs(arguments.length, 1, "has");
    return this.#entries.some(([key]) => key === `${name}`);
  }

  forEach(callback, receiver = undefined) {
    for (const [name, value] of this) callback.call(receiver, value, name, this);
  }

  *entries() {
    for (let i = 0; i < this.#entries.length; i++) yield [...this.#entries[i]];
  }

  *keys() {
    for (const [name] of this.entries()) yield name;
  }

  *values() {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator]() {
    return this.entries();
  }

  get [Symbol.toStringTag]() {
    return "FormData";
  }
}

const escapeName = (name) => name.replace(/\r?\n|\r/g, "%0D%0A").replace(/"/g, "%22");

/** Encodes a form as multipart/form-data. @param {FormData} form @returns {{ type: string, bytes: Uint8Array }} */
export function encodeForm(form) {
  const boundary = `----formdata-${host.call("crypto.uuid")}`;
  const parts = [];
  for (const [name, value] of form) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"`;
    if (typeof value === "string") parts.push(`${head}\r\n\r\n${value.replace(/\r?\n|\r/g, "\r\n")}\r\n`);
    else parts.push(`${head}; filename="${escapeName(value.name)}"\r\nContent-Type: ${value.type || "application/octet-stream"}\r\n\r\n`, value, "\r\n");
  }
  return { type: `multipart/form-data; boundary=${boundary}`, bytes: bytes(new Blob([...parts, `--${boundary}--\r\n`])) };
}

/** Decodes multipart/form-data. @param {Uint8Array} body @param {string} boundary @returns {FormData} */
export function decodeForm(body, boundary) {
  // Latin-1, to split bytes with string functions.
  const text = host.call("latin1.decode", body);
  const [before, ...parts] = `\r\n${text}`.split(`\r\n--${boundary}`);
  if (before.trim() !== "" || !parts.at(-1)?.startsWith("--")) throw new TypeError("Failed to parse body as FormData.");
  const form = new FormData();
  for (const part of parts.slice(0, -1)) {
    const end = part.indexOf("\r\n\r\n");
    const head = host.call("utf8.decode", host.call("latin1.encode", part.slice(0, end)));
    const content = host.call("latin1.encode", part.slice(end + 4));
    const name = /;\s*name="([^"]*)"/i.exec(head)?.[1];
    if (end < 0 || name === undefined) throw new TypeError("Failed to parse body as FormData.");
    const filename = /;\s*filename="([^"]*)"/i.exec(head)?.[1];
    const type = /^content-type:\s*(.*)$/im.exec(head)?.[1].trim() ?? "text/plain";
    form.append(unescapeName(name), filename === undefined ? host.call("utf8.decode", content) : new File([content], unescapeName(filename), { type }));
  }
  return form;
}

const unescapeName = (name) => name.replace(/%0D%0A/gi, "\r\n").replace(/%22/g, '"');
