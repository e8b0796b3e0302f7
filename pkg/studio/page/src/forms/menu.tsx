import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../ui/button";
import type { IconName } from "../ui/icon";

export interface Item {
	name: string;
	/** What it means, in a line. */
	note?: string;
	onChoose: () => void;
}

interface Props {
	name: string;
	items: Item[];
	icon?: IconName;
	/** Shows the icon alone. */
	compact?: boolean;
}

/** A button with a menu. Arrow keys and first letters move in it; Escape closes it. */
export function Menu({ name, items, icon = "plus", compact = false }: Props) {
	const [open, setOpen] = useState(false);
	const whole = useRef<HTMLDivElement>(null);
	const list = useRef<HTMLDivElement>(null);

	const close = (focus: boolean) => {
		setOpen(false);
		if (focus) whole.current?.querySelector("button")?.focus();
	};
	useLayoutEffect(() => {
		const menu = list.current;
		const button = whole.current?.querySelector("button");
		if (!open || !menu || !button) return;
		place(menu, button.getBoundingClientRect());
		menu.querySelector("button")?.focus();
	}, [open]);
	useEffect(() => {
		if (!open) return;
		const outside = (event: Event) => {
			if (!event.composedPath().includes(whole.current as EventTarget)) setOpen(false);
		};
		window.addEventListener("pointerdown", outside);
		window.addEventListener("scroll", outside, true);
		return () => {
			window.removeEventListener("pointerdown", outside);
			window.removeEventListener("scroll", outside, true);
		};
	}, [open]);

	const onKeyDown = (event: KeyboardEvent) => {
		const buttons = [...(list.current?.querySelectorAll("button") ?? [])];
		const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
		const to = moved(event.key, at, items);
		if (event.key === "Escape" || event.key === "Tab") close(event.key === "Escape");
		else if (to === null) return;
		else buttons[to]?.focus();
		if (event.key === "Tab") return;
		event.preventDefault();
		event.stopPropagation();
	};
	return (
		<div class="menu" ref={whole}>
			<Button icon={icon} compact={compact} popup="menu" expanded={open} onClick={() => setOpen(!open)} class="small">
				{name}
			</Button>
			{open && (
				<div class="menu-items" role="menu" aria-label={name} ref={list} onKeyDown={onKeyDown}>
					{items.map((item) => (
						<button
							key={item.name}
							type="button"
							role="menuitem"
							tabIndex={-1}
							onClick={() => {
								close(true);
								item.onChoose();
							}}
						>
							<span>{item.name}</span>
							{item.note && (
								<span class="dim" dir="auto">
									{item.note}
								</span>
							)}
						</button>
					))}
				</div>
			)}
		</div>
	);
}

/** Which item a key moves to; null if it does not move. */
function moved(key: string, at: number, items: Item[]): number | null {
	switch (key) {
		case "ArrowDown":
			return (at + 1) % items.length;
		case "ArrowUp":
			return (at - 1 + items.length) % items.length;
		case "Home":
			return 0;
		case "End":
			return items.length - 1;
	}
	if (key.length !== 1 || key === " ") return null;
	const begins = (i: number) => items[i % items.length]?.name.toLowerCase().startsWith(key.toLowerCase());
	for (let i = at + 1; i <= at + items.length; i++) if (begins(i)) return i % items.length;
	return null;
}

/** Puts the menu where it has room: below the button, or above it. */
function place(menu: HTMLElement, button: DOMRect): void {
	const below = window.innerHeight - button.bottom - 12;
	const above = button.top - 12;
	const down = below >= Math.min(menu.scrollHeight, 240) || below >= above;
	menu.style.maxHeight = `${Math.max(80, Math.min(320, down ? below : above))}px`;
	menu.style.left = `${Math.max(8, Math.min(button.left, window.innerWidth - menu.offsetWidth - 8))}px`;
	if (down) menu.style.top = `${button.bottom + 4}px`;
	else menu.style.bottom = `${window.innerHeight - button.top + 4}px`;
}
