// Schemas of tools: as JSON Schema for the listing, and as a check of arguments. Any Standard Schema is supported. This
// file does not import zod: the import would be resolved from this package, and could find another zod than the author's.

/** @import { InputSchema, JsonSchema, StandardSchema } from "../index.d.ts" */
/** @typedef {{ value: any } | { problems: string }} Checked */
/** @typedef {{ json: JsonSchema, check: (args: Record<string, unknown>) => Checked | Promise<Checked> }} Input */

// Keywords by which a JSON Schema is distinguished from a mapping from names to schemas.
const JSON_SCHEMA = ["type", "properties", "$schema", "$ref", "anyOf", "oneOf", "allOf"];

/**
 * @param {any} value
 * @returns {value is StandardSchema}
 */
const isSchema = (value) => value?.["~standard"]?.version === 1;

/**
 * @param {InputSchema} [schema] none means no fields
 * @param {"inputSchema" | "outputSchema"} [key] where it is from
 * @returns {Input}
 */
export function inputOf(schema = {}, key = "inputSchema") {
  if (isSchema(schema)) {
    const json = { type: "object", ...jsonSchema(schema) };
    if (json.type !== "object") {
      throw new TypeError(`${key} is a schema of type ${json.type}, not of an object; write z.object({ … })`);
    }
    return { json, check: (args) => check([[undefined, schema, args]]) };
  }
  const fields = /** @type {Record<string, any>} */ (schema);
  if (JSON_SCHEMA.some((keyword) => Object.hasOwn(fields, keyword) && !isSchema(fields[keyword]))) {
    return { json: { type: "object", ...fields }, check: (args) => ({ value: args }) };
  }
  for (const [name, field] of Object.entries(fields)) {
    if (!isSchema(field)) {
      const advice = "write z.string() or the like (zod 3.25 or later), or one JSON Schema for the whole object";
      throw new TypeError(`${key}.${name} is not a schema; ${advice}`);
    }
  }
  return {
    json: objectJson(fields, key === "inputSchema"), // nothing removes other fields from results
    check: (args) => check(Object.entries(fields).map(([name, field]) => [name, field, args[name]])),
  };
}

/**
 * @param {[string | undefined, StandardSchema, unknown][]} parts what to check; the name is undefined for all arguments
 * @returns {Promise<Checked>}
 */
async function check(parts) {
  /** @type {any} */
  const out = {};
  const problems = [];
  for (const [name, schema, given] of parts) {
    const result = await schema["~standard"].validate(given);
    for (const { message, path = [] } of result.issues ?? []) {
      const steps = path.map((step) => String(typeof step === "object" ? step.key : step));
      const where = [...(name === undefined ? [] : [name]), ...steps].join(".");
      problems.push(where ? `${where}: ${message}` : message);
    }
    if (result.issues) continue;
    if (name === undefined) return { value: result.value };
    if (result.value !== undefined) out[name] = result.value;
  }
  return problems.length ? { problems: problems.join("; ") } : { value: out };
}

/**
 * @param {Record<string, StandardSchema>} shape
 * @param {boolean} strict
 * @returns {JsonSchema}
 */
function objectJson(shape, strict) {
  const names = Object.keys(shape);
  const properties = Object.fromEntries(
    names.map((name) => [name, moved(jsonSchema(shape[name]), `#/properties/${pointer(name)}`)]),
  );
  const required = names.filter((name) => !isOptional(shape[name]));
  return { type: "object", properties, ...(required.length && { required }), ...(strict && { additionalProperties: false }) };
}

/** @param {string} name */
const pointer = (name) => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));

/**
 * Returns a schema whose references to itself are correct at another place of a document.
 * @param {any} json
 * @param {string} place
 * @returns {any}
 */
