// Keeps what is known of the elements of the screen up to date, while somebody looks at them.
import { request } from "../connection";
import type { Look } from "../protocol";
import { controls, link, look, lookIsOld, mode, panel, past, pointer, shown, state } from "../store";

/** How long a screen has to stay the same before it is looked at, and the time between two looks, in milliseconds. */
const settleTime = 250;
const interval = 400;
/** A look that takes long is followed by a pause that is this much longer, up to some milliseconds. */
const pause = 4;
const longestPause = 5000;

let lastPicture = 0;
let nextLook = 0;
let looking = false;

shown.subscribe(() => {
	lastPicture = performance.now();
});

/** Starts to look whenever it is needed. */
export function keepLooking(): void {
	setInterval(() => void lookAgain(), 100);
}

async function lookAgain(): Promise<void> {
	const now = performance.now();
	if (looking || !lookIsOld.value || !isWanted() || now - lastPicture < settleTime || now < nextLook) return;
	looking = true;
	lookIsOld.value = false;
	try {
		look.value = await request<Look>({ do: "look" });
	} catch {
		lookIsOld.value = true; // The device may be busy, or gone, which its state says.
	}
	looking = false;
	const done = performance.now();
	nextLook = done + Math.max(interval, Math.min(pause * (done - now), longestPause));
}

function isWanted(): boolean {
	const { activity = "opening" } = state.value ?? {};
	if (link.value.status !== "open" || past.value !== null || !["idle", "acting"].includes(activity)) return false;
	return pointer.value !== null || panel.value === "Elements" || (controls.value && mode.value !== "act");
}
