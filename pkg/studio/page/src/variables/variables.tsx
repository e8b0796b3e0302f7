/** The variables and secrets of this session. */
export function Variables() {
	return null;
}
