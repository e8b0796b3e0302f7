import type { Signal } from "@preact/signals";

/** A field for a text to find. */
export function Search({ name, placeholder, text }: { name: string; placeholder: string; text: Signal<string> }) {
	return (
		<input
			type="search"
			aria-label={name}
			placeholder={placeholder}
			value={text.value}
			onInput={(event) => (text.value = event.currentTarget.value)}
		/>
	);
}
