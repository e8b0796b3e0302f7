import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

export interface Tab<Name extends string> {
	name: Name;
	/** Beside the name, such as how many there are. */
	note?: string;
	/** Of a note about what is wrong. */
	tone?: "error" | "failed";
	content: () => ComponentChildren;
}

interface Props<Name extends string> {
	/** Of the list of tabs. */
	name: string;
	tabs: Tab<Name>[];
	/** "" shows no content. */
	chosen: Name | "";
	onChoose: (name: Name) => void;
	/** The role of the content. */
	role?: "region" | "tabpanel";
	/** Behind the tabs. */
	children?: ComponentChildren;
}

/** A list of tabs and the content of the chosen one, a region (or tab panel) with its name. */
export function Tabs<Name extends string>({ name, tabs, chosen, onChoose, role = "region", children }: Props<Name>) {
	const id = useId();
	const current = tabs.find((tab) => tab.name === chosen);
	const onKeyDown = (event: KeyboardEvent) => {
		const step = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
		if (step === undefined) return;
		event.preventDefault();
		const at = tabs.findIndex((tab) => tab.name === chosen);
		const to = Number.isFinite(step) ? (at + step + tabs.length) % tabs.length : step < 0 ? 0 : tabs.length - 1;
		const next = tabs[to];
		if (!next) return;
		onChoose(next.name);
		document.getElementById(`${id}-${next.name}`)?.focus();
	};
	return (
		<div class="tabs">
			<div class="tab-row">
				<div role="tablist" aria-label={name} onKeyDown={onKeyDown}>
					{tabs.map((tab, i) => (
						<button
							type="button"
							key={tab.name}
							role="tab"
							id={`${id}-${tab.name}`}
							aria-selected={tab === current}
							aria-controls={tab === current ? `${id}-content` : undefined}
							tabIndex={tab === current || (!current && i === 0) ? 0 : -1}
							onClick={() => onChoose(tab.name)}
						>
							{tab.name}
							{tab.note && " "}
							{tab.note && <span class={`note is-${tab.tone ?? "plain"}`}>{tab.note}</span>}
						</button>
					))}
				</div>
				{children}
			</div>
			{current && (
				<section key={current.name} id={`${id}-content`} class="tab-content" role={role} aria-label={current.name}>
					{current.content()}
				</section>
			)}
		</div>
	);
}
