export function Asks() {
	return null;
}
