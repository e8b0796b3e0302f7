// The tools of the session, which forms, completion and the list of tools know.
import { computed, effect, signal } from "@preact/signals";
import { failureOf, request } from "../connection";
import type { Failure, Tool } from "../protocol";
import { link, state } from "../store";

export const tools = signal<Tool[]>([]);
/** Why they are not known; null if they are. */
export const unknownTools = signal<Failure | null>(null);

export interface Group {
	name: string;
	tools: Tool[];
}

/** The tools by source: first those of the project, then the built-in ones, last the commands of the device. */
export const groups = computed<Group[]>(() => {
	const platform = state.value?.platform ?? "";
	const rank = (source: string) => (source === platform ? 2 : source === "trailblaze" ? 1 : 0);
	const sources = [...new Set(tools.value.map(({ source }) => source))].sort(
		(a, b) => rank(a) - rank(b) || a.localeCompare(b),
	);
	const names = ["", "Built-in tools", "Commands of the device"];
	const from = (source: string) => tools.value.filter((tool) => tool.source === source);
	return sources.map((source) => ({ name: names[rank(source)] || source, tools: from(source) }));
});

// Another session, also one on the same device, may have other tools.
const open = computed(
	() =>
		link.value.status === "open" &&
		!["opening", "lost", undefined].includes(state.value?.activity) &&
		state.value?.device,
);

effect(() => {
	if (open.value) void load();
});

async function load(): Promise<void> {
	try {
		tools.value = (await request<Tool[] | null>({ do: "tools" })) ?? [];
		unknownTools.value = null;
	} catch (error) {
		unknownTools.value = failureOf(error);
	}
}
