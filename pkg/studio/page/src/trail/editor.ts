// The editor of the trail's text. It shows what the server has, and sends what is typed.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, indentWithTab, redo, redoDepth, undo, undoDepth } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { indentOnInput, indentUnit } from "@codemirror/language";
import { type Diagnostic, lintGutter, nextDiagnostic, previousDiagnostic, setDiagnostics } from "@codemirror/lint";
import { search, searchKeymap } from "@codemirror/search";
import { Annotation, type ChangeSet, Compartment, EditorState, Transaction } from "@codemirror/state";
import {
	drawSelection,
	EditorView,
	highlightActiveLine,
	highlightSpecialChars,
	keymap,
	lineNumbers,
	tooltips,
	type ViewUpdate,
} from "@codemirror/view";
import { effect, signal } from "@preact/signals";
import { ask, failureOf, request, select } from "../connection";
import type { Document, Failure, Problem } from "../protocol";
import { doc, editable, link, selected, state } from "../store";
import { tools } from "../tools/list";
import { completions, descriptions } from "./completion";
import { Draft } from "./draft";
import { entryAt, outline, selectedPosition, setEntries, setSelected } from "./outline";
import { theme } from "./theme";
import { wrapping } from "./wrapping";

/** How long after the last key the text is sent, in milliseconds. */
const pause = 300;
/** How long the cursor stays in a step before it is selected: arrow keys pass many. */
const selectPause = 150;

const fromServer = Annotation.define<true>();

/** Why the server did not take what was typed; null if it did, or has not been asked yet. */
export const refused = signal<Failure | null>(null);

const draft = new Draft();
const readOnly = new Compartment();
const undoing = new Compartment();
let sending: ReturnType<typeof setTimeout> | undefined;
let selecting: ReturnType<typeof setTimeout> | undefined;
let lastVersion = -1;
/** Whether the editor shows something that the server has not been asked about. */
let unsent = false;

/** Contains the editor. The styles of the editor are made at run time: in a shadow tree no policy has to allow them. */
export const host = document.createElement("div");
host.className = "trail-editor";
const root = host.attachShadow({ mode: "open" });

const known = () => ({
	tools: new Map(tools.value.map((tool) => [tool.name, tool])),
	variables: (state.value?.variables ?? []).map(({ name }) => name),
});

export const view = new EditorView({
	root,
	parent: root,
	state: EditorState.create({
		extensions: [
			theme,
			readOnly.of(EditorState.readOnly.of(true)),
			undoing.of(history()),
			EditorView.contentAttributes.of({ "aria-label": "Trail text", spellcheck: "false" }),
			wrapping,
			indentUnit.of("  "),
			lineNumbers(),
			lintGutter(),
			highlightSpecialChars(),
			drawSelection(),
			highlightActiveLine(),
			indentOnInput(),
			closeBrackets(),
			yaml(),
			search({ top: true }),
			outline,
			autocompletion({ override: [completions(known)], icons: false }),
			descriptions(known),
			tooltips({ position: "fixed" }),
			keymap.of([
				{ key: "Mod-z", run: (view) => step("undo", view), preventDefault: true, stopPropagation: true },
				{
					key: "Mod-y",
					mac: "Mod-Shift-z",
					run: (view) => step("redo", view),
					preventDefault: true,
					stopPropagation: true,
				},
				{ key: "Ctrl-Shift-z", run: (view) => step("redo", view), preventDefault: true, stopPropagation: true },
				...["Mod-s", "Alt-p", "Alt-h", "Alt-n"].map((key) => ({ key, run: sendNow })),
				{ key: "F8", run: nextDiagnostic, shift: previousDiagnostic },
				...closeBracketsKeymap,
				...completionKeymap,
				...searchKeymap,
				...defaultKeymap,
				indentWithTab,
			]),
			EditorView.domEventHandlers({ blur: sendNow }),
			EditorView.updateListener.of(updated),
		],
	}),
});

/** What is typed and not sent, or not taken, is undone in the editor; everything else by the studio, which has one
 * history for all edits. */
function step(what: "undo" | "redo", view: EditorView): boolean {
	const depth = what === "undo" ? undoDepth : redoDepth;
	if (depth(view.state) > 0) return (what === "undo" ? undo : redo)(view);
	void ask({ do: what });
	return true;
}

function updated(update: ViewUpdate): void {
	const typed = update.transactions.filter((t) => t.docChanged && !t.annotation(fromServer));
	for (const { changes } of typed) draft.type(changes);
	if (typed.length) {
		schedule();
	} else if (update.selectionSet && update.transactions.some((t) => t.isUserEvent("select"))) {
		clearTimeout(selecting);
		selecting = setTimeout(selectHere, selectPause);
	}
}

