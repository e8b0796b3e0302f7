// What a JSON Schema of arguments means for a form: which field a value has, what is wrong with it.

export type Schema = Record<string, unknown>;
export type Args = Record<string, unknown>;

export type Kind = "choice" | "text" | "number" | "boolean" | "list" | "object" | "yaml";

export function isMapping(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Which field is for a value. What a simpler one cannot show is edited as YAML. */
export function kindOf(schema: Schema, value: unknown): Kind {
	const kind = kindOfSchema(schema);
	if (value === undefined) return kind;
	if (isVariable(value)) return "text";
	const shown: Record<Kind, boolean> = {
		choice: typeof value === "string",
		text: typeof value === "string",
		number: typeof value === "number" || typeof value === "string",
		boolean: typeof value === "boolean",
		list: Array.isArray(value),
		object: isMapping(value),
		yaml: true,
	};
	return shown[kind] ? kind : "yaml";
}

function kindOfSchema(schema: Schema): Kind {
	if (choices(schema).length > 0) return "choice";
	if (schema.oneOf || schema.anyOf || schema.allOf || schema.$ref) return "yaml";
	switch (schema.type) {
		case "string":
			return "text";
		case "number":
		case "integer":
			return "number";
		case "boolean":
			return "boolean";
		case "array":
			return isMapping(schema.items) && kindOfSchema(schema.items) !== "yaml" ? "list" : "yaml";
		case "object":
			return isMapping(schema.properties) && Object.keys(schema.properties).length > 0 ? "object" : "yaml";
		default:
			return "yaml";
	}
}

/** The texts from which a schema lets choose; none if it does not. */
export function choices(schema: Schema): string[] {
	if (Array.isArray(schema.enum) && schema.enum.every((value) => typeof value === "string")) return schema.enum;
	// How our commands write a choice in any case.
	return /^\^\(\?i:([\w|]+)\)\$$/.exec(String(schema.pattern))?.[1]?.split("|") ?? [];
}

/** Whether a value contains {{NAME}}: what it is then is known when the call is made. */
export function isVariable(value: unknown): boolean {
	return typeof value === "string" && /\{\{[^{}]+\}\}/.test(value);
}

/** What a schema says about a value, in words. */
export function help(schema: Schema): string {
	return typeof schema.description === "string" ? schema.description : "";
}

export function properties(schema: Schema): [name: string, schema: Schema][] {
	return Object.entries(isMapping(schema.properties) ? schema.properties : {}).map(([name, value]) => [
		name,
		isMapping(value) ? value : {},
	]);
}

export function required(schema: Schema): string[] {
	return Array.isArray(schema.required) ? schema.required : [];
}

/** The arguments that a new call begins with: those that have to be given and have a value by themselves. */
export function initial(schema: Schema): Args {
	const args: Args = {};
	for (const [name, property] of properties(schema)) {
		if (!required(schema).includes(name)) continue;
		if (property.default !== undefined) args[name] = property.default;
		else if (property.type === "boolean") args[name] = false;
	}
	return args;
}

/** What is wrong with a value, in words. */
export interface Problem {
	message: string;
	/** Whether it is wrong because it is not there. */
	missing: boolean;
}

/** Finds what is wrong, by path: names and indexes with slashes between. The server checks the rest. */
export function validate(schema: Schema, value: unknown, path = ""): Map<string, Problem> {
	if (isVariable(value)) return new Map();
	const message = wrong(schema, value);
	if (message) return new Map([[path, { message, missing: false }]]);
	const found = new Map<string, Problem>();
	for (const [name, of, item] of valuesIn(schema, value)) {
		const below = path ? `${path}/${name}` : name;
		if (item === undefined) found.set(below, { message: "has to be given", missing: true });
		else for (const [at, problem] of validate(of, item, below)) found.set(at, problem);
	}
	return found;
}

/** The values in a value with their schemas, and those that have to be there and are not. */
function valuesIn(schema: Schema, value: unknown): [name: string, schema: Schema, value: unknown][] {
	if (isMapping(value)) {
		const must = required(schema);
		const known = properties(schema).map(([name, of]): [string, Schema, unknown] => [name, of, value[name]]);
		return known.filter(([name, , item]) => item !== undefined || must.includes(name));
	}
	const { items } = schema;
	return Array.isArray(value) && isMapping(items) ? value.map((item, i) => [String(i), items, item]) : [];
}

/** What is wrong with a value itself; "" for nothing. */
function wrong(schema: Schema, value: unknown): string {
	const types = [schema.type ?? []].flat() as string[];
	if (types.length > 0 && !types.some((type) => hasType(value, type))) {
		return `is not ${types.map((type) => typeNames[type] ?? type).join(" or ")}`;
	}
	if (Array.isArray(schema.enum) && !schema.enum.some((one) => JSON.stringify(one) === JSON.stringify(value))) {
		return `is not one of ${schema.enum.join(", ")}`;
	}
	if (typeof value === "number") return wrongNumber(schema, value);
	if (typeof value === "string") return wrongText(schema, value);
	if (Array.isArray(value) && value.length < Number(schema.minItems ?? 0)) return "has too few entries";
	return "";
}

const typeNames: Record<string, string> = {
	integer: "a whole number",
	number: "a number",
	string: "a text",
	boolean: "true or false",
	array: "a list",
	object: "a mapping",
	null: "null",
};

function hasType(value: unknown, type: string): boolean {
	switch (type) {
		case "integer":
			return Number.isInteger(value);
		case "array":
			return Array.isArray(value);
		case "object":
			return isMapping(value);
		case "null":
			return value === null;
		default:
			return typeof value === type;
	}
}

function wrongNumber(schema: Schema, value: number): string {
	if (value < Number(schema.minimum ?? -Infinity)) return `is less than ${schema.minimum}`;
	if (value > Number(schema.maximum ?? Infinity)) return `is more than ${schema.maximum}`;
	return "";
}

function wrongText(schema: Schema, value: string): string {
	if (value.length < Number(schema.minLength ?? 0)) return "is empty";
	const allowed = choices(schema);
	if (allowed.length > 0) {
		const fits = allowed.some((one) => one.toLowerCase() === value.toLowerCase());
		return fits ? "" : `is not one of ${allowed.join(", ")}`;
	}
	if (typeof schema.pattern === "string" && !matches(schema.pattern, value)) return `does not match ${schema.pattern}`;
	return "";
}

/** Patterns that only Go knows are left to the server. */
function matches(pattern: string, value: string): boolean {
	try {
		return new RegExp(pattern, "u").test(value);
	} catch {
		return true;
	}
}
