// What this browser remembers for a person, for as long as the studio has the same address.
import { effect, type Signal, signal } from "@preact/signals";

/** A signal whose value is kept in this browser. initial says which type it has, and its value where none is kept. */
export function kept<T extends string | number>(name: string, initial: T): Signal<T> {
	const key = `trailblaze.studio.${name}`;
	const value = signal(read(key, initial));
	effect(() => {
		try {
			localStorage.setItem(key, JSON.stringify(value.value));
		} catch {
			// The browser keeps nothing; the value holds until the page is closed.
		}
	});
	return value;
}

function read<T>(key: string, initial: T): T {
	try {
		const value = JSON.parse(localStorage.getItem(key) ?? "");
		return typeof value === typeof initial ? value : initial;
	} catch {
		return initial;
	}
}
