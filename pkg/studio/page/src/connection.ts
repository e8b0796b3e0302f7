// The socket to the server: requests with their replies, and what it pushes.
import { batch, effect } from "@preact/signals";
import type { Do, Failure, Made, Picture, Push, Reply, Request } from "./protocol";
import { controls, doc, failure, link, log, lookIsOld, selected, shown, state } from "./store";

/** What the server refused, or could not answer. */
class Refused extends Error {
	constructor(readonly failure: Failure) {
		super(failure.message);
	}
}

const maxLogLines = 5000;
const firstRetry = 250;
const maxRetry = 5000;

interface Pending {
	resolve: (result: unknown) => void;
	reject: (why: Refused) => void;
}

let socket: WebSocket | null = null;
let lastId = 0;
let retryAfter = firstRetry;
const pending = new Map<number, Pending>();
/** The picture whose bytes are the next binary message. */
let announced: Picture | null = null;

/** Sends a request. The promise has its result, and rejects with Refused. */
export function request<T = void>(what: Do): Promise<T> {
	return new Promise<T>((resolve, reject) => {
		if (socket?.readyState !== WebSocket.OPEN) {
			reject(new Refused({ message: "not connected to trailblaze", hint: "wait until the page has reconnected" }));
			return;
		}
		const id = ++lastId;
		pending.set(id, { resolve: resolve as (result: unknown) => void, reject });
		const message: Request = { id, ...what };
		socket.send(JSON.stringify(message));
	});
}

/** Sends a request whose failure is shown to the person. The promise is undefined after a failure. */
export async function ask<T = void>(what: Do): Promise<T | undefined> {
	try {
		const result = await request<T>(what);
		failure.value = null;
		return result;
	} catch (error) {
		report(error);
		return undefined;
	}
}

/** Sends a request that makes calls on the device. If it is refused, or a call fails, the person sees why. */
export async function perform(what: Do): Promise<void> {
	const made = await ask<Made | null>(what);
	if (made && !made.ok) failure.value = { message: made.text, hint: made.hint };
}

/** Shows the person why something did not happen. */
export function report(error: unknown): void {
	failure.value = failureOf(error);
}

/** Why a request has no result. */
export function failureOf(error: unknown): Failure {
	return error instanceof Refused ? error.failure : { message: String(error) };
}

/** Selects a step or call. Pages that do not control select for themselves only. */
export function select(number: string): void {
	if (selected.value === number) return;
	selected.value = number;
	if (controls.value) void ask({ do: "select", number });
}

/** Connects, and connects again whenever the connection is lost, until the server says bye. */
export function connect(): void {
	// The server has the page in a folder of its own.
	const opened = new WebSocket(new URL("socket", window.location.href.replace(/^http/, "ws")));
	opened.binaryType = "arraybuffer";
	opened.onopen = () => {
		retryAfter = firstRetry;
		link.value = { status: "open" };
		log.value = []; // The server sends all lines again.
		sendVisible();
	};
	opened.onmessage = ({ data }) => {
		if (typeof data === "string") receive(JSON.parse(data) as Push | Reply);
		else void draw(data as ArrayBuffer);
	};
	opened.onclose = () => {
		socket = null;
		announced = null;
		for (const { reject } of pending.values())
			reject(new Refused({ message: "the connection to trailblaze was lost" }));
		pending.clear();
		if (link.value.status === "ended") return;
		link.value = { status: "lost" };
		setTimeout(connect, retryAfter);
		retryAfter = Math.min(retryAfter * 2, maxRetry);
	};
	socket = opened;
}

document.addEventListener("visibilitychange", sendVisible);

function sendVisible(): void {
	send({ do: "visible", visible: document.visibilityState === "visible" });
}

/** Sends a request that nobody waits for. */
function send(what: Do): void {
	request(what).catch(() => undefined);
}

function receive(message: Push | Reply): void {
	if ("re" in message) {
		const waiting = pending.get(message.re);
		pending.delete(message.re);
		if (message.ok) waiting?.resolve(message.result);
		else waiting?.reject(new Refused(message.error));
		return;
	}
	switch (message.on) {
		case "state":
			state.value = message;
			break;
		case "document":
			doc.value = message;
			break;
		case "log":
			log.value = [...log.value, ...message.lines].slice(-maxLogLines);
			break;
		case "picture":
			announced = message.withheld ? null : message;
			if (message.withheld) show(message, null);
			break;
		case "bye":
			link.value = { status: "ended", why: message.why };
	}
}

/** Shows the bytes of the announced picture, and says so to the server, which then sends the next one. */
async function draw(bytes: ArrayBuffer): Promise<void> {
	const picture = announced;
	announced = null;
	if (!picture) return;
	const image = await createImageBitmap(new Blob([bytes])).catch(() => null);
	if (picture.seq < (shown.value?.seq ?? 0))
		image?.close(); // a newer one was faster
	else show(picture, image);
}

function show(picture: Picture, image: ImageBitmap | null): void {
	batch(() => {
		shown.value = { ...picture, image };
		lookIsOld.value = true;
	});
	send({ do: "seen", seq: picture.seq });
}

// A picture that is not shown any more gives its memory back at once, not when the browser collects it.
let held: ImageBitmap | null = null;
effect(() => {
	const image = shown.value?.image ?? null;
	if (held && held !== image) held.close();
	held = image;
});
