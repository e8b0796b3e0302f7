// Where a position in a YAML text is, and what the schemas allow there. | is the position.
import { Text } from "@codemirror/state";
import { keyAt, placeAt } from "../src/trail/place";
import { keys, schemasAt, values } from "../src/trail/schema";
import { expect, test } from "./studio";
import { tools } from "./trail-samples";

const known = new Map(tools.map((tool) => [tool.name, tool]));

function at(marked: string): [Text, number] {
	return [Text.of(marked.replace("|", "").split("\n")), marked.indexOf("|")];
}

const head = "config:\n  title: Tea\ntrail:\n";
const recording = `${head}  - step: Open\n    recording:\n      web:\n`;

const places = [
	["an empty file", "|", ["key"]],
	["a key of the file", "config: {}\ntra|", ["key"]],
	["a key of config", "config:\n  ti|tle: Tea\n", ["config", "key"]],
	["a new line in config", "config:\n  title: Tea\n  |\n", ["config", "key"]],
	["a value", "config:\n  title: Te|a\n", ["config", "title", "value"]],
	["a step", `${head}  - st|ep: Open\n`, ["trail", 0, "key"]],
	["a new step", `${head}  - step: Open\n  - |\n`, ["trail", 1, "key"]],
	["behind a dash", `${head}  -|`, ["trail", 0, "key"]],
	["a second key of a step", `${head}  - step: Open\n    rec|`, ["trail", 0, "key"]],
	["lists that are not indented", "trail:\n- step: Open\n- ver|", ["trail", 1, "key"]],
	["a call", `${recording}        - web|`, ["trail", 0, "recording", "web", 0, "key"]],
	[
		"a second call",
		`${recording}        - web_click: {ref: a}\n        - |`,
		["trail", 0, "recording", "web", 1, "key"],
	],
	[
		"an argument",
		`${recording}        - web_click:\n            re|`,
		["trail", 0, "recording", "web", 0, "web_click", "key"],
	],
	[
		"an argument in braces",
		`${recording}        - web_click: { ref: a, b|`,
		["trail", 0, "recording", "web", 0, "web_click", "key"],
	],
	[
		"a value in braces",
		`${recording}        - web_click: { button: L|`,
		["trail", 0, "recording", "web", 0, "web_click", "button", "value"],
	],
	[
		"deeper braces",
		`${recording}        - web_click: { nodeSelector: { web: { aria|`,
		["trail", 0, "recording", "web", 0, "web_click", "nodeSelector", "web", "key"],
	],
	[
		"behind closed braces",
		`${recording}        - web_click: { nodeSelector: { web: {} }, |`,
		["trail", 0, "recording", "web", 0, "web_click", "key"],
	],
	[
		"brackets",
		`${recording}        - web_click: { modifiers: [Alt, |`,
		["trail", 0, "recording", "web", 0, "web_click", "modifiers", 1, "value"],
	],
	[
		"braces over several lines",
		`${recording}        - web_click: {\n            ref: a,\n            b|`,
		["trail", 0, "recording", "web", 0, "web_click", "key"],
	],
	["colons in a text", `${head}  - step: "a: {b"\n    rec|`, ["trail", 0, "key"]],
	["a comment", "config:\n  # ti|", null],
	["a text of several lines", `${head}  - step: |-\n      Open the|`.replace("|-", "!-"), null],
] as const;

test("knows the place of a position", () => {
	for (const [name, text, path] of places) {
		const place = placeAt(...at(text.replace("!-", ">-")));
		expect.soft(place && [...place.path, place.at], name).toEqual(path);
	}
});

function completed(marked: string): string[] {
	const place = placeAt(...at(marked));
	if (!place) return [];
	const schemas = schemasAt(place.path, known);
	if (place.at === "value") return [...new Set(schemas.flatMap(values))];
	return keys(schemas, place.siblings, known).map(({ name }) => name);
}

test("offers the keys that are missing", () => {
	expect(completed("|")).toEqual(expect.arrayContaining(["config", "trail", "trailhead"]));
	expect(completed("config: {}\n|")).not.toContain("config");
	expect(completed(`${head}  - step: Open\n    |`)).toEqual(["recording", "recordable", "maxRetries"]);
	expect(completed("config:\n  |")).not.toContain("driver");
	expect(completed("- config:\n    |")).toContain("driver");
});

test("offers tools, their arguments and the values of those", () => {
	expect(completed(`${recording}        - |`)).toEqual(
		expect.arrayContaining(["web_click", "openShop", "optional", "saveAs", "soft", "timeout"]),
	);
	expect(completed(`${recording}        - web_click: {}\n          |`)).toEqual([
		"saveAs",
		"timeout",
		"optional",
		"soft",
	]);
	expect(completed(`${recording}        - web_click: {}\n          soft: true\n          |`)).toEqual([
		"saveAs",
		"timeout",
	]);
	expect(completed(`${recording}        - web_click: { ref: a, |`)).toEqual([
		"nodeSelector",
		"button",
		"count",
		"modifiers",
	]);
	expect(completed(`${recording}        - web_click: { nodeSelector: { web: { |`)).toContain("ariaRole");
	expect(completed(`${recording}        - web_click: { button: |`)).toEqual(["LEFT", "RIGHT", "MIDDLE"]);
	expect(completed(`${recording}        - web_click: {}\n          optional: |`)).toEqual(["true", "false"]);
	expect(completed("config:\n  failOn: [|")).toContain("consoleError");
});

test("knows the key that a position is in", () => {
	const [text, position] = at(`${recording}        - web_cl|ick: { ref: a }\n`);
	expect(keyAt(text, position)?.path).toEqual(["trail", 0, "recording", "web", 0, "web_click"]);
	const [other, there] = at(`${recording}        - web_click: { re|f: a }\n`);
	expect(keyAt(other, there)?.path).toEqual(["trail", 0, "recording", "web", 0, "web_click", "ref"]);
});
