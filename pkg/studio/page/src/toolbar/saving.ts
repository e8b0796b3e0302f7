// How a save goes: the name of a new file, the save itself, and what came of it.
import { signal } from "@preact/signals";
import { failureOf, request } from "../connection";
import type { Failure, Saved } from "../protocol";
import { doc, state } from "../store";

export interface Wish {
	file: string;
	title: string;
	noReplay: boolean;
	overwrite: "" | "own" | "all";
}

/** Which dialog of a save is shown; null for none. */
export type Saving =
	| { stage: "name"; wish: Wish }
	| { stage: "refused"; wish: Wish; failure: Failure }
	| { stage: "saved"; wish: Wish; saved: Saved };
export const saving = signal<Saving | null>(null);

/** Saves; a recording without a file gets one first. */
export function save(): void {
	const { file = "" } = state.value ?? {};
	const title = doc.value?.title ?? "";
	const wish: Wish = { file, title, noReplay: false, overwrite: "" };
	if (file) void saveAs(wish);
	else saving.value = { stage: "name", wish: { ...wish, file: fileOf(title) } };
}

/** Saves into a file. The dialog is closed meanwhile, since the replay is seen on the picture. */
export async function saveAs(wish: Wish): Promise<void> {
	saving.value = null;
	try {
		const saved = await request<Saved>({ do: "save", ...wish });
		saving.value = { stage: "saved", wish, saved };
	} catch (error) {
		saving.value = { stage: "refused", wish, failure: failureOf(error) };
	}
}

/** The file of a trail with this title, relative to the root of the project. */
export function fileOf(title: string): string {
	return `${state.value?.trailsDir ?? ""}${fileName(title)}.trail.yaml`;
}

/** A file name of letters and digits in any script, with hyphens between words. */
function fileName(title: string): string {
	const words = title.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
	return words.join("-").slice(0, 60) || "new-trail";
}
