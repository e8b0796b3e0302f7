import type { Signal } from "@preact/signals";
import { useRef } from "preact/hooks";

interface Props {
	/** What it does to which part. */
	name: string;
	/** The part's share of what the splitter is in, in percent; 0 while the part is hidden. */
	share: Signal<number>;
	/** Where the part is. */
	side: "left" | "right" | "bottom";
	/** Whether the part can be hidden, by Enter, a double click, or by dragging the line to its edge. */
	hides?: boolean;
}

const least = 10;
const most = 60;
const step = 2;

/** A line at the edge of a part, which is dragged, or moved with arrow keys, to resize the part. */
export function Splitter({ name, share, side, hides }: Props) {
	/** What the part has when it is shown again. */
	const before = useRef(share.value || 25);
	const resize = (percent: number) => {
		if (hides && percent < least / 2) share.value = 0;
		else before.current = share.value = Math.min(Math.max(Math.round(percent), least), most);
	};
	const toggle = () => {
		if (hides) share.value = share.value === 0 ? before.current : 0;
	};
	const onPointerMove = (event: PointerEvent & { currentTarget: HTMLElement }) => {
		if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
		const whole = event.currentTarget.parentElement?.getBoundingClientRect();
		if (!whole) return;
		const parts = {
			left: (event.clientX - whole.left) / whole.width,
			right: (whole.right - event.clientX) / whole.width,
			bottom: (whole.bottom - event.clientY) / whole.height,
		};
		resize(parts[side] * 100);
	};
	const onKeyDown = (event: KeyboardEvent) => {
		const larger = { left: "ArrowRight", right: "ArrowLeft", bottom: "ArrowUp" }[side];
		const smaller = { left: "ArrowLeft", right: "ArrowRight", bottom: "ArrowDown" }[side];
		const keys: Record<string, () => void> = {
			[larger]: () => resize(share.value + step),
			[smaller]: () => resize(Math.max(share.value - step, least)),
			Home: () => resize(least),
			End: () => resize(most),
			Enter: toggle,
		};
		const act = keys[event.key];
		if (!act) return;
		event.preventDefault();
		act();
	};
	return (
		<hr
			aria-label={name}
			aria-orientation={side === "bottom" ? "horizontal" : "vertical"}
			aria-valuemin={hides ? 0 : least}
			aria-valuemax={most}
			aria-valuenow={share.value}
			aria-valuetext={share.value === 0 ? "hidden" : `${share.value} %`}
			title={`${name}: drag it${hides ? "; double click hides or shows it" : ""}`}
			tabIndex={0}
			class={`splitter at-${side} ${share.value === 0 ? "is-hidden" : ""}`}
			onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
			onPointerMove={onPointerMove}
			onDblClick={toggle}
			onKeyDown={onKeyDown}
		/>
	);
}
