// Where in a YAML text a position is, from the lines around it. It works for texts that do not parse, as those do in which
// somebody types.
import type { Path } from "./schema";

export interface Place {
	/** To the mapping whose key, or to the value, that the position is in. */
	path: Path;
	at: "key" | "value";
	/** Where the key or value begins. */
	from: number;
	/** The other keys of the mapping; for at "key". */
	siblings: string[];
	/** Between braces or brackets. */
	flow: boolean;
	/** The column of the key; in a flow that of its line. */
	indent: number;
}

interface Lines {
	/** Counts from 1. */
	line(number: number): { from: number; text: string; number: number };
	lineAt(position: number): { from: number; text: string; number: number };
	lines: number;
	sliceString(from: number, to: number): string;
}

/** What a line opens: entries of lists, and at most one key, each deeper than the one before. */
interface Opener {
	column: number;
	key: string | null;
	/** Behind "- " or "key:". */
	end: number;
}

const keyText = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#"'[\]{},&*!|>%@`-][^#]*?|-[^\s][^#]*?)\s*:(?=\s|$)/;

function openers(text: string): Opener[] {
	const found: Opener[] = [];
	let column = text.length - text.trimStart().length;
	for (let item = /^-(\s+|$)/.exec(text.slice(column)); item; item = /^-(\s+|$)/.exec(text.slice(column))) {
		found.push({ column, key: null, end: column + 1 });
		column += item[0].length;
	}
	const key = keyText.exec(text.slice(column));
	if (key) found.push({ column, key: unquoted(key[1] ?? ""), end: column + key[0].length });
	return found;
}

