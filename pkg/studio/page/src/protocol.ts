// What the page and the server say to each other (docs/decisions/0017-studio.md). pkg/studio/protocol.go has the same types.
// Addresses are relative to that of the page, so that the browser sends its cookie: the socket is at "socket", a picture of
// a finished session at "past/SESSION/FILE".

/** A request, answered by a Reply with the same id. */
export type Request = { id: number } & Do;

export type Do =
	/** Acts on the picture, in the unit of State.screen. Needs control, as all requests do that say so. */
	| { do: "act"; act: Act }
	/** Opens a URL on the web; control. */
	| { do: "navigate"; url: string }
	/** Returns Location. */
	| { do: "locate"; ref?: string; x?: number; y?: number }
	/** Returns Look. */
	| { do: "look" }
	/** Makes a check and records it; control. Returns Made. */
	| { do: "assert"; call: NewCall }
	/** Calls a tool of the project and records it; control. Returns Made. */
	| { do: "call"; call: NewCall }
	/** Returns Tool[]. */
	| { do: "tools" }
	/** Changes the document; control. */
	| { do: "edit"; edit: Edit }
	/** Replaces the text of the document, if it parses; control. Returns Problem[] (empty: it did). version is that of the
	 * document that was edited. */
	| { do: "yaml"; text: string; version: number }
	/** What a step is called, "" being the one that is not begun; with next, what is recorded from now on belongs to a new
	 * step; control. */
	| { do: "nameStep"; step: string; text: string; next: boolean }
	/** Undoes the last change of the document; control. */
	| { do: "undo" }
	/** Makes a change again that was undone; control. */
	| { do: "redo" }
	/** Says where the next recorded call goes: after a step ("2") or a call ("2.1"); control. */
	| { do: "select"; number: string }
	/** Replays: all of it in a fresh session, to a step or call (inclusive), or the next call; control. */
	| { do: "replay"; mode: "all" | "to" | "next"; to?: string }
	/** Stops what runs. Any page may. */
	| { do: "stop" }
	/** Whether calls are recorded from now on; control. */
	| { do: "record"; on: boolean }
	/** Opens a session on another device; control. */
	| { do: "device"; name: string }
	/** Answers State.ask; control. */
	| { do: "answer"; ask: number; ok: boolean; text?: string; values?: string[] }
	/** Switch makes a new tab the current one, keep a download a part of the trail, fresh starts the app without data; control. */
	| { do: "notice"; notice: number; action: "switch" | "keep" | "fresh" | "dismiss" }
	/** A value for this session; with secret it is never sent back. The session is opened again with it; control. */
	| { do: "variable"; name: string; value: string; secret: boolean }
	/** Removes a value that this studio was given. The session is opened again without it; control. */
	| { do: "removeVariable"; name: string }
	/** Replays in a fresh session and writes the file; control. Returns Saved. */
	| { do: "save"; file: string; title?: string; noReplay?: boolean; overwrite?: "" | "own" | "all" }
	/** Takes the recording that a killed session left; or forgets it; control. */
	| { do: "restore"; keep: boolean }
	/** Gives this page the control. */
	| { do: "takeOver" }
	/** Whether the page is visible, and has shown the picture with this number. */
	| { do: "visible"; visible: boolean }
	| { do: "seen"; seq: number }
	/** Returns PageLog: what the page of the device requested, or wrote to its console. */
	| { do: "pageLog"; show: "requests" | "console" }
	/** Returns SessionSummary[], the newest first. */
	| { do: "sessions" }
	/** Looks back at a finished session, by the name of its folder. Returns Past. */
	| { do: "past"; session: string }
	/** Opens the trail of a finished session, and selects a step or call of it ("2.1", "" for none); control. */
	| { do: "openPast"; session: string; number: string };

export type Reply = { re: number; ok: true; result?: unknown } | { re: number; ok: false; error: Failure };

export interface Failure {
	message: string;
	hint?: string;
	/** Such as misuse or device, as pkg/fault names it; none for what this page says by itself. */
	kind?: string;
	/** Of a save: whether it can be done with overwrite "all". */
	overwrite?: boolean;
	problems?: Problem[];
}

export type Push =
	| ({ on: "state" } & State)
	| ({ on: "document" } & Document)
	| ({ on: "picture" } & Picture)
	| { on: "log"; lines: LogLine[] }
	/** The server ends; the page says so and does not connect again. */
	| { on: "bye"; why: string };