function moved(json, place) {
  if (Array.isArray(json)) return json.map((item) => moved(item, place));
  if (typeof json !== "object" || json === null) return json;
  const isReference = typeof json.$ref === "string" && json.$ref.startsWith("#");
  const parts = Object.entries(json).map(([key, value]) => [key, moved(value, place)]);
  return { ...Object.fromEntries(parts), ...(isReference && { $ref: place + json.$ref.slice(1) }) };
}

/**
 * Reports whether an argument is optional.
 * @param {StandardSchema} schema
 */
function isOptional(schema) {
  try {
    const result = schema["~standard"].validate(undefined);
    return !(result instanceof Promise) && !result.issues;
  } catch {
    return false;
  }
}

/**
 * @param {StandardSchema} schema
 * @returns {JsonSchema}
 */
function jsonSchema(schema) {
  try {
    const own = schema["~standard"].jsonSchema?.input({ target: "draft-2020-12" });
    if (own) {
      const { $schema, ...json } = own;
      return json;
    }
  } catch {
    // JSON Schema cannot express a part of it, such as a date. The conversion below leaves that part out.
  }
  return convert(schema);
}

/**
 * Converts a schema of zod 3.25, 4.0 and 4.1, which cannot convert it. What is left out is still checked when the tool is called.
 * @param {any} schema
 * @returns {JsonSchema}
 */
function convert(schema) {
  const def = schema?._zod?.def ?? schema?._def ?? {};
  const kind = String(def.typeName?.slice("Zod".length) ?? def.type).toLowerCase();
  const json = CONVERSIONS[kind]?.(def, schema) ?? {};
  return schema?.description ? { ...json, description: schema.description } : json;
}

/** @param {Record<string, unknown>} json */
const known = (json) =>
  Object.fromEntries(Object.entries(json).filter(([, value]) => value != null && Math.abs(Number(value)) !== Infinity));

/** @type {(def: any) => JsonSchema} */
const inner = (def) => convert(def.innerType);

/** @type {(def: any) => JsonSchema} */
const withDefault = (def) => ({
  ...inner(def),
  default: typeof def.defaultValue === "function" ? def.defaultValue() : def.defaultValue,
});

/** @type {(def: any) => JsonSchema} */
const anyOf = (def) => ({ anyOf: [...def.options.values()].map(convert) });

/** @type {Record<string, (def: any, schema: any) => JsonSchema>} */
const CONVERSIONS = {
  string: (_, { minLength, maxLength }) => ({ type: "string", ...known({ minLength, maxLength }) }),
  number: (_, { isInt, minValue, maxValue }) => ({
    type: isInt ? "integer" : "number",
    ...known({ minimum: minValue, maximum: maxValue }),
  }),
  boolean: () => ({ type: "boolean" }),
  null: () => ({ type: "null" }),
  literal: (def) => ({ enum: def.values ?? [def.value] }),
  enum: (def) => ({ enum: Object.values(def.entries ?? def.values) }),
  nativeenum: (def) => ({ enum: Object.entries(def.values).flatMap(([key, value]) => (/^\d+$/.test(key) ? [] : [value])) }),
  array: (def) => ({ type: "array", items: convert(def.element ?? def.type) }),
  tuple: (def) => ({ type: "array", prefixItems: def.items.map(convert) }),
  record: (def) => ({ type: "object", additionalProperties: convert(def.valueType) }),
  object: (def, { shape }) => objectJson(shape, def.unknownKeys === "strict" || def.catchall?._zod?.def.type === "never"),
  union: anyOf,
  discriminatedunion: anyOf,
  intersection: (def) => ({ allOf: [convert(def.left), convert(def.right)] }),
  nullable: (def) => ({ anyOf: [inner(def), { type: "null" }] }),
  optional: inner,
  nonoptional: inner,
  readonly: inner,
  catch: inner,
  default: withDefault,
  prefault: withDefault,
  branded: (def) => convert(def.type),
  effects: (def) => (def.effect.type === "preprocess" ? {} : convert(def.schema)),
  pipe: (def) => convert(def.in),
  pipeline: (def) => convert(def.in),
};
