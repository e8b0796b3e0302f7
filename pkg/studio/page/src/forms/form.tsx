import type { Call } from "../protocol";

/** The arguments of the selected call, as a form from its tool's schema. */
export function CallForm(_: { call: Call }) {
	return null;
}
