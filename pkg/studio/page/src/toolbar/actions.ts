// What the buttons of the toolbar do, and when they can.
import { computed, type ReadonlySignal } from "@preact/signals";
import { ask } from "../connection";
import { controls, doc, editable, link, mode, past, ready, selected, state } from "../store";
import { mac } from "../ui/button";
import type { IconName } from "../ui/icon";
import { save } from "./saving";

interface Action {
	name: string;
	icon: IconName;
	/** As in aria-keyshortcuts. */
	shortcut: string;
	title: string;
	enabled: ReadonlySignal<boolean>;
	/** Of what is on or off. */
	pressed?: ReadonlySignal<boolean>;
	run: () => void;
}

const hasSteps = computed(() => (doc.value?.steps.length ?? 0) > 0);
const runs = computed(() => ["opening", "acting", "replaying", "saving"].includes(state.value?.activity ?? ""));

/** In groups, as the toolbar shows them. */
export const actions: Action[][] = [
	[
		{
			name: "Record",
			icon: "record",
			shortcut: "Alt+R",
			title: "Record what you do on the screen",
			enabled: controls,
			pressed: computed(() => state.value?.recording ?? false),
			run: () => void ask({ do: "record", on: !state.value?.recording }),
		},
		{
			name: "Assert",
			icon: "assert",
			shortcut: "Alt+A",
			title: "Pick an element to check",
			enabled: ready,
			pressed: computed(() => mode.value === "assert"),
			run: () => {
				mode.value = mode.value === "assert" ? "act" : "assert";
			},
		},
	],
	[
		{
			name: "Undo",
			icon: "undo",
			shortcut: "Control+Z",
			title: "Undo the last change of the trail",
			enabled: computed(() => editable.value && (doc.value?.canUndo ?? false)),
			run: () => void ask({ do: "undo" }),
		},
		{
			name: "Redo",
			icon: "redo",
			shortcut: "Control+Shift+Z",
			title: "Redo the change that was undone",
			enabled: computed(() => editable.value && (doc.value?.canRedo ?? false)),
			run: () => void ask({ do: "redo" }),
		},
	],
	[
		{
			name: "Replay",
			icon: "replay",
			shortcut: "Alt+P",
			title: "Replay the trail in a fresh session",
			enabled: computed(() => ready.value && hasSteps.value),
			run: () => void ask({ do: "replay", mode: "all" }),
		},
		{
			name: "Replay to here",
			icon: "to",
			shortcut: "Alt+H",
			title: "Replay up to the selected step or call, and including it",
			enabled: computed(() => ready.value && selected.value !== ""),
			run: () => void ask({ do: "replay", mode: "to", to: selected.value }),
		},
		{
			name: "Next call",
			icon: "next",
			shortcut: "Alt+N",
			title: "Make the next call",
			enabled: computed(() => ready.value && (doc.value?.next ?? "") !== ""),
			run: () => void ask({ do: "replay", mode: "next" }),
		},
		{
			name: "Stop",
			icon: "stop",
			shortcut: "Alt+X",
			title: "Stop what runs",
			enabled: computed(() => link.value.status === "open" && runs.value),
			run: () => void ask({ do: "stop" }),
		},
	],
	[
		{
			name: "Save",
			icon: "save",
			shortcut: "Control+S",
			title: "Replay the trail in a fresh session, then write its file",
			enabled: computed(() => ready.value && hasSteps.value),
			run: save,
		},
	],
];

/** Whether an action can be run now. In a look back only Stop can: the others are about the recording, which is not seen. */
export function canRun({ name, enabled }: Action): boolean {
	return enabled.value && (past.value === null || name === "Stop");
}

/** Runs the action of a shortcut, unless the key belongs to the picture, or to the text that is edited. */
export function onShortcut(event: KeyboardEvent): void {
	const target = event.composedPath()[0];
	if (event.defaultPrevented || !(target instanceof HTMLElement) || document.querySelector("dialog:modal")) return;
	const pressed = pressedKeys(event);
	const action = actions.flat().find(({ shortcut }) => shortcut === pressed);
	const edits = target.isContentEditable || target.matches("input:not([type=checkbox]), textarea");
	const types = ["Undo", "Redo"].includes(action?.name ?? "") || (mac && event.altKey);
	if (!action || (edits && types)) return;
	event.preventDefault();
	if (canRun(action)) action.run();
}

/**
 * A key with its modifiers, written as in aria-keyshortcuts. The command key of a Mac counts as Control. A letter is the one
 * that the layout has there, or that of the place where the layout types something else.
 */
function pressedKeys(event: KeyboardEvent): string {
	const modifiers = [
		(event.ctrlKey || event.metaKey) && "Control",
		event.altKey && "Alt",
		event.shiftKey && "Shift",
		/^[a-z]$/i.test(event.key) ? event.key.toUpperCase() : event.code.replace(/^Key/, ""),
	];
	return modifiers.filter(Boolean).join("+");
}
