import { computed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { perform } from "../connection";
import { actAgain, doc, hovered, link, located, mode, ready, shown, state } from "../store";
import { Button } from "../ui/button";
import { Candidates } from "./candidates";
import { Gestures } from "./gestures";
import { Notices } from "./notices";
import { Box, ElementBox } from "./overlay";
import { Popup } from "./popup";
import "./screen.css";

/** What the device shows. What a person does on the picture is done on the device. */
export function Screen() {
	return (
		<section aria-label="Screen" class="screen">
			{state.value?.platform === "web" && <Address />}
			<ModeHint />
			<Viewport />
			<Notices />
			<Candidates />
		</section>
	);
}

function Address() {
	const element = useRef<HTMLInputElement>(null);
	const url = state.value?.url ?? "";
	useEffect(() => {
		// An empty recording begins with a URL.
		if (!url && ready.value && document.activeElement === document.body) element.current?.focus();
	}, []);
	useEffect(() => {
		if (element.current && document.activeElement !== element.current) element.current.value = url;
	}, [url]);
	return (
		<div class="address">
			<input
				ref={element}
				aria-label="Address"
				type="text"
				inputMode="url"
				spellcheck={false}
				placeholder="Open a URL"
				disabled={!ready.value}
				onFocus={(event) => event.currentTarget.select()}
				onBlur={(event) => {
					event.currentTarget.value = url;
				}}
				onKeyDown={(event) => {
					if (event.key === "Enter" && event.currentTarget.value.trim())
						void perform({ do: "navigate", url: event.currentTarget.value.trim() });
					if (event.key === "Escape") event.currentTarget.value = url;
				}}
			/>
		</div>
	);
}

/** What a click means, when it does not act. */
function ModeHint() {
	useEffect(() => {
		const onKeyDown = (event: KeyboardEvent) => {
			const other = event.defaultPrevented || document.querySelector("dialog:modal");
			if (event.key === "Escape" && !other && mode.value !== "act") actAgain();
		};
		document.addEventListener("keydown", onKeyDown);
		return () => document.removeEventListener("keydown", onKeyDown);
	}, []);
	if (mode.value === "act") return null;
	return (
		<div class="mode-hint">
			<span>
				{mode.value === "assert"
					? "Pick an element to check, on the screen or in Elements."
					: "Pick the element of the selected call."}
			</span>
			<Button class="small bordered" shortcut="Escape" onClick={actAgain}>
				Cancel
			</Button>
		</div>
	);
}

function Viewport() {
	const { width = 0, height = 0 } = state.value?.screen ?? {};
	const known = width > 0 && height > 0;
	return (
		<div class="viewport">
			{known && shown.value && !shown.value.withheld ? <Picture width={width} height={height} /> : <Empty />}
		</div>
	);
}

/** Says why the picture is missing. */
function Empty() {
	const { activity, doing, device, platform } = state.value ?? {};
	const nothingYet = () => {
		if (platform !== "web") return "The first picture comes soon.";
		return doc.value?.steps.length ? "The page is empty. Open a URL, or Replay." : "The page is empty. Open a URL.";
	};
	const why = () => {
		if (shown.value?.withheld) return `The picture is withheld: ${shown.value.withheld}`;
		if (activity === "lost") return "The device is lost.";
		if (device === "") return "Choose a device in the toolbar.";
		if (activity === "idle") return nothingYet();
		return doing || `Opening ${device ?? "the device"}…`;
	};
	return (
		<p class="empty no-picture" dir="auto">
			{why()}
		</p>
	);
}

/** Whether the picture does not follow the device any more. */
const isOld = computed(() => link.value.status !== "open" || state.value?.activity === "lost");

function Picture({ width, height }: { width: number; height: number }) {
	const canvas = useRef<HTMLCanvasElement>(null);
	const focused = useSignal(false);
	const left = useSignal(false);
	const ripples = useSignal<{ id: number; x: number; y: number }[]>([]);
	const announced = shown.value?.image;
	useEffect(() => {
		// By now there may be a newer one, and this one be closed.
		const image = shown.peek()?.image;
		if (!canvas.current || !image) return;
		if (canvas.current.width !== image.width) canvas.current.width = image.width;
		if (canvas.current.height !== image.height) canvas.current.height = image.height;
		canvas.current.getContext("2d")?.drawImage(image, 0, 0);
	}, [announced]);
	useEffect(() => {
		if (!canvas.current) return;
		const gestures = new Gestures(canvas.current, {
			left,
			onTouch: (x, y) => {
				ripples.value = [...ripples.value.slice(-3), { id: performance.now(), x, y }];
			},
		});
		return () => gestures.stop();
	}, []);
	const typing = state.value?.typing;
	return (
		<div
			class={`live-picture ${isOld.value ? "is-old" : ""}`}
			style={{ aspectRatio: `${width} / ${height}`, "--ratio": width / height, "--natural": `${width * 1.5}px` }}
		>
			<canvas
				ref={canvas}
				role="img"
				aria-label={`Screen of ${state.value?.device ?? ""}`}
				aria-describedby="screen-hint"
				tabIndex={0}
				class={`mode-${mode.value}`}
				onFocus={() => {
					focused.value = true;
					left.value = false;
				}}
				onBlur={() => {
					focused.value = false;
				}}
			/>
			<div class="overlay" aria-hidden="true">
				{hovered.value && hovered.value.ref !== located.value?.element.ref && (
					<ElementBox element={hovered.value} class="is-hovered" label />
				)}
				{located.value && <ElementBox element={located.value.element} class="is-located" />}
				{ripples.value.map(({ id, x, y }) => (
					<Box key={id} class="ripple" bounds={{ left: x, top: y, right: x, bottom: y }} />
				))}
			</div>
			<Popup />
			{typing && (
				<div class="typing">
					<span class="dim">Typing into {typing.field}</span> <bdi>{typing.text}</bdi>
				</div>
			)}
			<p id="screen-hint" class={`keys-hint ${focused.value ? "" : "hidden-text"}`}>
				{left.value
					? "Enter types on the screen again, Tab goes on"
					: "Keys go to the screen. Escape leaves it, Shift+Escape sends Escape"}
			</p>
		</div>
	);
}
