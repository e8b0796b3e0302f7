import { ask } from "../connection";
import type { Edit } from "../protocol";
import { doc, find } from "../store";

/** Changes the document. */
export function edit(change: Edit): Promise<unknown> {
	return ask({ do: "edit", edit: change });
}

/** The number of the step or call before (-1) or behind (1) another one of its kind; "" if there is none. */
export function neighbour(number: string, way: number): string {
	const found = find(doc.value, number);
	if (!found) return "";
	const all: { number: string }[] = found.call ? found.step.calls : (doc.value?.steps ?? []);
	return all[all.findIndex((one) => one.number === number) + way]?.number ?? "";
}
