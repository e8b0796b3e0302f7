import { useSignal } from "@preact/signals";
import { request } from "../connection";
import type { PastOutcome, SessionSummary } from "../protocol";
import { past } from "../store";
import { Button } from "../ui/button";
import { Search } from "../ui/search";
import { reasonOf, useReading } from "./read";

/** The words for outcomes: those of the reports. */
export const words: Record<PastOutcome, string> = {
	"": "",
	passed: "passed",
	failed: "failed",
	error: "error",
	skipped: "skipped",
	unfinished: "did not end",
};

/** The sessions that can be looked back at, the newest first. */
export function Sessions() {
	const { value, failure } = useReading("", () => request<SessionSummary[]>({ do: "sessions" }));
	const text = useSignal("");
	const wanted = text.value.toLowerCase().split(/\s+/).filter(Boolean);
	const fits = (s: SessionSummary) => {
		const all = `${s.title} ${s.session} ${s.device} ${words[s.outcome]}`.toLowerCase();
		return wanted.every((word) => all.includes(word));
	};
	const found = value?.filter(fits) ?? [];
	return (
		<main class="past sessions" aria-label="Finished sessions">
			<header class="past-head">
				<h2>Finished sessions</h2>
				<Search name="Find a session" placeholder="Find a trail, device, outcome" text={text} />
				<Button icon="close" onClick={() => (past.value = null)}>
					Back to recording
				</Button>
			</header>
			{failure && <p class="reason is-failed">{reasonOf(failure)}</p>}
			{!value && !failure && <p class="empty">Reading the sessions…</p>}
			{value && found.length === 0 && (
				<p class="empty">
					{value.length === 0
						? "No session has ended yet. Runs, and sessions of this project, are listed here."
						: "No session is like that."}
				</p>
			)}
			<ul class="session-list">
				{found.map((s) => (
					<li key={s.session}>
						<button
							type="button"
							class={`session is-${s.outcome || "new"}`}
							title={s.session}
							onClick={() => (past.value = s.session)}
						>
							<span class="mark" aria-hidden="true" />
							<span class="session-title" dir="auto">
								{s.title}
							</span>
							<span class="word">{words[s.outcome]}</span>
							<span class="dim">{s.device}</span>
							<time class="dim" dateTime={s.when}>
								{dateOf(s.when)}
							</time>
						</button>
					</li>
				))}
			</ul>
		</main>
	);
}

/** Day and time of day. */
export function dateOf(time: string): string {
	const at = new Date(time);
	return Number.isNaN(at.getTime()) ? "" : at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
