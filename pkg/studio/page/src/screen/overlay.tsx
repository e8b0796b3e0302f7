import type { ComponentChildren } from "preact";
import type { Element, Rect } from "../protocol";
import { state } from "../store";
import { inWords } from "./point";

/** A box on the picture, in the unit of the screen. */
export function Box(p: { bounds: Rect; class: string; children?: ComponentChildren }) {
	const { width = 1, height = 1 } = state.value?.screen ?? {};
	const style = {
		left: `${(p.bounds.x / width) * 100}%`,
		top: `${(p.bounds.y / height) * 100}%`,
		width: `${(p.bounds.width / width) * 100}%`,
		height: `${(p.bounds.height / height) * 100}%`,
	};
	return (
		<div class={`box ${p.class}`} style={style}>
			{p.children}
		</div>
	);
}

/** Outlines an element. Its label is below it where there is no room above. */
export function ElementBox(p: { element: Element; class: string; label?: boolean }) {
	const { bounds } = p.element;
	if (!bounds) return null;
	const below = bounds.y < 40 ? "below" : "";
	const end = bounds.x > (state.value?.screen.width ?? 0) * 0.6 ? "at-end" : "";
	return (
		<Box bounds={bounds} class={p.class}>
			{p.label && <span class={`box-label ${below} ${end}`}>{inWords(p.element)}</span>}
		</Box>
	);
}
