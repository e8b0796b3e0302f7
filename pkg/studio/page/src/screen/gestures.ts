// What a person does on the picture with the pointer and the keyboard, as acts.
import type { Signal } from "@preact/signals";
import { perform, report, request } from "../connection";
import type { Act, Location } from "../protocol";
import { actAgain, failure, located, mode, pointer, ready, state } from "../store";
import { mac } from "../ui/button";

/** How far the pointer moves in a drag, in pixels of the page. */
const dragDistance = 5;
/** How long a press is that is long, on phones, in milliseconds. */
const longPressTime = 500;
/** How long turns of the wheel are added up at least, in milliseconds. */
const wheelInterval = 60;
/** The pixels of a line and a page of a wheel. */
const wheelUnits = [1, 16, 400];

interface Options {
	/** Whether Escape has left the picture: then keys do not go to the device. */
	left: Signal<boolean>;
	/** Is called with the point of each act of the pointer. */
	onTouch: (x: number, y: number) => void;
}

interface Press {
	x: number;
	y: number;
	button: number;
	clientX: number;
	clientY: number;
	/** When it began, and whether it lasted before it moved, by the times of its events: this page may be late. */
	time: number;
	held: boolean | undefined;
}

/** Listens to a picture until it is stopped. */
export class Gestures {
	private press: Press | null = null;
	private wheel: { x: number; y: number; dx: number; dy: number } | null = null;
	/** Whether an act of the wheel is to be answered, or to be sent. */
	private turning = false;
	private frame = 0;
	private readonly listening = new AbortController();

	constructor(
		private readonly picture: HTMLCanvasElement,
		private readonly options: Options,
	) {
		this.on("pointerdown", (event) => this.down(event));
		this.on("pointermove", (event) => this.move(event));
		this.on("pointerup", (event) => this.up(event));
		this.on("pointercancel", () => this.endPress());
		this.on("pointerleave", () => {
			cancelAnimationFrame(this.frame);
			pointer.value = null;
		});
		this.on("contextmenu", (event) => event.preventDefault());
		this.on("auxclick", (event) => event.preventDefault()); // It pastes on Linux.
		this.on("wheel", (event) => this.turn(event));
		this.on("keydown", (event) => this.key(event));
		this.on("paste", (event) => {
			event.preventDefault();
			this.type(event.clipboardData?.getData("text/plain") ?? "");
		});
		this.compose();
	}

	stop(): void {
		this.listening.abort();
		this.endPress();
		cancelAnimationFrame(this.frame);
	}

	private on<Name extends keyof HTMLElementEventMap>(
		name: Name,
		listener: (event: HTMLElementEventMap[Name]) => void,
	): void {
		this.picture.addEventListener(name, listener, { signal: this.listening.signal, passive: false });
	}

	/** Where the pointer is on the screen of the device. */
	private point(event: MouseEvent): { x: number; y: number } {
		const { left, top, width, height } = this.picture.getBoundingClientRect();
		const screen = state.value?.screen ?? { width: 0, height: 0 };
		const clamp = (value: number, size: number) => Math.floor(Math.min(Math.max(value, 0), size - 1));
		return {
			x: clamp(((event.clientX - left) / width) * screen.width, screen.width),
			y: clamp(((event.clientY - top) / height) * screen.height, screen.height),
		};
	}

	private down(event: PointerEvent): void {
		if (event.button > 2) return;
		this.picture.focus();
		this.options.left.value = false;
		this.picture.setPointerCapture(event.pointerId);
		const { button, clientX, clientY, timeStamp: time } = event;
		this.press = { ...this.point(event), button, clientX, clientY, time, held: undefined };
	}

	private move(event: PointerEvent): void {
		if (this.press) {
			if (this.moved(event)) this.press.held ??= this.isLong(event);
			return;
		}
		const at = this.point(event);
		cancelAnimationFrame(this.frame);
		this.frame = requestAnimationFrame(() => {
			pointer.value = at;
		});
	}

	private moved(event: PointerEvent): boolean {
		const { clientX = 0, clientY = 0 } = this.press ?? {};
		return Math.hypot(event.clientX - clientX, event.clientY - clientY) > dragDistance;
	}

	/** Whether a finger has been down for so long that it holds something. Web pages have no long press. */
	private isLong(event: PointerEvent): boolean {
		const { time = event.timeStamp, button } = this.press ?? {};
		return state.value?.platform !== "web" && button === 0 && event.timeStamp - time >= longPressTime;
	}

	private up(event: PointerEvent): void {
		const { press } = this;
		if (!press || event.button !== press.button) return;
		const dragged = this.moved(event);
		const long = this.isLong(event);
		this.endPress();
		const { x, y } = press;
		const to = this.point(event);
		const modifiers = withShift(event);
		if (mode.value !== "act") void locate({ x, y });
		else if (press.button === 1) this.touch({ kind: "middleClick", x, y, modifiers });
		else if (press.button === 2) this.touch({ kind: "rightClick", x, y, modifiers });
		else if (dragged) this.touch({ kind: "drag", x, y, toX: to.x, toY: to.y, hold: press.held ?? long });
		else if (long) this.touch({ kind: "longPress", x, y, modifiers });
		else this.click(x, y, modifiers);
	}

