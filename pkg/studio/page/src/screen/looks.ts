// Keeps what is known of the elements of the screen up to date, while somebody looks at them.
import { batch } from "@preact/signals";
import { request } from "../connection";
import type { Look } from "../protocol";
import { controls, hovered, link, look, lookIsOld, mode, panel, past, shown, state } from "../store";
import { isPointerOver } from "./gestures";

/** How long a screen has to stay the same before it is looked at, and how often that is at most, in milliseconds. */
const settleTime = 250;
const interval = 400;

let lastPicture = 0;
let lastLook = 0;
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
	if (looking || !lookIsOld.value || !isWanted() || now - lastPicture < settleTime || now - lastLook < interval) return;
	looking = true;
	lookIsOld.value = false;
	try {
		const result = await request<Look>({ do: "look" });
		batch(() => {
			look.value = result;
			hovered.value = null;
		});
	} catch {
		lookIsOld.value = true; // The device may be busy, or gone, which its state says.
	}
	looking = false;
	lastLook = performance.now();
}

function isWanted(): boolean {
	const { activity = "opening" } = state.value ?? {};
	if (link.value.status !== "open" || past.value !== null || !["idle", "acting"].includes(activity)) return false;
	return isPointerOver() || panel.value === "Elements" || (controls.value && mode.value !== "act");
}
