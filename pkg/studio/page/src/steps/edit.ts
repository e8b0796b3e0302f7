import { ask } from "../connection";
import type { Document, Edit, Step } from "../protocol";
import { doc, find } from "../store";

/** Changes the document. */
export function edit(change: Edit): Promise<unknown> {
	return ask({ do: "edit", edit: change });
}

/** The number of the step or call before (-1) or behind (1) another one of its kind; "" if there is none. */
export function neighbour(number: string, way: number): string {
	const found = find(doc.value, number);
	if (!found) return "";
	const steps = ownSteps(doc.value);
	if (!steps.includes(found.step)) return "";
	const all: { number: string }[] = found.call ? found.step.calls : steps;
	return all[all.findIndex((one) => one.number === number) + way]?.number ?? "";
}

/** The steps of the trail itself. The teardown, which is behind them, is changed in the YAML only. */
export function ownSteps(of: Document | null): Step[] {
	return (of?.steps ?? []).filter(({ kind }) => kind !== "teardown");
}
