import type { State } from "../protocol";
import { doc, link, state } from "../store";

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
	if (!state.value || !doc.value) return "";
	if (state.value.unsaved) return "unsaved changes";
	return state.value.file ? "saved" : "";
}

function tone(): string {
	if (link.value.status !== "open") return "failed";
	const { activity = "opening", recording = false } = state.value ?? {};
	if (activity === "lost") return "failed";
	if (activity !== "idle") return "running";
	return recording ? "recording" : "idle";
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
	const { activity, doing, recording } = state.value;
	if (doing) return doing;
	return activity === "idle" && recording ? "Recording" : words[activity];
}
