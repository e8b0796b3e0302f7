// What the browser remembers for a person, in a cookie: unlike its storage, that is the same for all ports of this machine,
// and a studio has another port each time.
import { effect, type Signal, signal } from "@preact/signals";

const cookie = "trailblaze-studio-view";
const year = 365 * 24 * 60 * 60;
const view = read();

/** A signal whose value the browser remembers. initial is its value where none is, and says which type it has. */
export function remembered<T extends string | number>(name: string, initial: T): Signal<T extends number ? number : T> {
	const old = view[name];
	const value = signal<unknown>(typeof old === typeof initial ? old : initial);
	effect(() => {
		if (value.value === (view[name] ?? initial)) return;
		Object.assign(view, read(), { [name]: value.value }); // other pages may have changed the rest
		// biome-ignore lint/suspicious/noDocumentCookie: browsers without a cookie store have it, too
		document.cookie = `${cookie}=${encodeURIComponent(JSON.stringify(view))}; path=/; max-age=${year}; samesite=strict`;
	});
	return value as Signal<T extends number ? number : T>;
}

function read(): Record<string, unknown> {
	const found = document.cookie.split("; ").find((one) => one.startsWith(`${cookie}=`));
	try {
		return JSON.parse(decodeURIComponent(found?.slice(cookie.length + 1) ?? "")) ?? {};
	} catch {
		return {};
	}
}
