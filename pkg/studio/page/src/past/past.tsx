/** Looks back at a finished session; without one, lists the sessions. It fills the page below the header. */
export function Past(_: { session: string }) {
	return null;
}
