export function Elements() {
	return null;
}
