/**
 * The YAML, always what would be saved. It is shown in the region Trail. The server allows no style elements
 * (Content-Security-Policy), which CodeMirror uses in documents, but not in a shadow root, where it adopts its styles.
 */
export function Trail() {
	return null;
}
