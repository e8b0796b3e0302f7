import { type ReadonlySignal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icon";
import { useWindow } from "./window";
import "./tree.css";

/** A row of a tree. Rows come in the order in which they are shown; those of closed rows are left out. */
export interface TreeRow {
	key: string;
	/** From 1. */
	level: number;
	/** Whether the rows below it are shown; undefined if it has none. */
	open?: boolean;
	/** Its place among its siblings, from 1, and how many those are. */
	position: number;
	siblings: number;
	height: number;
	class?: string;
}

interface Props<Row extends TreeRow> {
	name: string;
	rows: Row[];
	/** The key of the selected row; "" for none. */
	selected: string;
	onSelect: (row: Row) => void;
	onOpen: (row: Row, open: boolean) => void;
	/** The row that the keyboard or the pointer is on; null when it left. */
	onPoint?: (row: Row | null) => void;
	/** Further keys on the focused row. It returns whether it took the key. */
	onKey?: (row: Row, event: KeyboardEvent) => boolean;
	/** The key of a row that is scrolled into view when it changes. */
	shown?: string;
	/** Whether moving the focus selects. */
	follows?: boolean;
	children: (row: Row) => ComponentChildren;
	/** What is shown without rows. */
	empty: ComponentChildren;
}

/** The keys of the rows that somebody closed, and what opens or closes one. */
export function useClosed(): [ReadonlySignal<ReadonlySet<string>>, (row: TreeRow, open: boolean) => void] {
	const closed = useSignal<ReadonlySet<string>>(new Set());
	const setOpen = ({ key }: TreeRow, open: boolean) => {
		const next = new Set(closed.value);
		if (open) next.delete(key);
		else next.add(key);
		closed.value = next;
	};
	return [closed, setOpen];
}

/** A tree by the pattern of ARIA: one row has the tab stop, arrow keys move it. Only the rows in view are rendered. */
export function Tree<Row extends TreeRow>(p: Props<Row>) {
	const [active, setActive] = useState("");
	const keyOfActive = p.rows.some((row) => row.key === active) ? active : p.selected;
	const at = Math.max(
		0,
		p.rows.findIndex((row) => row.key === keyOfActive),
	);
	const view = useWindow(
		p.rows.map((row) => row.height),
		at,
	);
	const focusNext = useRef(false);
	useLayoutEffect(() => {
		view.show(p.rows.findIndex((row) => row.key === p.selected));
		if (p.selected) setActive(p.selected);
	}, [p.selected]);
	useLayoutEffect(() => {
		if (p.shown) view.show(p.rows.findIndex((row) => row.key === p.shown));
	}, [p.shown]);
	useLayoutEffect(() => {
		if (!focusNext.current) return;
		focusNext.current = false;
		view.ref.current?.querySelector<HTMLElement>("[tabindex='0']")?.focus({ preventScroll: true });
	});

	const move = (index: number) => {
		const row = p.rows[Math.min(Math.max(index, 0), p.rows.length - 1)];
		if (!row) return;
		focusNext.current = true;
		setActive(row.key);
		view.show(p.rows.indexOf(row));
		p.onPoint?.(row);
		if (p.follows) p.onSelect(row);
	};
	const parent = (index: number) => {
		const level = p.rows[index]?.level ?? 1;
		for (let i = index - 1; i >= 0; i--) if ((p.rows[i]?.level ?? 0) < level) return i;
		return index;
	};
	const moves: Record<string, (row: Row) => void> = {
		ArrowDown: () => move(at + 1),
		ArrowUp: () => move(at - 1),
		PageDown: () => move(at + view.page),
		PageUp: () => move(at - view.page),
		Home: () => move(0),
		End: () => move(p.rows.length - 1),
		ArrowRight: (row) => (row.open === false ? p.onOpen(row, true) : row.open && move(at + 1)),
		ArrowLeft: (row) => (row.open ? p.onOpen(row, false) : move(parent(at))),
		Enter: (row) => p.onSelect(row),
		" ": (row) => p.onSelect(row),
	};
	const onKeyDown = (event: KeyboardEvent) => {
		const row = p.rows[at];
		if (!row) return;
		const move = event.ctrlKey || event.metaKey || event.altKey ? undefined : moves[event.key];
		if (!p.onKey?.(row, event) && !move) return;
		event.preventDefault();
		move?.(row);
	};

	if (p.rows.length === 0) return <div class="empty">{p.empty}</div>;
	return (
		<div class="scroll" ref={view.ref} onScroll={view.onScroll}>
			<div
				role="tree"
				aria-label={p.name}
				class="rows"
				style={{ height: `${view.height}px` }}
				onKeyDown={onKeyDown}
				onPointerLeave={() => p.onPoint?.(null)}
				onBlur={() => p.onPoint?.(null)}
			>
				{view.rows.map(({ index, top }) => {
					const row = p.rows[index] as Row;
					return (
						<div
							key={row.key}
							role="treeitem"
							class={`row ${row.class ?? ""}`}
							style={{
								top: `${top}px`,
								height: `${row.height}px`,
								paddingInlineStart: `${(row.level - 1) * 14 + 4}px`,
							}}
							aria-level={row.level}
							aria-posinset={row.position}
							aria-setsize={row.siblings}
							aria-expanded={row.open}
							aria-selected={row.key === p.selected}
							tabIndex={index === at ? 0 : -1}
							onClick={() => {
								setActive(row.key);
								p.onSelect(row);
							}}
							onPointerEnter={() => p.onPoint?.(row)}
						>
							<Twisty open={row.open} onToggle={(open) => p.onOpen(row, open)} />
							{p.children(row)}
						</div>
					);
				})}
			</div>
		</div>
	);
}

/** Opens a row with the pointer; the keyboard uses arrow keys. */
function Twisty({ open, onToggle }: { open: boolean | undefined; onToggle: (open: boolean) => void }) {
	if (open === undefined) return <span class="twisty" />;
	return (
		<span
			class={`twisty ${open ? "open" : ""}`}
			aria-hidden="true"
			onClick={(event) => {
				event.stopPropagation();
				onToggle(!open);
			}}
		>
			<Icon name="open" />
		</span>
	);
}
