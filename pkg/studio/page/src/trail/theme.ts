import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
	{ tag: [tags.definition(tags.propertyName), tags.propertyName], color: "var(--link)" },
	{ tag: tags.string, color: "var(--passed)" },
	{ tag: [tags.comment, tags.meta], color: "var(--dim)" },
	{ tag: [tags.separator, tags.punctuation, tags.squareBracket, tags.brace], color: "var(--dim)" },
]);

const look = EditorView.theme({
	"&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--card)", fontSize: "var(--small)" },
	"&.cm-focused": { outline: "none" },
	".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5", overflow: "auto" },
	".cm-content": { caretColor: "var(--ink)", padding: "var(--space-1) 0" },
	".cm-cursor": { borderLeftColor: "var(--ink)" },
	".cm-gutters": { backgroundColor: "var(--card)", color: "var(--dim)", border: "none" },
	".cm-activeLine": { backgroundColor: "transparent" },
	"&.cm-focused .cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--ink) 4%, transparent)" },
	".cm-line.cm-selectedEntry": {
		backgroundColor: "color-mix(in srgb, var(--link) 9%, transparent)",
		boxShadow: "inset 2px 0 var(--link)",
	},
	"& > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
		backgroundColor: "color-mix(in srgb, var(--link) 22%, transparent) !important",
	},
	".cm-tooltip": {
		maxWidth: "min(40em, 90vw)",
		border: "1px solid var(--line)",
		borderRadius: "var(--radius)",
		backgroundColor: "var(--card)",
		color: "var(--ink)",
		font: "var(--small) / 1.45 var(--sans)",
		boxShadow: "0 4px 16px rgb(0 0 0 / 18%)",
	},
	".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "16em" },
	".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px 8px" },
	".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--link)", color: "var(--on-link)" },
	".cm-completionDetail": { color: "inherit", opacity: 0.75 },
	".cm-completionMatchedText": { textDecoration: "none", fontWeight: "600" },
	".cm-completionInfo": { padding: "4px 8px" },
	".cm-description": { padding: "4px 8px" },
	".cm-diagnostic": { padding: "4px 8px", borderLeftWidth: "3px" },
	".cm-diagnostic-error": { borderLeftColor: "var(--failed)" },
	".cm-diagnostic-warning": { borderLeftColor: "var(--error)" },
	".cm-hint": { color: "var(--dim)" },
	".cm-lintRange-error": { textDecoration: "underline wavy var(--failed) 1px", backgroundImage: "none" },
	".cm-lintRange-warning": { textDecoration: "underline wavy var(--error) 1px", backgroundImage: "none" },
	".cm-gutter-lint": { width: "14px" },
	".cm-lint-marker": { width: "8px", height: "8px", borderRadius: "50%", content: "none" },
	".cm-panels": { backgroundColor: "var(--soft)", color: "var(--ink)", borderColor: "var(--line)" },
	".cm-panel.cm-search": { font: "var(--small) / 1.45 var(--sans)", padding: "6px 24px 6px 8px" },
	".cm-panel.cm-search br": { display: "none" },
	".cm-panel.cm-search :is(input, button, label)": { font: "inherit" },
	".cm-textfield": {
		border: "1px solid var(--edge)",
		borderRadius: "4px",
		backgroundColor: "var(--card)",
		color: "inherit",
	},
	".cm-button": { border: "1px solid var(--edge)", borderRadius: "4px", background: "var(--card)", color: "inherit" },
	".cm-searchMatch": { backgroundColor: "color-mix(in srgb, var(--error) 30%, transparent)" },
	".cm-searchMatch-selected": { backgroundColor: "color-mix(in srgb, var(--error) 60%, transparent)" },
	".cm-lint-marker-error": { backgroundColor: "var(--failed)", content: "none" },
	".cm-lint-marker-warning": { backgroundColor: "var(--error)", content: "none" },
});

/** The editor in the colours of the page. */
export const theme = [look, syntaxHighlighting(colours)];
