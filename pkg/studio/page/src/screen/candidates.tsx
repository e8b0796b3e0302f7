import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ask } from "../connection";
import { selectorText } from "../forms/selector";
import type { Candidate, Check, Location, Made } from "../protocol";
import { edit } from "../steps/edit";
import { located, mode, ready, selection } from "../store";
import { Button } from "../ui/button";
import { inWords } from "./point";

/** Whether selectors that are longer than a line are shown whole. */
const whole = signal(false);

/** How the selected element can be found, and the checks that fit it. */
export function Candidates() {
	const location = located.value;
	if (!location) return null;
	return <Found key={location.element.ref} location={location} />;
}

function close() {
	located.value = null;
}

function Found({ location }: { location: Location }) {
	const element = useRef<HTMLDivElement>(null);
	useEffect(() => {
		const before = document.activeElement;
		return () => {
			const here = document.activeElement;
			if (here === document.body || element.current?.contains(here)) (before as HTMLElement | null)?.focus();
		};
	}, []);
	/** The candidate whose selector the checks have. */
	const chosen = useSignal(0);
	const made = useSignal<Made | null>(null);
	const call = mode.value === "pick" || mode.value === "act" ? (selection.value?.call ?? null) : null;
	const choose = (index: number) => {
		const candidate = location.candidates[index];
		if (!candidate) return;
		chosen.value = index;
		if (!call || !ready.value) return;
		void edit({ op: "pick", call: call.number, selector: candidate.selector });
		mode.value = "act";
		close();
	};
	const check = async ({ call: proposed }: Check) => {
		const selector = location.candidates[chosen.value]?.selector;
		const args = replaced(proposed.args, location.candidates[0]?.selector, selector) as Record<string, unknown>;
		const result = await ask<Made>({ do: "assert", call: { ...proposed, args } });
		made.value = result ?? null;
		if (!result?.ok) return;
		mode.value = "act";
		if (result.warnings.length === 0) close();
	};
	const onKeyDown = (event: KeyboardEvent) => {
		if (event.key !== "Escape") return;
		event.preventDefault();
		close();
	};
	return (
		<div ref={element} class="found" onKeyDown={onKeyDown}>
			<header>
				<h2 dir="auto" title={inWords(location.element)}>
					{inWords(location.element)}
				</h2>
				<span class="dim">{call ? `Choose what finds it in call ${call.number}` : ""}</span>
				<Button
					class="small bordered"
					pressed={whole.value}
					title="Show selectors that are longer than a line whole"
					onClick={() => (whole.value = !whole.value)}
				>
					Whole selectors
				</Button>
				<Button icon="close" compact onClick={close}>
					Close
				</Button>
			</header>
			<div class="found-content">
				<Options candidates={location.candidates} chosen={chosen.value} onChoose={choose} />
				{mode.value !== "pick" && <Checks checks={location.checks} onChoose={check} />}
			</div>
			{made.value && <Result made={made.value} />}
		</div>
	);
}

/** A copy in which each value that equals from is to. */
function replaced(value: unknown, from: unknown, to: unknown): unknown {
	if (from !== undefined && JSON.stringify(value) === JSON.stringify(from)) return to;
	if (Array.isArray(value)) return value.map((item) => replaced(item, from, to));
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaced(item, from, to)]));
}

function Options(p: { candidates: Candidate[]; chosen: number; onChoose: (index: number) => void }) {
	const element = useRef<HTMLDivElement>(null);
	const active = useSignal(0);
	useEffect(() => {
		if (mode.value !== "act") element.current?.focus({ preventScroll: true });
	}, []);
	const onKeyDown = (event: KeyboardEvent) => {
		const last = p.candidates.length - 1;
		const to = {
			ArrowDown: Math.min(active.value + 1, last),
			ArrowUp: Math.max(active.value - 1, 0),
			Home: 0,
			End: last,
		}[event.key];
		if (to !== undefined) active.value = to;
		else if (event.key === "Enter" || event.key === " ") p.onChoose(active.value);
		else return;
		event.preventDefault();
	};
	return (
		<div
			ref={element}
			role="listbox"
			aria-label="Candidates"
			tabIndex={0}
			aria-activedescendant={p.candidates.length > 0 ? `candidate-${active.value}` : undefined}
			class={`candidates ${whole.value ? "are-whole" : ""}`}
			onKeyDown={onKeyDown}
		>
			{p.candidates.map((candidate, i) => (
				<div
					key={i}
					id={`candidate-${i}`}
					role="option"
					aria-selected={i === p.chosen}
					class={`candidate ${i === active.value ? "is-active" : ""}`}
					title={`${candidate.by}: ${selectorText(candidate.selector)}`}
					onClick={() => {
						active.value = i;
						p.onChoose(i);
					}}
				>
					<code dir="auto">{selectorText(candidate.selector)}</code>
					<span class={candidate.matches === 1 ? "matches" : "matches is-error"}>
						{candidate.matches} {candidate.matches === 1 ? "match" : "matches"}
					</span>
					<span class="by dim" dir="auto">
						{[candidate.by, ...(candidate.notes ?? [])].join(" · ")}
					</span>
				</div>
			))}
		</div>
	);
}

function Checks({ checks, onChoose }: { checks: Check[]; onChoose: (check: Check) => void }) {
	const element = useRef<HTMLDivElement>(null);
	if (checks.length === 0) return null;
	const onKeyDown = (event: KeyboardEvent) => {
		const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
		const items = [...(element.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
		if (!step || items.length === 0) return;
		event.preventDefault();
		const at = items.indexOf(document.activeElement as HTMLElement);
		items[(at + step + items.length) % items.length]?.focus();
	};
	return (
		<div ref={element} role="menu" aria-label="Checks" class="checks" onKeyDown={onKeyDown}>
			{checks.map((check, i) => (
				<button
					key={check.label}
					type="button"
					role="menuitem"
					tabIndex={i === 0 ? 0 : -1}
					dir="auto"
					aria-disabled={!ready.value || undefined}
					onClick={() => ready.value && onChoose(check)}
				>
					{check.label}
				</button>
			))}
		</div>
	);
}

/** What became of a check. */
function Result({ made }: { made: Made }) {
	return (
		<div role="status" class={`made is-${made.ok ? "error" : "failed"}`} dir="auto">
			{!made.ok && <p>{made.text}</p>}
			{made.hint && <p class="hint">{made.hint}</p>}
			{made.warnings.map((warning) => (
				<p key={warning}>{warning}</p>
			))}
		</div>
	);
}
