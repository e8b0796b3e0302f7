import { CallForm } from "../forms/form";
import type { Call, Step } from "../protocol";
import { doc, editable, mode, selection } from "../store";
import { Button } from "../ui/button";
import { edit, neighbour } from "./edit";

/** What can be changed of the selected step or call. */
export function Details() {
	const found = selection.value;
	if (!found) return null;
	const { step, call } = found;
	return (
		<section class="details" aria-label="Selected" key={(call ?? step).number}>
			<header>
				<h2>
					{call ? call.number : `Step ${step.number}`} <code title={call?.tool}>{call?.tool}</code>
				</h2>
				<Buttons step={step} call={call} />
			</header>
			<div class="details-content">
				{call?.message && (
					<p class={`reason is-${call.outcome === "failed" ? "failed" : "running"}`} dir="auto">
						{call.message}
					</p>
				)}
				{call ? <OfCall call={call} /> : <OfStep step={step} />}
			</div>
		</section>
	);
}

function Buttons({ step, call }: { step: Step; call: Call | null }) {
	const { number } = call ?? step;
	const before = neighbour(number, -1);
	const behind = neighbour(number, 1);
	const off = !editable.value;
	return (
		<div class="details-buttons">
			<Button icon="up" compact disabled={off || !before} onClick={() => void edit({ op: "move", number, to: before })}>
				Move up
			</Button>
			<Button
				icon="down"
				compact
				disabled={off || !behind}
				onClick={() => void edit({ op: "move", number, to: behind })}
			>
				Move down
			</Button>
			<Button
				icon="split"
				compact
				title="Split: make a step of this call and those after it"
				disabled={off || !call || step.calls[0] === call}
				onClick={() => call && void edit({ op: "split", call: call.number, text: "" })}
			>
				Split
			</Button>
			<Button
				icon="join"
				compact
				title="Join: add the calls of this step to the step before it"
				disabled={off || step === doc.value?.steps[0]}
				onClick={() => void edit({ op: "join", step: step.number })}
			>
				Join
			</Button>
			<Button
				icon="pick"
				compact
				title="Pick: choose the element of this call on the screen"
				disabled={off || !call}
				pressed={mode.value === "pick"}
				onClick={() => {
					mode.value = mode.value === "pick" ? "act" : "pick";
				}}
			>
				Pick
			</Button>
			<Button
				icon="delete"
				compact
				kind="danger"
				disabled={off}
				shortcut="Delete"
				onClick={() => void edit({ op: "delete", number })}
			>
				Delete
			</Button>
		</div>
	);
}

const kinds = [
	{ kind: "step", label: "Step" },
	{ kind: "verify", label: "Verify" },
] as const;

function OfStep({ step }: { step: Step }) {
	const { lineage = [] } = doc.value ?? {};
	return (
		<div class="call-fields">
			{(step.kind === "step" || step.kind === "verify") && (
				<fieldset class="kinds" disabled={!editable.value}>
					<legend class="hidden-text">Kind</legend>
					{kinds.map(({ kind, label }) => (
						<label class="check" key={kind}>
							<input
								type="radio"
								name="kind"
								checked={step.kind === kind}
								onChange={() => void edit({ op: "kind", step: step.number, kind })}
							/>
							{label}
						</label>
					))}
				</fieldset>
			)}
			{step.classifier && lineage.length > 1 && (
				<label class="field">
					<span class="label">Recorded for</span>
					<select
						value={step.classifier}
						disabled={!editable.value}
						onChange={(event) =>
							void edit({ op: "classifier", step: step.number, classifier: event.currentTarget.value })
						}
					>
						{[...new Set([step.classifier, ...lineage])].map((classifier) => (
							<option key={classifier}>{classifier}</option>
						))}
					</select>
				</label>
			)}
		</div>
	);
}

function OfCall({ call }: { call: Call }) {
	const change = (part: Partial<Pick<Call, "optional" | "timeout" | "saveAs">>) => {
		const { optional, timeout, saveAs } = { ...call, ...part };
		void edit({ op: "call", call: call.number, optional, timeout, saveAs });
	};
	return (
		<>
			<CallForm call={call} />
			<div class="call-fields">
				<label class="field">
					<span class="label">timeout</span>
					<input
						value={call.timeout}
						placeholder="such as 5s"
						disabled={!editable.value}
						onChange={(event) => change({ timeout: event.currentTarget.value.trim() })}
					/>
				</label>
				<label class="field">
					<span class="label">saveAs</span>
					<input
						value={call.saveAs}
						placeholder="a name"
						disabled={!editable.value}
						onChange={(event) => change({ saveAs: event.currentTarget.value.trim() })}
					/>
				</label>
				<label class="check">
					<input
						type="checkbox"
						checked={call.optional}
						disabled={!editable.value}
						onChange={(event) => change({ optional: event.currentTarget.checked })}
					/>
					optional
				</label>
			</div>
		</>
	);
}
