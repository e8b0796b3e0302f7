// The changes that turn one text into another, so small that a cursor beside them stays.
import { ChangeSet, type ChangeSpec, type Text } from "@codemirror/state";

/** Above this number of comparisons everything between the first and the last line that differs counts as changed. */
const maxComparisons = 250_000;

export function difference(from: Text, to: Text): ChangeSet {
	const before = linesOf(from);
	const after = linesOf(to);
	let start = 0;
	while (start < before.length && start < after.length && before[start] === after[start]) start++;
	let end = 0;
	const most = Math.min(before.length, after.length) - start;
	while (end < most && before.at(-1 - end) === after.at(-1 - end)) end++;
	const hunks = compare(before.slice(start, before.length - end), after.slice(start, after.length - end));
	const changes = hunks.map(([a, b, c, d]) => replace(from, to, a + start, b + start, c + start, d + start));
	return ChangeSet.of(changes, from.length);
}

/** Lines with their breaks, so that the last one differs from others. */
function linesOf(text: Text): string[] {
	const lines = text.toJSON();
	return lines.map((line, i) => (i < lines.length - 1 ? `${line}\n` : line));
}

/** Lines a to b (exclusive) become c to d. */
type Hunk = [a: number, b: number, c: number, d: number];

function compare(before: string[], after: string[]): Hunk[] {
	if (!before.length && !after.length) return [];
	if (before.length * after.length > maxComparisons) return [[0, before.length, 0, after.length]];
	const common = commonLengths(before, after);
	const hunks: Hunk[] = [];
	let [a, c] = [0, 0];
	while (a < before.length || c < after.length) {
		const [fromA, fromC] = [a, c];
		while (a < before.length || c < after.length) {
			if (a < before.length && c < after.length && before[a] === after[c]) break;
			if (c >= after.length || (a < before.length && at(common, a + 1, c) >= at(common, a, c + 1))) a++;
			else c++;
		}
		if (a > fromA || c > fromC) hunks.push([fromA, a, fromC, c]);
		while (a < before.length && c < after.length && before[a] === after[c]) {
			a++;
			c++;
		}
	}
	return hunks;
}

/** How many lines what begins at [a][c] has in common at most. */
function commonLengths(before: string[], after: string[]): Uint32Array[] {
	const rows = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
	for (let a = before.length - 1; a >= 0; a--) {
		for (let c = after.length - 1; c >= 0; c--) {
			const same = before[a] === after[c];
			(rows[a] as Uint32Array)[c] = same
				? at(rows, a + 1, c + 1) + 1
				: Math.max(at(rows, a + 1, c), at(rows, a, c + 1));
		}
	}
	return rows;
}

function at(rows: Uint32Array[], row: number, column: number): number {
	return rows[row]?.[column] ?? 0;
}

/** Replaces lines, without the characters that are the same at both ends. Lines count from 0. */
function replace(from: Text, to: Text, a: number, b: number, c: number, d: number): ChangeSpec {
	let [start, end] = [lineStart(from, a), lineStart(from, b)];
	let [newStart, newEnd] = [lineStart(to, c), lineStart(to, d)];
	const removed = from.sliceString(start, end);
	const added = to.sliceString(newStart, newEnd);
	const most = Math.min(removed.length, added.length);
	let head = 0;
	while (head < most && removed[head] === added[head]) head++;
	let tail = 0;
	while (tail < most - head && removed.at(-1 - tail) === added.at(-1 - tail)) tail++;
	[start, end, newStart, newEnd] = [start + head, end - tail, newStart + head, newEnd - tail];
	return { from: start, to: end, insert: to.slice(newStart, newEnd) };
}

function lineStart(text: Text, line: number): number {
	return line >= text.lines ? text.length : text.line(line + 1).from;
}
