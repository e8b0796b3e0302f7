export function Banners() {
	return null;
}
