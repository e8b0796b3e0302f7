import { useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Element } from "../protocol";
import { locate } from "../screen/gestures";
import { located, look, pointed } from "../store";
import { Search } from "../ui/search";
import { Tree, type TreeRow, useClosed } from "../ui/tree";
import "./elements.css";

interface Row extends TreeRow {
	element: Element;
}

/** The elements of the screen, as a tree. It and the picture show each other's selection. */
export function Elements() {
	const find = useSignal("");
	const [closed, open] = useClosed();
	const chosen = useSignal("");
	const rows = useComputed(() => rowsOf(look.value?.root ?? null, find.value.trim().toLowerCase(), closed.value));
	const key = rowOfLocated(rows.value) ?? chosen.value;
	useEffect(() => {
		chosen.value = key;
	}, [key]);
	useEffect(
		() => () => {
			pointed.value = null;
		},
		[],
	);
	return (
		<div class="elements">
			<div class="find">
				<Search name="find" placeholder="Find by role, name or text" text={find} />
				<span class="count" role="status">
					{rows.value.length}
				</span>
			</div>
			<Tree
				name="Elements"
				rows={rows.value}
				selected={key}
				onOpen={open}
				onPoint={(row) => {
					pointed.value = row?.element ?? null;
				}}
				onSelect={(row) => {
					chosen.value = row.key;
					if (row.element.ref) void locate({ ref: row.element.ref });
				}}
				empty={look.value ? "No element matches." : "The elements are read when the screen is still."}
			>
				{({ element }) => <Line element={element} />}
			</Tree>
		</div>
	);
}

function rowOfLocated(rows: Row[]): string | undefined {
	const ref = located.value?.element.ref;
	return ref ? rows.find((row) => row.element.ref === ref)?.key : undefined;
}

/** The rows of a tree in its order. A text to find leaves those that have it, and what they are in. */
function rowsOf(root: Element | null, find: string, closed: ReadonlySet<string>): Row[] {
	const rows: Row[] = [];
	const add = (element: Element, key: string, level: number, position: number, siblings: number): boolean => {
		const children = element.children ?? [];
		const open = find !== "" || !closed.has(key);
		const at = rows.length;
		rows.push({ key, level, position, siblings, height: 24, element, open: children.length > 0 ? open : undefined });
		let found = find === "" || matches(element, find);
		if (open) {
			children.forEach((child, i) => {
				if (add(child, `${key}.${i}`, level + 1, i + 1, children.length)) found = true;
			});
		}
		if (!found) rows.length = at;
		return found;
	};
	if (root) add(root, "0", 1, 1, 1);
	return rows;
}

function matches({ role, name, content }: Element, find: string): boolean {
	return [role, name, content].some((text) => text?.toLowerCase().includes(find));
}

function Line({ element: { role, name, content, states } }: { element: Element }) {
	return (
		<span class="row-line element">
			<span class="role">{role}</span>
			{name && (
				<span class="text" dir="auto" title={name}>
					{name}
				</span>
			)}
			{content && content !== name && (
				<span class="text dim" dir="auto" title={content}>
					{content}
				</span>
			)}
			{states?.map((state) => (
				<span class="tag" key={state}>
					{state}
				</span>
			))}
		</span>
	);
}
