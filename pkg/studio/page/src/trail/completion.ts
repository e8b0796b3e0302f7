// Completion and descriptions from the schema of trail files and from those of the tools.
import {
	type Completion,
	type CompletionContext,
	type CompletionResult,
	startCompletion,
} from "@codemirror/autocomplete";
import { hoverTooltip } from "@codemirror/view";
import type { Schema } from "../forms/schema";
import type { Tool } from "../protocol";
import { keyAt, type Place, placeAt } from "./place";
import { description, hasType, type Key, keys, schemasAt, values } from "./schema";

/** What completion knows beside the text. */
interface Known {
	tools: Map<string, Tool>;
	variables: string[];
}

const word = /^[\w.-]*$/;

/** Returns a source of completions that asks what is known each time. */
export function completions(known: () => Known) {
	return (context: CompletionContext): CompletionResult | null => {
		const { tools, variables } = known();
		const variable = context.matchBefore(/\{\{[\w.-]*/);
		if (variable) {
			const options = variables.map((name) => ({ label: `{{${name}}}`, type: "variable" }));
			const to = context.state.sliceDoc(context.pos, context.pos + 2) === "}}" ? context.pos + 2 : context.pos;
			return { from: variable.from, to, options, validFor: /^\{\{[\w.-]*$/ };
		}
		const place = placeAt(context.state.doc, context.pos);
		if (!place) return null;
		const text = context.state.sliceDoc(place.from, context.pos);
		if (!word.test(text) || (!text && !context.explicit && !place.flow)) return null;
		const options = optionsAt(place, tools, context);
		return options.length ? { from: place.from, options, validFor: word } : null;
	};
}

function optionsAt(place: Place, tools: Map<string, Tool>, context: CompletionContext): Completion[] {
	const schemas = schemasAt(place.path, tools);
	if (place.at === "value") return [...new Set(schemas.flatMap(values))].map((label) => ({ label, type: "enum" }));
	const behind = context.state.sliceDoc(context.pos, context.state.doc.lineAt(context.pos).to);
	const suffix = /^[\w.-]*\s*:/.test(behind) ? null : place;
	const own = keys(schemas, place.siblings, tools).map((key) => completion(key, suffix, ""));
	if (own.length || place.flow) return own;
	// A list begins here, or goes on.
	const entries = schemasAt([...place.path, 0], tools);
	return keys(entries, [], tools).map((key) =>
		completion(key, suffix && { ...suffix, indent: suffix.indent + 2 }, "- "),
	);
}

/** Inserts a key with what follows it; without a place, only the key, because the rest is there. */
function completion(key: Key, place: Place | null, prefix: string): Completion {
	return {
		label: key.name,
		type: key.tool ? "function" : "property",
		detail: key.tool?.source,
		info: key.tool?.description || description(key.schemas) || undefined,
		boost: key.tool ? 0 : 1,
		apply: (view, _, from, to) => {
			const [before, after] = place ? opened(key, place) : ["", ""];
			const insert = prefix + key.name + before + after;
			const anchor = from + insert.length - after.length;
			view.dispatch({ changes: { from, to, insert }, selection: { anchor }, userEvent: "input.complete" });
			if (place) startCompletion(view);
		},
	};
}

/** What goes before and behind the cursor, after a key. */
function opened({ schemas, tool }: Key, { flow, indent }: Place): [before: string, after: string] {
	if (tool) return hasProperties(schemas) ? [": { ", " }"] : [": {}", ""];
	const [list, mapping] = [hasType(schemas, "array"), hasType(schemas, "object")];
	if (hasType(schemas, "string") || (!list && !mapping)) return [": ", ""];
	if (flow) return list ? [": [", "]"] : [": { ", " }"];
	const below = `:\n${" ".repeat(indent + 2)}`;
	return [list ? `${below}- ` : below, ""];
}

function hasProperties(schemas: Schema[]): boolean {
	return schemas.some(({ properties }) => Object.keys(properties ?? {}).length > 0);
}

/** Shows what a key or a tool means, where the pointer is. */
export function descriptions(known: () => Known) {
	return hoverTooltip((view, position) => {
		const key = keyAt(view.state.doc, position);
		const name = key?.path.at(-1);
		if (!key || typeof name !== "string") return null;
		const { tools } = known();
		const place = placeAt(view.state.doc, key.from);
		const found = keys(schemasAt(key.path.slice(0, -1), tools), place?.siblings ?? [], tools).find(
			(k) => k.name === name,
		);
		const text = found?.tool?.description || description(found?.schemas ?? []);
		if (!text) return null;
		return { pos: key.from, end: key.to, create: () => ({ dom: paragraph(text) }) };
	});
}

function paragraph(text: string): HTMLElement {
	const dom = document.createElement("div");
	dom.className = "cm-description";
	dom.textContent = text;
	return dom;
}
