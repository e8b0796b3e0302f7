export function Logs() {
	return null;
}
