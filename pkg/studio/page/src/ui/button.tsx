import type { ComponentChildren, JSX } from "preact";
import { Icon, type IconName } from "./icon";

interface Props {
	/** The name, which is shown if the button has no icon or room for both. */
	children: ComponentChildren;
	onClick: () => void;
	icon?: IconName;
	/** Shows the icon alone; the name is its tooltip. */
	compact?: boolean;
	/** Of a button that is on or off. */
	pressed?: boolean;
	disabled?: boolean;
	/** Such as "Control+Z" (as in aria-keyshortcuts), said in the tooltip. */
	shortcut?: string;
	/** Says more than the name, in the tooltip. */
	title?: string;
	kind?: "plain" | "primary" | "danger";
	class?: string;
	tabIndex?: number;
	expanded?: boolean;
	popup?: "menu" | "dialog";
	autofocus?: boolean;
}

/** A button. A disabled one keeps the focus and its tooltip. */
export function Button(p: Props): JSX.Element {
	const name = typeof p.children === "string" ? p.children : "";
	const tip = [p.title ?? (p.compact || p.shortcut ? name : ""), p.shortcut && `(${keys(p.shortcut)})`].filter(Boolean);
	return (
		<button
			type="button"
			class={`button ${p.kind ?? "plain"} ${p.compact ? "compact" : ""} ${p.class ?? ""}`}
			title={tip.join(" ") || undefined}
			aria-pressed={p.pressed}
			aria-disabled={p.disabled || undefined}
			aria-keyshortcuts={p.shortcut}
			aria-expanded={p.expanded}
			aria-haspopup={p.popup}
			tabIndex={p.tabIndex}
			autofocus={p.autofocus}
			onClick={() => !p.disabled && p.onClick()}
		>
			{p.icon && <Icon name={p.icon} />}
			<span class={p.compact ? "hidden-text" : "name"}>{p.children}</span>
		</button>
	);
}

/** Whether this is a system of Apple, where the command key does what Control does elsewhere, and Option types characters. */
export const mac = /Mac|iPhone|iPad/.test(navigator.platform);

/** Names keys as this system does. */
export function keys(shortcut: string): string {
	const names: Record<string, string> = mac ? { Control: "⌘", Alt: "⌥", Shift: "⇧" } : { Control: "Ctrl" };
	return shortcut
		.split("+")
		.map((key) => names[key] ?? key)
		.join(mac ? "" : "+");
}
