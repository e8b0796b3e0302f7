import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ask } from "../connection";
import { doc, editable, selection } from "../store";

/** The text of the step that is selected, or else of the last one, which is recorded. Enter begins the next step. */
export function StepName() {
	const element = useRef<HTMLInputElement>(null);
	const steps = doc.value?.steps ?? [];
	const step = selection.value?.step ?? steps.findLast(({ kind }) => kind !== "teardown");
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
	const name = (next: boolean) => {
		const input = element.current;
		if (!input || (!next && input.value === text)) return;
		void ask({ do: "nameStep", text: input.value, next });
		hint.value = begins ? input.value : "";
		if (!next || begins) return;
		begun.value = steps.length;
		input.value = "";
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
				onFocus={(event) => step?.provisional && event.currentTarget.select()}
				onBlur={() => name(false)}
				onKeyDown={(event) => {
					if (event.key === "Enter" && !event.isComposing) name(true);
					if (event.key === "Escape") event.currentTarget.value = text;
				}}
			/>
		</div>
	);
}
