import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** How many pixels of rows are rendered before and behind what is in view. */
const margin = 240;

interface Placed {
	index: number;
	top: number;
}

interface Window {
	/** Goes to the element that scrolls. */
	ref: RefObject<HTMLDivElement | null>;
	onScroll: () => void;
	/** The height of all rows. */
	height: number;
	/** The rows to render. */
	rows: Placed[];
	/** Scrolls as little as shows a row. */
	show: (index: number) => void;
	/** How many rows are in view. */
	page: number;
}

/** Which of many rows are in view. Their heights are known; the row kept is always rendered, since it has the focus. */
export function useWindow(heights: number[], kept: number): Window {
	const ref = useRef<HTMLDivElement>(null);
	const [view, setView] = useState({ top: 0, height: 600 });
	const measure = () => {
		const { scrollTop: top, clientHeight: height } = ref.current ?? { scrollTop: 0, clientHeight: 0 };
		setView((old) => (old.top === top && old.height === height ? old : { top, height }));
	};
	useLayoutEffect(() => {
		measure();
		const observer = new ResizeObserver(measure);
		if (ref.current) observer.observe(ref.current);
		return () => observer.disconnect();
	}, [heights.length > 0]); // without rows there may be no element
	const rows: Placed[] = [];
	let top = 0;
	let page = 0;
	heights.forEach((height, index) => {
		const bottom = top + height;
		if ((bottom > view.top - margin && top < view.top + view.height + margin) || index === kept)
			rows.push({ index, top });
		if (bottom > view.top && top < view.top + view.height) page++;
		top = bottom;
	});
	const show = (index: number) => {
		const element = ref.current;
		if (!element || index < 0) return;
		const from = heights.slice(0, index).reduce((sum, height) => sum + height, 0);
		const to = from + (heights[index] ?? 0);
		if (from < element.scrollTop) element.scrollTop = from;
		else if (to > element.scrollTop + element.clientHeight) element.scrollTop = to - element.clientHeight;
		measure();
	};
	return { ref, onScroll: measure, height: top, rows, show, page: Math.max(1, page - 1) };
}