export interface State {
	project: string;
	/** The chosen device, as an option of devices; "" while none is chosen. */
	device: string;
	devices: DeviceOption[];
	platform: "web" | "android" | "ios" | "";
	/** Of what the device shows, in the unit of all coordinates; 0 when it is not known yet. */
	screen: { width: number; height: number };
	url: string;
	title: string;
	activity: "opening" | "idle" | "acting" | "replaying" | "saving" | "lost";
	/** Says in words what runs, or why the session is lost. */
	doing: string;
	recording: boolean;
	/** Whether this page controls; another one does otherwise. */
	controls: boolean;
	pages: number;
	/** Document differs from the file. */
	unsaved: boolean;
	/** Relative to the project root; "" for a recording without a file. */
	file: string;
	/** Where new files go, with a slash at its end. */
	trailsDir: string;
	/** What is typed into a field and not yet in the document; null for nothing. */
	typing: { field: string; text: string } | null;
	ask: Ask | null;
	notices: Notice[];
	variables: Variable[];
	/** A recording that a killed session left. */
	kept: { file: string; steps: number; when: string } | null;
	/** The finished session to look back at, which the command line named; "" for none. */
	past: string;
}

export interface DeviceOption {
	/** What --device takes. */
	name: string;
	platform: string;
	/** Why it cannot be chosen; "" if it can. */
	why: string;
}

/** Something that the device asks and a picture does not show. */
export interface Ask {
	id: number;
	/** select is the popup of a list: its answer has values. files is a file chooser: its answer has values, paths relative
	 * to the trail. The others are dialogs of a page. */
	kind: "alert" | "confirm" | "prompt" | "beforeunload" | "select" | "files" | "date";
	text: string;
	value: string;
	/** The type of the HTML input of kind date: color, date, datetime-local, month, time or week. */
	input?: "color" | "date" | "datetime-local" | "month" | "time" | "week" | "";
	multiple: boolean;
	options: { value: string; label: string; selected: boolean; disabled: boolean }[];
	/** Where the element is, for kind select and date. */
	bounds?: Rect;
}

export interface Notice {
	id: number;
	kind: "tab" | "download" | "data" | "dialog" | "crash" | "anr" | "warning";
	text: string;
}

export interface Variable {
	name: string;
	/** "" for a secret. */
	value: string;
	secret: boolean;
	/** Whether this studio was given it, so that it can be removed. */
	given?: boolean;
}

export type Act =
	/** A double click is sent as click, at once, and as doubleClick, which stands for both: it replaces the call of the click. */
	| {
			kind: "click" | "doubleClick" | "middleClick" | "rightClick" | "longPress";
			x: number;
			y: number;
			modifiers: string[];
	  }
	/** hold: it began with a long press. */
	| { kind: "drag"; x: number; y: number; toX: number; toY: number; hold: boolean }
	| { kind: "wheel"; x: number; y: number; dx: number; dy: number }
	/** A key by its name of KeyboardEvent.key, with modifiers such as Control. */
	| { kind: "key"; key: string; modifiers: string[] }
	/** Text that was pasted, or composed of several keys. */
	| { kind: "text"; text: string };

export interface NewCall {
	tool: string;
	args: Record<string, unknown>;
	saveAs?: string;
}

export interface Made {
	ok: boolean;
	/** Of the result, or why it failed. */
	text: string;
	hint?: string;
	/** Such as that the check held before the last action, too. */
	warnings: string[];
	structured?: unknown;
}

export interface Document {
	version: number;
	text: string;
	title: string;
	problems: Problem[];
	steps: Step[];
	/** The step ("2") or call ("2.1") after which the next recorded call goes; "" for the end. */
	selected: string;
	/** The call that Next call makes; "" if there is none. */
	next: string;
	canUndo: boolean;
	canRedo: boolean;
	/** The classifiers that a step can be recorded for on this device, narrow first. */
	lineage: string[];
}

export interface Problem {
	/** From 1; 0 for the whole file. */
	line: number;
	column: number;
	message: string;
	hint: string;
	severity: "error" | "warning";
}

export type Outcome = "" | "running" | "passed" | "failed" | "skipped";

export interface Step {
	number: string;
	kind: "step" | "verify" | "trailhead" | "tools" | "use" | "teardown";
	text: string;
	/** The text was made from its calls. */
	provisional: boolean;
	/** The classifiers of its recordings, and the one whose calls these are; "" for none. */
	classifiers: string[];
	classifier: string;
	line: number;
	calls: Call[];
	outcome: Outcome;
}

