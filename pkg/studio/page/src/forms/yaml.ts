import { CORE_SCHEMA, dump, load, YAMLException } from "js-yaml";

/** Writes a value as YAML, without a line break at its end. */
export function toYAML(value: unknown): string {
	return value === undefined ? "" : dump(value, { schema: CORE_SCHEMA, lineWidth: -1, noRefs: true }).trimEnd();
}

/** Reads YAML. Throws an Error that says what is wrong, and in which line. Nothing is undefined. */
export function fromYAML(text: string): unknown {
	if (!text.trim()) return undefined;
	try {
		return load(text, { schema: CORE_SCHEMA });
	} catch (error) {
		if (!(error instanceof YAMLException)) throw error;
		const line = error.mark ? ` (line ${error.mark.line + 1})` : "";
		throw new Error(`not valid YAML: ${error.reason}${line}`);
	}
}