function selectHere(): void {
	const number = entryAt(view.state, view.state.selection.main.head);
	if (number) select(number);
}

function schedule(): void {
	unsent = true;
	clearTimeout(sending);
	sending = setTimeout(send, pause);
}

/** Sends before something else is asked for that should know what was typed, such as Save. */
function sendNow(): false {
	clearTimeout(sending);
	void send();
	return false;
}

async function send(): Promise<void> {
	if (!unsent || draft.sending || link.value.status !== "open") return;
	unsent = false;
	if (!draft.changed) {
		refused.value = null;
		return;
	}
	let failure: Failure | null = null;
	try {
		const problems = await request<Problem[]>({ do: "yaml", ...draft.send() });
		if (problems.length) failure = { message: "the text has problems", problems };
	} catch (error) {
		failure = failureOf(error);
	}
	show(draft.answered(!failure));
	if (unsent) schedule();
	else refused.value = draft.changed ? failure : null;
	if (doc.value) showOutline(doc.value);
	forgetHistory();
}

/** Begins the history of the editor anew once the server has everything: its own history goes on from there. */
function forgetHistory(): void {
	if (draft.changed || undoDepth(view.state) + redoDepth(view.state) === 0) return;
	view.dispatch({ effects: undoing.reconfigure([]) });
	view.dispatch({ effects: undoing.reconfigure(history()) });
}

/** Forgets what was typed and not taken. */
export function revert(): void {
	clearTimeout(sending);
	show(draft.revert());
	refused.value = null;
	forgetHistory();
	view.focus();
}

/** Moves the cursor to where a problem is. */
export function goTo({ line, column }: Problem): void {
	const anchor = positionOf(line, column);
	view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
	view.focus();
}

function show(changes: ChangeSet | null): void {
	if (!changes || changes.empty) return;
	const { scrollTop, scrollHeight, clientHeight } = view.scrollDOM;
	const atEnd = scrollTop > 0 && scrollTop + clientHeight >= scrollHeight - view.defaultLineHeight;
	const annotations = [fromServer.of(true), Transaction.addToHistory.of(false)];
	const effects = atEnd && !view.hasFocus ? EditorView.scrollIntoView(changes.newLength) : [];
	view.dispatch({ changes, annotations, effects });
}

function receive(document: Document): void {
	show(draft.receive(document));
	if (unsent || (document.version !== lastVersion && draft.changed)) schedule();
	lastVersion = document.version;
	if (!draft.sending) showOutline(document);
}

function showOutline({ steps }: Document): void {
	const entries = steps.flatMap(({ number, line, calls }) => [{ number, line }, ...calls]);
	const effects = setEntries.of(entries.map(({ number, line }) => ({ number, position: draft.lineStart(line) })));
	view.dispatch({ effects });
}

function positionOf(line: number, column: number): number {
	// What the server refused is about the text that was sent, everything else about the document.
	const { lines } = view.state.doc;
	const start = refused.value ? view.state.doc.line(Math.min(Math.max(line, 1), lines)).from : draft.lineStart(line);
	const { from, to, text } = view.state.doc.lineAt(start);
	const indentation = text.length - text.trimStart().length;
	return Math.min(from + (column > 0 ? column - 1 : indentation), to);
}

function diagnostic({ line, column, message, hint, severity }: Problem): Diagnostic {
	const from = positionOf(line, column);
	const { to } = view.state.doc.lineAt(from);
	const rest = /^[\w.-]+/.exec(view.state.sliceDoc(from, to))?.[0].length;
	const renderMessage = () => {
		const dom = document.createElement("div");
		dom.append(message);
		if (!hint) return dom;
		const advice = document.createElement("div");
		advice.className = "cm-hint";
		advice.append(hint);
		dom.append(advice);
		return dom;
	};
	return { from, to: rest ? from + rest : to, severity, message, renderMessage };
}

effect(() => {
	if (doc.value) receive(doc.value);
});

effect(() => {
	const problems = refused.value?.problems ?? doc.value?.problems ?? [];
	view.dispatch(setDiagnostics(view.state, problems.filter(({ line }) => line > 0).map(diagnostic)));
});

effect(() => {
	view.dispatch({ effects: readOnly.reconfigure(EditorState.readOnly.of(!editable.value)) });
	// What was refused because the connection was lost, or a replay began, may be taken now.
	if (editable.value && draft.changed) schedule();
});

effect(() => {
	view.dispatch({ effects: setSelected.of(selected.value) });
	const position = selectedPosition(view.state);
	if (position !== null && !view.hasFocus) view.dispatch({ effects: EditorView.scrollIntoView(position) });
});