	private lastClick = { x: 0, y: 0, time: Number.NEGATIVE_INFINITY };

	/** A click is sent at once. The second one of a double click is sent as doubleClick, which stands for both. */
	private click(x: number, y: number, modifiers: string[]): void {
		const { lastClick } = this;
		const time = performance.now();
		const twice = time - lastClick.time < 400 && Math.hypot(x - lastClick.x, y - lastClick.y) < 2 * dragDistance;
		this.lastClick = { x, y, time: twice ? Number.NEGATIVE_INFINITY : time };
		this.touch({ kind: twice ? "doubleClick" : "click", x, y, modifiers });
	}

	private endPress(): void {
		this.press = null;
	}

	private touch(act: Act & { x: number; y: number }): void {
		if (send(act)) this.options.onTouch(act.x, act.y);
	}

	private turn(event: WheelEvent): void {
		if (event.ctrlKey) return; // It zooms this page.
		event.preventDefault();
		const unit = wheelUnits[event.deltaMode] ?? 1;
		const scale = ((state.value?.screen.width ?? 0) / this.picture.clientWidth) * unit;
		const { dx, dy } = this.wheel ?? { dx: 0, dy: 0 };
		this.wheel = { ...this.point(event), dx: dx + event.deltaX * scale, dy: dy + event.deltaY * scale };
		if (!this.turning) void this.sendTurns();
	}

	/** Sends how far the wheel is turned, one act at a time: what is turned until it was answered goes with the next one. */
	private async sendTurns(): Promise<void> {
		this.turning = true;
		while (this.wheel) {
			await new Promise((done) => setTimeout(done, wheelInterval));
			const { x, y, dx, dy } = this.wheel;
			this.wheel = null;
			await send({ kind: "wheel", x, y, dx: Math.round(dx), dy: Math.round(dy) });
		}
		this.turning = false;
	}

	private key(event: KeyboardEvent): void {
		if (event.isComposing || ["Process", "Dead", "Unidentified"].includes(event.key)) return;
		if (this.options.left.value) {
			if (event.key !== "Enter") return;
			event.preventDefault();
			this.options.left.value = false;
			return;
		}
		if (event.key === "Escape" && !event.shiftKey) {
			event.preventDefault();
			this.options.left.value = true;
			actAgain();
			return;
		}
		const modifiers = modifiersOf(event);
		const pastes = event.key.toLowerCase() === "v" && (event.ctrlKey || event.metaKey);
		if (modifierKeys.includes(event.key) || pastes) return;
		event.preventDefault();
		const types = modifiers.length === 0 || event.getModifierState("AltGraph") || (mac && modifiers.join() === "Alt");
		const printable = [...event.key].length === 1 && types;
		if (printable || event.key === "Escape") send({ kind: "key", key: event.key, modifiers: [] });
		else send({ kind: "key", key: event.key, modifiers: withShift(event) });
	}

	private type(text: string): void {
		if (text) send({ kind: "text", text });
	}

	/** Takes the text of input methods, in browsers that let an element have them that is not editable. */
	private compose(): void {
		if (!("EditContext" in window)) return;
		const context = new (window.EditContext as EditContextClass)();
		context.addEventListener(
			"compositionend",
			() => {
				this.type(context.text);
				context.updateText(0, context.text.length, "");
			},
			{ signal: this.listening.signal },
		);
		Object.assign(this.picture, { editContext: context });
	}
}

/** What TypeScript does not know yet of https://www.w3.org/TR/edit-context/. */
type EditContextClass = new () => EventTarget & {
	text: string;
	updateText: (start: number, end: number, text: string) => void;
};

const modifierKeys = ["Control", "Shift", "Alt", "AltGraph", "Meta", "CapsLock", "NumLock", "Fn"];

/** The modifiers that make a key more than its character. */
function modifiersOf(event: KeyboardEvent | PointerEvent): string[] {
	return [event.ctrlKey && "Control", event.altKey && "Alt", event.metaKey && "Meta"].filter((name) => name !== false);
}

function withShift(event: KeyboardEvent | PointerEvent): string[] {
	return event.shiftKey ? [...modifiersOf(event), "Shift"] : modifiersOf(event);
}

/** Sends an act. Returns when it was answered; null if it could not be sent. */
function send(act: Act): Promise<void> | null {
	if (!ready.value) {
		failure.value = { message: "the screen cannot be acted on now", hint: whatToDo() };
		return null;
	}
	return perform({ do: "act", act });
}

function whatToDo(): string {
	if (!state.value?.controls) return "take over to act on it";
	return state.value.activity === "lost" ? "open the device again" : "wait until what runs has ended, or choose Stop";
}

/** Asks which element a person means, by a point or a reference. */
export async function locate(what: { x: number; y: number } | { ref: string }): Promise<void> {
	try {
		located.value = await request<Location>({ do: "locate", ...what });
	} catch (error) {
		located.value = null;
		report(error);
	}
}
