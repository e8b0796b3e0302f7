import { computed } from "@preact/signals";
import { select } from "../connection";
import type { Call, Outcome, Step } from "../protocol";
import { doc, editable, selected, selection, state, titleOf } from "../store";
import { Button } from "../ui/button";
import { Tree, type TreeRow, useClosed } from "../ui/tree";
import { edit, neighbour, ownSteps } from "./edit";
import { StepName } from "./name";
import "./steps.css";

/** Adds a step without calls behind the selected one, or at the end, to be named. */
function addStep(): void {
	const steps = ownSteps(doc.value);
	const after = steps.find(({ number }) => number === selection.value?.step.number) ?? steps.at(-1);
	void edit({ op: "insertStep", after: after?.number ?? "", text: "New step", kind: "step" });
}

interface Row extends TreeRow {
	step: Step;
	/** null for the row of the step. */
	call: Call | null;
}

/** Whether the next call is made by now, so that the document does not say which one that is. */
const runs = computed(() => ["replaying", "saving"].includes(state.value?.activity ?? ""));

const height = 26;
const messageHeight = 20;

/** The steps of the trail, below them their calls. */
export function Steps() {
	const [closed, open] = useClosed();
	const rows = rowsOf(doc.value?.steps ?? [], closed.value, doc.value?.selected ?? "");
	return (
		<section aria-label="Steps" class="steps">
			<header class="steps-head">
				<h2 dir="auto">{titleOf(doc.value, state.value)}</h2>
				<span class="dim file" title={state.value?.file}>
					{state.value?.file}
				</span>
				<Button icon="plus" compact disabled={!editable.value} onClick={addStep}>
					Add step
				</Button>
			</header>
			<StepName />
			<Tree
				name="Steps"
				rows={rows}
				selected={selected.value}
				shown={rows.findLast((row) => row.class?.includes("is-running"))?.key}
				follows
				onSelect={(row) => select(row.key)}
				onOpen={open}
				onKey={onKey}
				empty={
					state.value?.recording
						? "Act on the screen to record the first step."
						: "No steps yet. Choose Record, then act on the screen."
				}
			>
				{(row) => <RowContent row={row} />}
			</Tree>
		</section>
	);
}

function rowsOf(steps: Step[], closed: ReadonlySet<string>, target: string): Row[] {
	const rows: Row[] = [];
	steps.forEach((step, i) => {
		const open = !closed.has(step.number);
		rows.push({
			key: step.number,
			level: 1,
			open: step.calls.length > 0 ? open : undefined,
			position: i + 1,
			siblings: steps.length,
			height: height + 2,
			class: `is-step ${classOf(step.outcome, target === step.number)}`,
			step,
			call: null,
		});
		if (!open) return;
		step.calls.forEach((call, j) => {
			rows.push({
				key: call.number,
				level: 2,
				position: j + 1,
				siblings: step.calls.length,
				height: height + (call.message ? messageHeight : 0),
				class: classOf(call.outcome, target === call.number),
				step,
				call,
			});
		});
	});
	return rows;
}

function classOf(outcome: Outcome, isTarget: boolean): string {
	return `is-${outcome || "new"} ${isTarget ? "is-target" : ""}`;
}

function onKey(row: Row, event: KeyboardEvent): boolean {
	if (!editable.value) return false;
	if (event.key === "Delete") {
		void edit({ op: "delete", number: row.key });
		return true;
	}
	const way = { ArrowUp: -1, ArrowDown: 1 }[event.key];
	if (!way || !event.altKey) return false;
	const to = neighbour(row.key, way);
	if (to) void edit({ op: "move", number: row.key, to });
	return true;
}

function RowContent({ row: { step, call } }: { row: Row }) {
	const outcome = (call ?? step).outcome;
	return (
		<span class="row-content">
			<span class="row-line">
				<span class="mark" aria-hidden="true" />
				{outcome && <span class="hidden-text">{outcome}: </span>}
				{call ? (
					<>
						<span class="brief" dir="auto" title={`${call.brief}\n${call.number} ${call.tool}`}>
							{call.brief || call.tool}
						</span>
						{call.saveAs && <span class="tag">→ {call.saveAs}</span>}
						{call.optional && <span class="tag">optional</span>}
						{doc.value?.next === call.number && !runs.value && <span class="tag is-next">next</span>}
					</>
				) : (
					<>
						<span class="number dim">{step.number}</span>
						<span class={`text ${step.provisional ? "provisional" : ""}`} dir="auto" title={step.text}>
							{step.text || "Step without a text"}
						</span>
						{step.kind !== "step" && <span class="tag">{step.kind}</span>}
					</>
				)}
			</span>
			{call?.message && (
				<span class="message" dir="auto" title={call.message}>
					{call.message}
				</span>
			)}
		</span>
	);
}
