// Drawn on a grid of 16, in lines of 1.5.
const paths = {
	record: "M8 3.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9Z",
	assert: "m2.5 8.5 3.5 3.5 7.5-8",
	undo: "M6 3 2.5 6.5 6 10M3 6.5h6.5a4 4 0 0 1 0 8H7",
	redo: "M10 3l3.5 3.5L10 10M13 6.5H6.5a4 4 0 0 0 0 8H9",
	replay: "M4.5 2.5v11l8.5-5.5Z",
	to: "M2.5 3v10L9 8ZM13 3v10",
	next: "M8 2v7M4.5 6.5 8 10l3.5-3.5M8 13.5h.01",
	stop: "M4 4h8v8H4Z",
	save: "M8 2v8M4.5 7 8 10.5 11.5 7M2.5 13.5h11",
	delete: "M2.5 4.5h11M6.5 4V2.5h3V4M4 4.5l.6 9h6.8l.6-9M6.5 7v4M9.5 7v4",
	split: "M8 2v3.5M8 10.5V14M2.5 8h11M5.5 4.5 8 2l2.5 2.5M5.5 11.5 8 14l2.5-2.5",
	join: "M8 2v4M8 10v4M2.5 8h11M5.5 3.5 8 6l2.5-2.5M5.5 12.5 8 10l2.5 2.5",
	pick: "M8 1.5V5M8 11v3.5M1.5 8H5M11 8h3.5M8 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7Z",
	up: "M8 13V3M4 7l4-4 4 4",
	down: "M8 3v10M4 9l4 4 4-4",
	close: "m3.5 3.5 9 9M12.5 3.5l-9 9",
	open: "m6 3.5 4.5 4.5L6 12.5",
	plus: "M8 3v10M3 8h10",
	find: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.3 10.3l3.2 3.2",
	past: "M8 2a6 6 0 1 1-5.6 3.8M2 2.5v3.5h3.5M8 4.5V8l2.5 1.5",
	warning: "M8 2 1.5 13.5h13ZM8 6.5v3M8 11.5h.01",
	device: "M2 3h12v8H2ZM5.5 13.5h5",
	variable:
		"M6 2.5H5A1.5 1.5 0 0 0 3.5 4v2.5L2 8l1.5 1.5V12A1.5 1.5 0 0 0 5 13.5h1M10 2.5h1A1.5 1.5 0 0 1 12.5 4v2.5L14 8l-1.5 1.5V12a1.5 1.5 0 0 1-1.5 1.5h-1",
} as const;

export type IconName = keyof typeof paths;

/** A picture beside a name, hidden from those who do not see it. */
export function Icon({ name }: { name: IconName }) {
	return (
		<svg class={`icon icon-${name}`} viewBox="0 0 16 16" aria-hidden="true">
			<path d={paths[name]} />
		</svg>
	);
}
