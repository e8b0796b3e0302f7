import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { request } from "../connection";
import type { LogLine, PageLog } from "../protocol";
import { log, shown, state } from "../store";
import { Button } from "../ui/button";
import { remembered } from "../ui/remembered";
import { Splitter } from "../ui/splitter";
import { type Tab, Tabs } from "../ui/tabs";
import { useWindow } from "../ui/window";
import "./logs.css";

type Name = "Log" | "Network" | "Console";

const chosen = remembered<Name | "">("logs", "");
/** Of the height of the page, in percent. */
const share = remembered("logsHeight", 22);

/** What happens in the session, and what the page of the device requests and writes. */
export function Logs() {
	return (
		<>
			{chosen.value && <Splitter name="Height of the logs" share={share} side="bottom" />}
			<div class={`logs ${chosen.value ? "is-open" : ""}`} style={{ "--height": `${share.value}vh` }}>
				<Tabs<Name>
					name="Logs"
					chosen={chosen.value}
					onChoose={(name) => (chosen.value = name)}
					tabs={[
						{ name: "Log", ...problemsIn(log.value), content: () => <Log /> },
						{ name: "Network", content: () => <OfPage show="requests" /> },
						{ name: "Console", content: () => <OfPage show="console" /> },
					]}
				>
					{chosen.value && (
						<Button icon="close" compact onClick={() => (chosen.value = "")}>
							Close
						</Button>
					)}
				</Tabs>
			</div>
		</>
	);
}

/** How many lines are errors; without any, how many are warnings. */
function problemsIn(lines: LogLine[]): Pick<Tab<Name>, "note" | "tone"> {
	const count = (wanted: LogLine["level"]) => lines.filter(({ level }) => level === wanted).length;
	const [errors, warnings] = [count("error"), count("warn")];
	return { note: String(errors || warnings || ""), tone: errors ? "failed" : "error" };
}

function Log() {
	return (
		<Lines
			empty="Nothing was logged yet."
			lines={log.value.map(({ time, level, text }) => ({ time: clock(time), level, text }))}
		/>
	);
}

/** The time of day. */
export function clock(time: string): string {
	const at = new Date(time);
	return Number.isNaN(at.getTime()) ? time : at.toLocaleTimeString(undefined, { hour12: false });
}

/** How long the screen has to stay the same before it is read again what the page did, in milliseconds. */
const settleTime = 500;

function OfPage({ show }: { show: "requests" | "console" }) {
	const read = useSignal<PageLog | null>(null);
	useEffect(() => {
		let timer: ReturnType<typeof setTimeout>;
		const update = () => {
			clearTimeout(timer);
			timer = setTimeout(() => {
				request<PageLog>({ do: "pageLog", show }).then(
					(result) => (read.value = result),
					() => undefined, // The device may be busy, or gone, which its state says.
				);
			}, settleTime);
		};
		const stops = [shown.subscribe(update), state.subscribe(update)];
		return () => {
			clearTimeout(timer);
			for (const stop of stops) stop();
		};
	}, [show]);
	const { earlier = [], sinceLastAction = [], more = 0 } = read.value ?? {};
	const line = (text: string): Line => ({ time: "", level: "info", text });
	const lines = [
		...earlier.map(line),
		{ time: "", level: "mark", text: "Since the last action" } as const,
		...sinceLastAction.map(line),
	];
	if (more > 0) lines.unshift(line(`${more} more lines came before these`));
	const none = earlier.length + sinceLastAction.length === 0;
	return (
		<Lines empty={show === "requests" ? "No requests yet." : "Nothing in the console yet."} lines={none ? [] : lines} />
	);
}

export interface Line {
	time: string;
	level: LogLine["level"] | "mark";
	text: string;
}

const lineHeight = 20;

/** Lines, the newest last and in view. */
export function Lines({ lines, empty }: { lines: Line[]; empty: string }) {
	const view = useWindow(
		lines.map(({ text }) => lineHeight * Math.min(text.split("\n").length, 12)),
		-1,
	);
	const follows = useRef(true);
	useLayoutEffect(() => {
		if (follows.current) view.show(lines.length - 1);
	}, [lines.length]);
	if (lines.length === 0) return <p class="empty">{empty}</p>;
	return (
		<div
			class="scroll lines"
			ref={view.ref}
			tabIndex={0}
			role="log"
			aria-label="Lines"
			onScroll={(event) => {
				const { scrollTop, clientHeight, scrollHeight } = event.currentTarget;
				follows.current = scrollTop + clientHeight >= scrollHeight - lineHeight;
				view.onScroll();
			}}
		>
			<div class="rows" style={{ height: `${view.height}px` }}>
				{view.rows.map(({ index, top }) => (
					<div key={index} class={`line is-${lines[index]?.level}`} style={{ top: `${top}px` }}>
						<span class="time">{lines[index]?.time}</span>
						<span dir="auto">{lines[index]?.text}</span>
					</div>
				))}
			</div>
		</div>
	);
}
