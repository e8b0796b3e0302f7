import type { ComponentChildren } from "preact";
import type { Element, Rect } from "../protocol";
import { state } from "../store";
import { inWords } from "./point";

/** A box on the picture, in the unit of the screen. */
export function Box(p: { bounds: Rect; class: string; children?: ComponentChildren }) {
	const { width = 1, height = 1 } = state.value?.screen ?? {};
	const { left, top, right, bottom } = p.bounds;
	const percent = (part: number, whole: number) => `${(part / whole) * 100}%`;
	const style = {
		left: percent(left, width),
		top: percent(top, height),
		width: percent(right - left, width),
		height: percent(bottom - top, height),
	};
	return (
		<div class={`box ${p.class}`} style={style}>
			{p.children}
		</div>
	);
}

/** Outlines an element. Its label is below it if it does not fit above. */
export function ElementBox(p: { element: Element; class: string; label?: boolean }) {
	const { bounds } = p.element;
	if (!bounds) return null;
	const below = bounds.top < 40 ? "below" : "";
	const end = bounds.left > (state.value?.screen.width ?? 0) * 0.6 ? "at-end" : "";
	return (
		<Box bounds={bounds} class={p.class}>
			{p.label && <span class={`box-label ${below} ${end}`}>{inWords(p.element)}</span>}
		</Box>
	);
}
