// Where the steps and calls are in the text. They move with what is typed, until the next document says where they are.
import { type EditorState, RangeSetBuilder, StateEffect, StateField, type Text } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";

/** Where a step ("2") or a call ("2.1") begins. */
export interface Entry {
	number: string;
	position: number;
}

interface Outline {
	entries: Entry[];
	selected: string;
	/** The lines of the selected entry. */
	marked: DecorationSet;
}

/** What the document says that is where. */
export const setEntries = StateEffect.define<Entry[]>();
export const setSelected = StateEffect.define<string>();

const line = Decoration.line({ class: "cm-selectedEntry" });

const field = StateField.define<Outline>({
	create: () => ({ entries: [], selected: "", marked: Decoration.none }),
	update(outline, transaction) {
		let { entries, selected } = outline;
		if (transaction.docChanged)
			entries = entries.map(({ number, position }) => ({ number, position: transaction.changes.mapPos(position, 1) }));
		for (const effect of transaction.effects) {
			if (effect.is(setEntries)) entries = effect.value;
			if (effect.is(setSelected)) selected = effect.value;
		}
		if (entries === outline.entries && selected === outline.selected) return outline;
		return { entries, selected, marked: mark(transaction.state.doc, entries, selected) };
	},
	provide: (field) => EditorView.decorations.from(field, ({ marked }) => marked),
});

export const outline = field;

function mark(text: Text, entries: Entry[], selected: string): DecorationSet {
	const entry = entries.find(({ number }) => number === selected);
	if (!entry) return Decoration.none;
	const builder = new RangeSetBuilder<Decoration>();
	const first = text.lineAt(Math.min(entry.position, text.length)).number;
	for (let number = first; number <= lastLine(text, first); number++) {
		const { from } = text.line(number);
		builder.add(from, from, line);
	}
	return builder.finish();
}

/** The last line of what begins on a line: of those that are deeper, the last that is not empty. */
function lastLine(text: Text, first: number): number {
	const depth = indentation(text.line(first).text);
	let last = first;
	for (let number = first + 1; number <= text.lines; number++) {
		const { text: content } = text.line(number);
		if (!content.trim()) continue;
		if (indentation(content) <= depth) break;
		last = number;
	}
	return last;
}

function indentation(text: string): number {
	return text.length - text.trimStart().length;
}

/** The step or call that a position is in, or else the step; "" for none. */
export function entryAt(state: EditorState, position: number): string {
	const at = state.doc.lineAt(position).number;
	let [number, nearest] = ["", 0];
	for (const entry of state.field(field).entries) {
		const first = state.doc.lineAt(entry.position).number;
		if (first > at || first < nearest || lastLine(state.doc, first) < at) continue;
		[number, nearest] = [entry.number, first];
	}
	return number;
}

/** Where the selected entry begins; null if none is selected. */
export function selectedPosition(state: EditorState): number | null {
	const { entries, selected } = state.field(field);
	return entries.find(({ number }) => number === selected)?.position ?? null;
}
