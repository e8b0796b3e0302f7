import { isMapping } from "./schema";

/** A selector in a line: what each driver looks for, then where the element is. */
export function selectorText(selector: unknown): string {
	if (!isMapping(selector)) return "";
	return Object.entries(selector)
		.map(([name, value]) => {
			if (!isMapping(value)) return `${name}: ${flow(value)}`;
			const fields = Object.entries(value).map(([field, text]) => `${field}: ${flow(text)}`);
			return drivers.has(name) ? fields.join(", ") : `${name} (${selectorText(value) || fields.join(", ")})`;
		})
		.join(", ");
}

/** The blocks of a selector that say how the element itself is found. */
const drivers = new Set(["web", "androidAccessibility", "androidMaestro", "iosMaestro", "iosAxe", "compose"]);

function flow(value: unknown): string {
	return typeof value === "string" ? value : JSON.stringify(value);
}
