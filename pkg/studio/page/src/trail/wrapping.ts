// Lines that are too long go on below their own indentation.
import { RangeSetBuilder } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";

/** In a narrow editor deeper lines would have no room. */
const maxIndentation = 16;
/** The padding of lines without it, in pixels. */
const padding = 6;

const decorations = Array.from({ length: maxIndentation + 1 }, (_, columns) =>
	Decoration.line({
		attributes: { style: `text-indent: -${columns}ch; padding-left: calc(${columns}ch + ${padding}px)` },
	}),
);

function decorate(view: EditorView): DecorationSet {
	const builder = new RangeSetBuilder<Decoration>();
	for (const { from, to } of view.visibleRanges) {
		for (let at = from; at <= to; ) {
			const line = view.state.doc.lineAt(at);
			const columns = /^\s*(-\s+)*/.exec(line.text)?.[0].length ?? 0;
			// One step further, so that it does not look like a line of its own.
			const decoration = decorations[Math.min(columns + 2, maxIndentation)];
			if (columns > 0 && decoration) builder.add(line.from, line.from, decoration);
			at = line.to + 1;
		}
	}
	return builder.finish();
}

export const wrapping = [
	EditorView.lineWrapping,
	ViewPlugin.define(
		(view) => ({
			decorations: decorate(view),
			update({ docChanged, viewportChanged, view }: ViewUpdate) {
				if (docChanged || viewportChanged) this.decorations = decorate(view);
			},
		}),
		{ decorations: (plugin) => plugin.decorations },
	),
];
