import type { State } from "../protocol";
import { doc, link, state } from "../store";

/** Says what runs, and what is unsaved. */
export function Status() {
	return (
		<div role="status" aria-label="State" class={`status is-${tone()}`} title={doingNow()}>
			<span class="dot" />
			<span class="doing" dir="auto">
				{doingNow()}
			</span>
			{state.value && doc.value && <span class="unsaved"> · {state.value.unsaved ? "unsaved changes" : "saved"}</span>}
		</div>
	);
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
