import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ask } from "../connection";
import { doc, editable, selection } from "../store";
import { ownSteps } from "./edit";

/** The text of the step that is selected, or else of the last one, which is recorded. Enter begins the next step. */
export function StepName() {
	const element = useRef<HTMLInputElement>(null);
	const steps = doc.value?.steps ?? [];
	const step = selection.value?.step ?? ownSteps(doc.value).at(-1);
	/** How many steps there were when Enter began another one, which the document does not have yet. */
	const begun = useSignal(-1);
	const begins = begun.value === steps.length && !selection.value;
	/** What it will be called. */
	const hint = useSignal("");
	const text = begins ? hint.value : (step?.text ?? "");
	useEffect(() => {
		// What the person types stays.
		if (element.current && document.activeElement !== element.current) element.current.value = text;
	}, [text, step?.number]);
	const number = begins ? "" : (step?.number ?? "");
	/** What the person came to name, who stays with it when others record another step, and whether anything was typed. */
	const named = useRef({ number, typed: false });
	const begin = () => {
		named.current = { number, typed: false };
	};
	const name = (next: boolean) => {
		const input = element.current;
		const { number, typed } = named.current;
		if (!input || (!next && !typed)) return;
		void ask({ do: "nameStep", step: number, text: input.value, next });
		named.current = { number: next ? "" : number, typed: false };
		hint.value = begins ? input.value : "";
		if (!next || begins) return;
		begun.value = steps.length;
		input.value = "";
	};
	const leave = (input: HTMLInputElement) => {
		name(false);
		if (named.current.number !== number) input.value = text;
	};
	return (
		<div class="step-name">
			<input
				ref={element}
				aria-label="Step"
				dir="auto"
				placeholder={begins || !step ? "What the next step does" : "What the step does"}
				title="Enter begins the next step"
				disabled={!editable.value}
				onFocus={(event) => {
					begin();
					if (step?.provisional) event.currentTarget.select();
				}}
				onInput={() => {
					named.current.typed = true;
				}}
				onBlur={(event) => leave(event.currentTarget)}
				onKeyDown={(event) => {
					if (event.key === "Enter" && !event.isComposing) name(true);
					if (event.key !== "Escape") return;
					event.currentTarget.value = text;
					begin();
				}}
			/>
		</div>
	);
}
