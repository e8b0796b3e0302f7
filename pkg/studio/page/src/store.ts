// What all parts of the page know. The server pushes state, doc, picture and log whole; the rest is what this person is
// looking at.
import { batch, computed, effect, signal } from "@preact/signals";
import type { Call, Document, Element, Failure, Location, LogLine, Look, State, Step } from "./protocol";
import { elementAt } from "./screen/point";

/** null until the server has said it. */
export const state = signal<State | null>(null);
export const doc = signal<Document | null>(null);
export const log = signal<LogLine[]>([]);

type Link = { status: "connecting" | "open" | "lost" } | { status: "ended"; why: string };
export const link = signal<Link>({ status: "connecting" });

/** The newest picture; image is null while it is withheld. */
interface Shown {
	seq: number;
	width: number;
	height: number;
	withheld: string;
	image: ImageBitmap | null;
}
export const shown = signal<Shown | null>(null);

/** What Look said last, and whether the screen has changed since. */
export const look = signal<Look | null>(null);
export const lookIsOld = signal(true);

/** The selected element of the screen, and what Locate says about it. */
export const located = signal<Location | null>(null);
/** Where the pointer is on the picture; null while it is elsewhere. */
export const pointer = signal<{ x: number; y: number } | null>(null);
/** The element that the pointer is on in the tree; null while it is elsewhere. */
export const pointed = signal<Element | null>(null);
/** The element that is outlined; null while the look may be of another page. */
export const hovered = computed(() => {
	const { activity = "", url = "" } = state.value ?? {};
	if (!["idle", "acting"].includes(activity) || (look.value?.url ?? "") !== url) return null;
	const at = pointer.value;
	return at && look.value ? elementAt(look.value, at.x, at.y) : pointed.value;
});

/** What a click on the picture means: an act, a check, or the element of the selected call. */
type Mode = "act" | "assert" | "pick";
export const mode = signal<Mode>("act");

/** Ends the picking of an element. */
export function actAgain(): void {
	batch(() => {
		mode.value = "act";
		located.value = null;
	});
}

/** The number of the step ("2") or call ("2.1") that is selected; "" for none. */
export const selected = signal("");

export interface Found {
	step: Step;
	/** null if a step is selected. */
	call: Call | null;
}

/** The selected step or call. */
export const selection = computed<Found | null>(() => find(doc.value, selected.value));

export function find(of: Document | null, number: string): Found | null {
	for (const step of of?.steps ?? []) {
		if (step.number === number) return { step, call: null };
		const call = step.calls.find((c) => c.number === number);
		if (call) return { step, call };
	}
	return null;
}

/** Whether requests that need control may be sent. */
export const controls = computed(() => link.value.status === "open" && state.value?.controls === true);
/** Whether the device can be acted on now. */
export const ready = computed(() => controls.value && ["idle", "acting"].includes(state.value?.activity ?? ""));
/** Whether the document can be changed now. */
export const editable = computed(
	() => controls.value && !["replaying", "saving"].includes(state.value?.activity ?? ""),
);

/** Why something that the person asked for did not happen; null after it was dismissed. */
export const failure = signal<Failure | null>(null);

/** The tab of the right side. */
export const panel = signal<"Trail" | "Elements" | "Tools" | "Variables">("Trail");
/** Looking back at a finished session, by the name of its folder; "" for the list of sessions, null for neither. */
export const past = signal<string | null>(null);

// The session that the command line named is shown once; then the person chooses.
let named = "";
effect(() => {
	const now = state.value?.past ?? "";
	if (now !== named) past.value = named = now;
});

// The server's selection is that of all pages: this page follows it when it moves.
let followed = "";
effect(() => {
	const now = doc.value?.selected ?? "";
	if (now !== followed) batch(() => (selected.value = followed = now));
});

/** What the trail is called. */
export function titleOf(of: Document | null, where: State | null): string {
	return of?.title || where?.file.replace(/^.*\/|\.trail\.yaml$/g, "") || "New recording";
}
