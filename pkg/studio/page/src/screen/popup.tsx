import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { perform } from "../connection";
import type { Ask } from "../protocol";
import { controls, state } from "../store";
import { Button } from "../ui/button";
import { Box } from "./overlay";

/** The popup of a select, at its place, since a picture does not have it. */
export function Popup() {
	const question = state.value?.ask;
	if (question?.kind !== "select" || !controls.value) return null;
	const { width = 0, height = 0 } = state.value?.screen ?? {};
	const bounds = question.bounds ?? { left: width / 4, top: height / 4, right: (width * 3) / 4, bottom: height / 4 };
	const above = bounds.top > height / 2 ? "above" : "";
	const end = bounds.left > width / 2 ? "at-end" : "";
	return (
		<Box bounds={bounds} class={`popup-place ${above} ${end}`}>
			<Options key={question.id} question={question} />
		</Box>
	);
}

function Options({ question }: { question: Ask }) {
	const element = useRef<HTMLDivElement>(null);
	const { options, multiple } = question;
	const active = useSignal(
		Math.max(
			0,
			options.findIndex((option) => option.selected),
		),
	);
	const chosen = useSignal(new Set(options.filter((option) => option.selected).map((option) => option.value)));
	useEffect(() => {
		const before = document.activeElement;
		element.current?.focus();
		return () => {
			const here = document.activeElement;
			if (here === document.body || element.current?.contains(here)) (before as HTMLElement | null)?.focus();
		};
	}, []);
	const answer = (ok: boolean, values: string[]) => void perform({ do: "answer", ask: question.id, ok, values });
	const cancel = () => answer(false, []);
	const done = () => answer(true, [...chosen.value]);
	const choose = (index: number) => {
		const option = options[index];
		if (!option || option.disabled) return;
		if (!multiple) return answer(true, [option.value]);
		const next = new Set(chosen.value);
		if (!next.delete(option.value)) next.add(option.value);
		chosen.value = next;
	};
	const move = (to: number) => {
		active.value = Math.min(Math.max(to, 0), options.length - 1);
		element.current?.children[active.value]?.scrollIntoView({ block: "nearest" });
	};
	const onKeyDown = (event: KeyboardEvent) => {
		const keys: Record<string, () => void> = {
			ArrowDown: () => move(active.value + 1),
			ArrowUp: () => move(active.value - 1),
			Home: () => move(0),
			End: () => move(options.length - 1),
			" ": () => choose(active.value),
			Enter: () => (multiple ? done() : choose(active.value)),
			Escape: cancel,
		};
		const act = keys[event.key];
		if (!act) return;
		event.preventDefault();
		act();
	};
	return (
		<div class="popup">
			<div
				ref={element}
				role="listbox"
				aria-label={question.text || "Options"}
				aria-multiselectable={multiple || undefined}
				aria-activedescendant={options.length > 0 ? `option-${active.value}` : undefined}
				tabIndex={0}
				onKeyDown={onKeyDown}
			>
				{options.map((option, i) => (
					<div
						key={i}
						id={`option-${i}`}
						role="option"
						dir="auto"
						class={i === active.value ? "is-active" : ""}
						aria-selected={chosen.value.has(option.value)}
						aria-disabled={option.disabled || undefined}
						onClick={() => choose(i)}
					>
						{option.label || " "}
					</div>
				))}
			</div>
			<footer>
				<Button onClick={cancel}>Cancel</Button>
				{multiple && (
					<Button kind="primary" onClick={done}>
						OK
					</Button>
				)}
			</footer>
		</div>
	);
}
