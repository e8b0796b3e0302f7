export function Toolbar() {
	return <div role="toolbar" aria-label="Session" />;
}
