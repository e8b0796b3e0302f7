/** A text of the server that begins with a plain word, with a capital: not a path, nor the name of a tool. */
export function capital(text: string): string {
	return text.replace(/^[a-z]+(?=\s|$)/, (word) => word.charAt(0).toUpperCase() + word.slice(1));
}

/** A message of the server, which ends without a full stop, as a sentence. */
export function sentence(text: string): string {
	return capital(/[.!?…]$/.test(text) ? text : `${text}.`);
}
