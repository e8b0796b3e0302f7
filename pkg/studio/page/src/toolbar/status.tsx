import type { State } from "../protocol";
import { doc, link, past, state } from "../store";
import { capital } from "../ui/sentence";

/** Says what runs, and what is unsaved. */
export function Status() {
	const saved = savedNow();
	return (
		<div role="status" aria-label="State" class={`status is-${tone()}`} title={doingNow()}>
			<span class="dot" />
			<span class="doing" dir="auto">
				{doingNow()}
			</span>
			{saved && <span class="unsaved"> · {saved}</span>}
		</div>
	);
}

/** Nothing is said of a recording that has neither steps nor a file. */
function savedNow(): string {
	if (!state.value || !doc.value || past.value !== null) return "";
	if (state.value.unsaved) return "unsaved changes";
	return state.value.file ? "saved" : "";
}

function tone(): string {
	if (link.value.status !== "open") return "failed";
	const { activity = "opening" } = state.value ?? {};
	if (activity === "lost") return "failed";
	if (activity !== "idle") return "running";
	return records() ? "recording" : "idle";
}

const words: Record<State["activity"], string> = {
	opening: "Opening the device",
	idle: "Ready",
	acting: "Acting",
	replaying: "Replaying",
	saving: "Saving",
	lost: "The device is lost",
};

function doingNow(): string {
	switch (link.value.status) {
		case "connecting":
			return "Connecting";
		case "lost":
			return "Reconnecting";
		case "ended":
			return "Ended";
	}
	if (!state.value) return "Connecting";
	const { activity, device, doing } = state.value;
	if (doing || activity !== "idle") return capital(doing) || words[activity];
	if (past.value !== null) return "Looking back";
	if (device === "") return "No device";
	return records() ? "Recording" : words.idle;
}

/** Whether what somebody does on the screen is recorded now. */
function records(): boolean {
	return state.value?.recording === true && state.value.device !== "" && past.value === null;
}
