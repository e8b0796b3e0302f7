// Which keys and values the schema of trail files, and those of the tools, allow at a place of a file.
import trailFile from "../../../../trail/schema.json" with { type: "json" };
import { choices, isMapping, required, type Schema } from "../forms/schema";
import type { Tool } from "../protocol";

export type Path = (string | number)[];

/** A key that a mapping may have. tool says that it calls one. */
export interface Key {
	name: string;
	schemas: Schema[];
	tool: Tool | null;
}

const definitions = trailFile.$defs as Record<string, Schema>;

/** The parts of a schema of which one or more hold: what it refers to, and both branches of each condition. */
export function parts(schema: unknown): Schema[] {
	if (!isMapping(schema)) return [];
	const inner: unknown[] = ["allOf", "anyOf", "oneOf"].flatMap((key) => (schema[key] as unknown[] | undefined) ?? []);
	inner.push(schema.then, schema.else, referred(schema));
	return [schema, ...inner.flatMap(parts)];
}

function referred(schema: Schema): unknown {
	const name = /^#\/\$defs\/(\w+)$/.exec(String(schema.$ref))?.[1];
	return name ? definitions[name] : undefined;
}

/** The schemas of the value at a path of a trail file; none if the path is not one of a trail file. */
export function schemasAt(path: Path, tools: Map<string, Tool>): Schema[] {
	return path.reduce((schemas, step) => children(schemas, step, tools), parts(trailFile));
}

function children(schemas: Schema[], step: string | number, tools: Map<string, Tool>): Schema[] {
	const found: Schema[] = [];
	for (const schema of schemas) {
		if (typeof step === "number") found.push(...parts((schema.prefixItems as unknown[])?.[step] ?? schema.items));
		else found.push(...parts(property(schema, step, tools)));
	}
	return found;
}

function property(schema: Schema, key: string, tools: Map<string, Tool>): unknown {
	const properties = isMapping(schema.properties) ? schema.properties : {};
	if (Object.hasOwn(properties, key)) return properties[key];
	return (schema === definitions.call && tools.get(key)?.schema) || schema.additionalProperties;
}

/** The keys that a mapping with these schemas may have beside those that are there. */
export function keys(schemas: Schema[], there: string[], tools: Map<string, Tool>): Key[] {
	const fitting = schemas.filter((schema) => allows(schema, there));
	const found = new Map<string, Key>();
	const forbidden = new Set(there);
	for (const schema of fitting) {
		for (const name of excluded(schema, there)) forbidden.add(name);
		for (const [name, value] of Object.entries(isMapping(schema.properties) ? schema.properties : {})) {
			if (value === false) forbidden.add(name);
			else found.set(name, { name, schemas: [...(found.get(name)?.schemas ?? []), ...parts(value)], tool: null });
		}
		if (schema !== definitions.call || there.some((name) => !marks.includes(name))) continue;
		for (const tool of tools.values()) found.set(tool.name, { name: tool.name, schemas: parts(tool.schema), tool });
	}
	return [...found.values()].filter(({ name }) => !forbidden.has(name));
}

/** The keys that a schema does not want beside those that are there. */
function excluded({ oneOf, not }: Schema, there: string[]): string[] {
	const needed = (schema: unknown) => (isMapping(schema) ? required(schema) : []);
	const either = (Array.isArray(oneOf) ? oneOf : []).flatMap(needed);
	const together = needed(not);
	const isThere = (name: string) => there.includes(name);
	return [...(either.some(isThere) ? either : []), ...(together.some(isThere) ? together : [])];
}

const marks = Object.keys(definitions.call?.properties ?? {});

function allows(schema: Schema, there: string[]): boolean {
	const properties = isMapping(schema.properties) ? schema.properties : {};
	return schema.additionalProperties !== false || there.every((name) => Object.hasOwn(properties, name));
}

/** The values from which a schema lets choose, as texts; none if it does not. */
export function values(schema: Schema): string[] {
	if (schema.type === "boolean") return ["true", "false"];
	return typeof schema.const === "string" ? [schema.const] : choices(schema);
}

/** What the schemas say about a value, in words. */
export function description(schemas: Schema[]): string {
	return schemas.map((schema) => schema.description).find((text) => typeof text === "string") ?? "";
}

export function hasType(schemas: Schema[], type: string): boolean {
	return schemas.some((schema) => schema.type === type || (Array.isArray(schema.type) && schema.type.includes(type)));
}
