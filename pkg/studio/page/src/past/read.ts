import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { failureOf } from "../connection";
import type { Failure } from "../protocol";
import { link } from "../store";

/** What is being read: its value, or why there is none; neither while it is read. */
export interface Reading<T> {
	value?: T;
	failure?: Failure;
}

/** Reads something as soon as the page is connected, and again when the key changes. */
export function useReading<T>(key: string, read: () => Promise<T>): Reading<T> {
	const result = useSignal<Reading<T> & { key: string }>({ key });
	const connected = link.value.status === "open";
	useEffect(() => {
		if (!connected) return;
		let current = true;
		const set = (reading: Reading<T>) => {
			if (current) result.value = { key, ...reading };
		};
		read().then(
			(value) => set({ value }),
			(error) => set({ failure: failureOf(error) }),
		);
		return () => {
			current = false;
		};
	}, [key, connected]);
	return result.value.key === key ? result.value : {};
}

/** Why something could not be read. */
export function reasonOf({ message, hint }: Failure): string {
	return hint ? `${message} (${hint})` : message;
}

/** How long something took, in words. */
export function durationOf(ms: number): string {
	return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** The URL of a file of a session. */
export function fileURL(session: string, name: string): string {
	return `past/${encodeURIComponent(session)}/${name.split("/").map(encodeURIComponent).join("/")}`;
}
