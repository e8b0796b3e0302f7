export function Details() {
	return null;
}
