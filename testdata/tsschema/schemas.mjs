// Prints the JSON Schema of each named type that a TypeScript file exports, as ts-json-schema-generator makes it: an object by
// name, with { error } where it refuses. Usage: node schemas.mjs FILE NAME...
import { createGenerator } from "ts-json-schema-generator";

const [path, ...names] = process.argv.slice(2);
const generator = createGenerator({ path, topRef: false, expose: "export", additionalProperties: false, functions: "fail", skipTypeCheck: true });
const schemas = {};
for (const name of names) {
  try {
    schemas[name] = generator.createSchema(name);
  } catch (error) {
    schemas[name] = { error: String(error.message ?? error) };
  }
}
console.log(JSON.stringify(schemas, null, 1));
