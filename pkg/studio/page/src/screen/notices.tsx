import { perform } from "../connection";
import type { Notice } from "../protocol";
import { controls, state } from "../store";
import { Button } from "../ui/button";

/** What happened on the device beside the picture. */
export function Notices() {
	const notices = state.value?.notices ?? [];
	if (notices.length === 0) return null;
	return (
		<ul class="notices" aria-label="Notices" aria-live="polite">
			{notices.map((notice) => (
				<li key={notice.id} class={`notice is-${tones[notice.kind]}`}>
					<p dir="auto">
						{notice.kind === "tab" && "New tab: "}
						{notice.text}
					</p>
					{notice.kind === "tab" && <Answer notice={notice} action="switch" name="Switch" />}
					{notice.kind === "download" && <Answer notice={notice} action="keep" name="Keep" />}
					{notice.kind === "data" && <Answer notice={notice} action="fresh" name="Start fresh" />}
					<Answer notice={notice} action="dismiss" name="Dismiss" />
				</li>
			))}
		</ul>
	);
}

const tones: Record<Notice["kind"], string> = {
	tab: "running",
	download: "running",
	data: "running",
	dialog: "running",
	crash: "failed",
	anr: "failed",
	warning: "error",
};

function Answer({
	notice,
	action,
	name,
}: {
	notice: Notice;
	action: "switch" | "keep" | "fresh" | "dismiss";
	name: string;
}) {
	return (
		<Button
			icon={action === "dismiss" ? "close" : undefined}
			compact={action === "dismiss"}
			class={action === "dismiss" ? "" : "bordered"}
			disabled={!controls.value}
			onClick={() => void perform({ do: "notice", notice: notice.id, action })}
		>
			{name}
		</Button>
	);
}