function unquoted(text: string): string {
	return /^["']/.test(text) ? text.slice(1, -1) : text;
}

/** The place of a position; null in comments, in texts of several lines, and where a list has a value that is not a key. */
export function placeAt(text: Lines, position: number): Place | null {
	const line = text.lineAt(position);
	const before = line.text.slice(0, position - line.from);
	if (/(^|\s)#/.test(before)) return null;
	const own = openers(line.text).filter(
		({ end }) => end < before.length || (end === before.length && before.endsWith("-")),
	);
	const last = own.at(-1);
	const start = last?.key != null ? skipSpace(line.text, last.end) : contentColumn(line.text, before, last);
	const outer = ancestors(text, line.number, own, last?.key != null ? last.column : start);
	if (!outer) return null;
	if (outer.flowFrom !== null) return flowPlace(text, outer.flowFrom, position, outer.path, outer.indent);
	if (last?.key != null) {
		const path = [...outer.path, last.key];
		if (/^[{[]/.test(line.text.slice(start))) return flowPlace(text, line.from + start, position, path, last.column);
		return { path, at: "value", from: line.from + start, siblings: [], flow: false, indent: last.column };
	}
	if (/^[{[]/.test(line.text.slice(start))) return flowPlace(text, line.from + start, position, outer.path, start);
	const siblings = siblingKeys(text, line.number, start);
	return { path: outer.path, at: "key", from: line.from + start, siblings, flow: false, indent: start };
}

function skipSpace(text: string, column: number): number {
	return column + (/^\s*/.exec(text.slice(column))?.[0].length ?? 0);
}

/** The column where a key of this line begins, or would. */
function contentColumn(text: string, before: string, last: Opener | undefined): number {
	return Math.min(skipSpace(text, last?.end ?? 0), before.length);
}

interface Outer {
	path: Path;
	/** Where the braces begin that the line is in; null if it is not in any. */
	flowFrom: number | null;
	indent: number;
}

/** The path of what begins at a column of a line; null if it is in a text of several lines. */
function ancestors(text: Lines, number: number, own: Opener[], column: number): Outer | null {
	const path: Path = [];
	const outer: Outer = { path, flowFrom: null, indent: column };
	let limit = column;
	/** The place in its list of the entry that was visited last; null if a key was. */
	let index: number | null = null;
	const visit = ({ column: at, key }: Opener): boolean => {
		if (index !== null && key === null && at === limit) index++;
		if (at > limit || (at === limit && (index === null || key === null))) return false;
		if (index !== null) path.unshift(index);
		index = key === null ? 0 : null;
		if (key !== null) path.unshift(key);
		limit = at;
		return true;
	};
	for (const opener of own.toReversed()) visit(opener);
	for (let above = number - 1; above > 0 && (limit > 0 || index !== null); above--) {
		const line = text.line(above);
		if (isEmpty(line.text)) continue;
		for (const opener of openers(line.text).toReversed()) {
			if (!visit(opener) || opener.key === null) continue;
			const value = line.text.slice(opener.end).trim();
			if (/^[{[]/.test(value)) {
				path.length = 0;
				path.push(opener.key);
				Object.assign(outer, { flowFrom: line.from + skipSpace(line.text, opener.end), indent: opener.column });
			} else if (value && !/^([&!]\S*|#.*)$/.test(value)) return null;
		}
	}
	if (index !== null) path.unshift(index);
	return outer;
}

/** Whether a line has nothing, or only a comment. */
function isEmpty(text: string): boolean {
	return /^\s*(#|$)/.test(text);
}

/** The keys of the mapping that has a key at this column of this line, without the one of the line itself. */
function siblingKeys(text: Lines, number: number, column: number): string[] {
	const found: string[] = [];
	const scan = (step: 1 | -1) => {
		for (let at = number + step; at > 0 && at <= text.lines; at += step) {
			const line = text.line(at).text;
			if (isEmpty(line)) continue;
			const opened = openers(line);
			const key = opened.at(-1);
			const entry = opened.some((opener) => opener.key === null);
			if (step === 1 && entry && (opened[0]?.column ?? 0) < column) return;
			if (key?.key != null && key.column === column) found.push(key.key);
			if (entry && (opened[0]?.column ?? 0) < column) return;
			if (line.length - line.trimStart().length < column) return;
		}
	};
	if (!openers(text.line(number).text).some(({ key, column: at }) => key === null && at < column)) scan(-1);
	scan(1);
	return found;
}

interface Level {
	index: number | null;
	key: string | null;
	keys: string[];
}

const flowToken =
	/"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?|[[\]{},]|:(?=[\s,[\]{}"']|$)|(?:[^\s[\]{},:]|:(?![\s,[\]{}]|$))+(?:[ \t]+(?:[^\s[\]{},:#]|:(?![\s,[\]{}]|$))+)*|\s+/g;

/** The place of a position in braces or brackets that begin at from. */
function flowPlace(text: Lines, from: number, position: number, outer: Path, indent: number): Place | null {
	const levels: Level[] = [];
	let word = position;
	let last = "";
	for (const token of text.sliceString(from, position).matchAll(flowToken)) {
		const level = levels.at(-1);
		const at = token[0];
		if (!at.trim()) continue;
		if (at === "{" || at === "[") levels.push({ index: at === "[" ? 0 : null, key: null, keys: [] });
		else if (at === "}" || at === "]") levels.pop();
		else if (!level) return null;
		else if (at === ",") {
			if (level.index !== null) level.index++;
			else level.key = null;
		} else if (at === ":" && level.index === null && last) {
			level.key = unquoted(last);
			level.keys.push(level.key);
		}
		const plain = !/^[[\]{},:]$/.test(at);
		last = plain ? at : "";
		word = plain && from + token.index + at.length === position ? from + token.index : position;
	}
	const top = levels.at(-1);
	if (!top) return null;
	const path = [...outer, ...levels.slice(0, -1).map(({ index, key }) => index ?? key ?? "")];
	if (top.index === null && top.key === null)
		return { path, at: "key", from: word, siblings: top.keys, flow: true, indent };
	return { path: [...path, top.index ?? top.key ?? ""], at: "value", from: word, siblings: [], flow: true, indent };
}

/** The key that a position is in. path is that of its value. */
export function keyAt(text: Lines, position: number): { path: Path; from: number; to: number } | null {
	const line = text.lineAt(position);
	const column = position - line.from;
	for (const word of line.text.matchAll(/[\w.-]*\w(?=\s*:(\s|$))/g)) {
		const to = word.index + word[0].length;
		if (column < word.index || column > to) continue;
		const place = placeAt(text, line.from + word.index);
		if (place?.at !== "key") return null;
		return { path: [...place.path, word[0]], from: line.from + word.index, to: line.from + to };
	}
	return null;
}
