import type { ComponentChildren } from "preact";
import { ask } from "./connection";
import { failure, link, state } from "./store";
import { Button } from "./ui/button";
import { sentence } from "./ui/sentence";

/** What the person must know before going on, below the toolbar. */
export function Banners() {
	return (
		<div class="banners">
			<Connection />
			<Control />
			<Lost />
			<Kept />
			<Failed />
		</div>
	);
}

function Banner({
	tone,
	children,
	buttons,
}: {
	tone: string;
	children: ComponentChildren;
	buttons?: ComponentChildren;
}) {
	return (
		<div class={`banner is-${tone}`} role={tone === "failed" ? "alert" : undefined}>
			<p dir="auto">{children}</p>
			{buttons}
		</div>
	);
}

function Connection() {
	switch (link.value.status) {
		case "lost":
			return <Banner tone="failed">The connection to trailblaze was lost. This page connects again by itself.</Banner>;
		case "ended":
			return (
				<Banner tone="failed">
					Disconnected: {link.value.why}. What was not saved is in <code>recording.trail.yaml</code> in the session's
					folder.
				</Banner>
			);
		default:
			return null;
	}
}

function Control() {
	if (!state.value || state.value.controls || link.value.status !== "open") return null;
	const take = <Button onClick={() => void ask({ do: "takeOver" })}>Take over</Button>;
	return (
		<Banner tone="running" buttons={take}>
			Another page controls this session. You can look on.
		</Banner>
	);
}

function Lost() {
	if (state.value?.activity !== "lost" || link.value.status !== "open") return null;
	const { device, doing } = state.value;
	const again = <Button onClick={() => void ask({ do: "device", name: device })}>Open again</Button>;
	return (
		<Banner tone="failed" buttons={again}>
			{sentence(doing || "The device was lost")} The recording is kept. Open the device again, or choose another one.
		</Banner>
	);
}

function Kept() {
	const kept = state.value?.kept;
	if (!kept) return null;
	return (
		<Banner
			tone="running"
			buttons={
				<>
					<Button onClick={() => void ask({ do: "restore", keep: true })}>Restore</Button>
					<Button onClick={() => void ask({ do: "restore", keep: false })}>Forget</Button>
				</>
			}
		>
			A session that was interrupted on {new Date(kept.when).toLocaleString()} left a recording with {kept.steps}{" "}
			{kept.steps === 1 ? "step" : "steps"}.
		</Banner>
	);
}

function Failed() {
	if (!failure.value) return null;
	const { message, hint } = failure.value;
	const dismiss = (
		<Button icon="close" compact onClick={() => (failure.value = null)}>
			Dismiss
		</Button>
	);
	return (
		<Banner tone="failed" buttons={dismiss}>
			{sentence(message)}
			{hint && <span class="hint"> {sentence(hint)}</span>}
		</Banner>
	);
}
