import { useSignal } from "@preact/signals";
import { clock, type Line, Lines } from "../logs/logs";
import type { LogLine, Moment, Past } from "../protocol";
import { Tabs } from "../ui/tabs";
import { durationOf, fileURL, reasonOf, useReading } from "./read";

type Name = "Call" | "Log" | "Network" | "Console" | "Elements";

/** What is known of a moment besides its pictures. */
export function Details({ of, at }: { of: Past; at: number }) {
	const chosen = useSignal<Name>("Call");
	const moment = of.moments[at];
	if (!moment) return null;
	const log = logOf(of, at);
	const note = (lines: unknown[]) => (lines.length > 0 ? String(lines.length) : "");
	const failed = log.some(({ level }) => level === "error");
	return (
		<div class="side past-details">
			<Tabs<Name>
				name="Details"
				chosen={chosen.value}
				onChoose={(name) => (chosen.value = name)}
				tabs={[
					{ name: "Call", content: () => <OfCall moment={moment} hint={at === of.failed ? of.hint : ""} /> },
					{
						name: "Log",
						note: note(log),
						tone: failed ? "failed" : undefined,
						content: () => (
							<Lines
								key={at}
								empty="Nothing was logged during this call."
								lines={log.map(({ time, level, text }) => ({ time: clock(time), level, text }))}
							/>
						),
					},
					{
						name: "Network",
						note: note(moment.requests),
						content: () => (
							<Lines key={at} empty="No requests ended during this call." lines={linesOf(moment.requests)} />
						),
					},
					{
						name: "Console",
						note: note(moment.console),
						content: () => (
							<Lines key={at} empty="Nothing was written to the console." lines={linesOf(moment.console)} />
						),
					},
					{ name: "Elements", content: () => <Elements session={of.session} file={moment.tree} /> },
				]}
			/>
		</div>
	);
}

/** The lines of the log from a call until the next one; those before the first call belong to it. */
function logOf({ moments, log }: Past, at: number): LogLine[] {
	const time = (index: number) => Date.parse(moments[index]?.time ?? "");
	const from = at === 0 ? -Infinity : time(at);
	const to = at === moments.length - 1 ? Infinity : time(at + 1);
	return log.filter((line) => Date.parse(line.time) >= from && Date.parse(line.time) < to);
}

const linesOf = (texts: string[]): Line[] => texts.map((text) => ({ time: "", level: "info", text }));

function OfCall({ moment: m, hint }: { moment: Moment; hint: string }) {
	const step = m.step && `${m.step} ${m.stepText}`;
	return (
		<dl class="call-facts">
			{m.message && m.outcome === "failed" && (
				<dd class="reason is-failed" dir="auto">
					{reasonOf({ message: m.message, hint })}
				</dd>
			)}
			<Fact name="Tool">
				<code>{m.tool}</code> <span class={`word is-${m.outcome || "unfinished"}`}>{m.outcome || "did not end"}</span>
			</Fact>
			<Fact name="Step">{step}</Fact>
			<Fact name="Took">{m.outcome && durationOf(m.durationMs)}</Fact>
			<Fact name="Page">{m.url}</Fact>
			<Fact name="Arguments">{m.args && <pre dir="auto">{m.args}</pre>}</Fact>
			<Fact name="Result">{m.outcome !== "failed" && m.message && <pre dir="auto">{m.message}</pre>}</Fact>
		</dl>
	);
}

function Fact({ name, children }: { name: string; children: preact.ComponentChildren }) {
	if (!children) return null;
	return (
		<>
			<dt>{name}</dt>
			<dd dir="auto">{children}</dd>
		</>
	);
}

function Elements({ session, file }: { session: string; file: string }) {
	const { value, failure } = useReading(`${session} ${file}`, async () => {
		if (file === "") return "";
		const response = await fetch(fileURL(session, file));
		if (!response.ok) throw new Error("the elements could not be read");
		return response.text();
	});
	if (failure) return <p class="reason is-failed">{reasonOf(failure)}</p>;
	if (value === "") return <p class="empty">The elements of this moment were not kept.</p>;
	return (
		<pre class="elements-text" tabIndex={0} dir="auto">
			{value}
		</pre>
	);
}
