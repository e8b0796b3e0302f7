/** The tools of the project, with forms from their schemas. */
export function Tools() {
	return null;
}