export interface Call {
	number: string;
	tool: string;
	/** What it does, in a few words: click button "Save". */
	brief: string;
	args: Record<string, unknown>;
	optional: boolean;
	soft: boolean;
	/** Such as 5s; "" for none. */
	timeout: string;
	saveAs: string;
	line: number;
	outcome: Outcome;
	/** Why it failed, or a note. */
	message: string;
}

export type Edit =
	| { op: "reword"; step: string; text: string }
	| { op: "kind"; step: string; kind: "step" | "verify" }
	/** Moves a step or a call to the place of another one of its kind. */
	| { op: "move"; number: string; to: string }
	| { op: "delete"; number: string }
	/** Makes a step of a call and those after it. */
	| { op: "split"; call: string; text: string }
	/** Adds the calls of a step to the one before it. */
	| { op: "join"; step: string }
	| { op: "insertStep"; after: string; text: string; kind: "step" | "verify" }
	| { op: "args"; call: string; args: Record<string, unknown> }
	| { op: "call"; call: string; optional: boolean; timeout: string; saveAs: string }
	/** Puts a selector into a call, in place of what names its element. */
	| { op: "pick"; call: string; selector: Record<string, unknown> }
	/** Moves the calls of a step to another classifier. */
	| { op: "classifier"; step: string; classifier: string };

export interface Rect {
	left: number;
	top: number;
	right: number;
	bottom: number;
}

export interface Element {
	ref?: string;
	role: string;
	name?: string;
	content?: string;
	states?: string[];
	bounds?: Rect;
	children?: Element[];
}

export interface Look {
	url?: string;
	title?: string;
	width: number;
	height: number;
	root: Element | null;
}

export interface Candidate {
	by: string;
	selector: Record<string, unknown>;
	matches: number;
	notes?: string[];
}

export interface Location {
	element: Element;
	candidates: Candidate[];
	checks: Check[];
}

/** A check that fits an element, or the screen. */
export interface Check {
	/** Such as Visible, or Text is "Total 30 €". */
	label: string;
	call: NewCall;
}

export interface Tool {
	name: string;
	description: string;
	/** A JSON Schema of its arguments. */
	schema: Record<string, unknown>;
	/** Where it comes from, such as the name of a server. */
	source: string;
}

export interface Picture {
	seq: number;
	width: number;
	height: number;
	/** Why there is none; then no binary message follows. */
	withheld: string;
}

export interface LogLine {
	time: string;
	level: "info" | "warn" | "error";
	text: string;
}

export interface PageLog {
	earlier: string[];
	sinceLastAction: string[];
	more: number;
}

export interface Saved {
	file: string;
	written: boolean;
	diff: string;
	warnings: string[];
	/** How the replay before it ended; null without one. */
	replayed: { outcome: string; reason: string; hint: string; step: number; tool: string; line: number } | null;
}

export interface SessionSummary {
	/** Its folder, relative to the folder of logs. */
	session: string;
	/** Of the trail, else the name of the folder. */
	title: string;
	/** "" for a session without a trail. */
	outcome: PastOutcome;
	/** When it began, in ISO 8601. */
	when: string;
	device: string;
}

export type PastOutcome = "" | "passed" | "failed" | "error" | "skipped" | "unfinished";

/** A finished session. Its files are below past/SESSION/, SESSION being encoded as one part of the path. */
export interface Past {
	session: string;
	title: string;
	outcome: PastOutcome;
	/** Why it did not pass, and what to do. */
	reason: string;
	hint: string;
	device: string;
	/** The trail; "" for a session without one. */
	file: string;
	/** The first call that failed, as an index of moments; -1 for none. */
	failed: number;
	moments: Moment[];
	log: LogLine[];
	/** What is missing. */
	notes: string[];
}

/** A call of a finished session, with the screen before and after it. */
export interface Moment {
	/** When it began, in ISO 8601. */
	time: string;
	/** The number of the step; "" outside of steps. */
	step: string;
	stepText: string;
	/** Its number: 2.1, or 2.1.3 for the third call that 2.1 made. */
	call: string;
	tool: string;
	/** What it does, in a few words: click button "Save". */
	brief: string;
	args: string;
	outcome: Outcome;
	optional: boolean;
	/** The result, or why it failed. */
	message: string;
	durationMs: number;
	/** Files; "" for none, then noPicture says why. They are the same if nothing changed. */
	before: string;
	after: string;
	noPicture: string;
	/** The size of the screen in the unit of touched; 0 if it is not known. */
	width: number;
	height: number;
	/** Where the call pressed the screen first. */
	touched: { x: number; y: number } | null;
	url: string;
	/** A text file with the elements of that moment; "" for none. */
	tree: string;
	requests: string[];
	console: string[];
}
