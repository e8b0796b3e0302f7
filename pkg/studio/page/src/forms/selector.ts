import { isMapping } from "./schema";

/** A selector in a line: what each driver looks for, role and name first, then where the element is. */
export function selectorText(selector: unknown): string {
	if (!isMapping(selector)) return "";
	return Object.entries(selector)
		.sort(([a], [b]) => rank(a) - rank(b))
		.map(([name, value]) => (drivers.has(name) ? selectorText(value) : field(name, value)))
		.join(", ");
}

/** The blocks of a selector that say how the element itself is found. */
const drivers = new Set(["web", "androidAccessibility", "androidMaestro", "iosMaestro", "iosAxe", "compose"]);

function rank(name: string): number {
	if (drivers.has(name)) return 0;
	if (/role$/i.test(name)) return 1;
	return /(name|text)(regex)?$/i.test(name) ? 2 : 3;
}

function field(name: string, value: unknown): string {
	if (isMapping(value)) return `${name} (${selectorText(value)})`;
	if (Array.isArray(value) && value.every(isMapping)) return `${name} (${value.map(selectorText).join("; ")})`;
	return `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`;
}
