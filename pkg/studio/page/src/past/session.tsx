import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { report, request } from "../connection";
import type { Moment, Past } from "../protocol";
import { controls, past } from "../store";
import { Button } from "../ui/button";
import { Calls } from "./calls";
import { Details } from "./details";
import { Film } from "./film";
import { reasonOf, useReading } from "./read";
import { Screens } from "./screens";
import { dateOf, words } from "./sessions";

/** A finished session: its calls, and what the screen showed before and after each of them. */
export function Session({ name }: { name: string }) {
	const { value, failure } = useReading(name, () => request<Past>({ do: "past", session: name }));
	if (value) return <Loaded of={value} />;
	return (
		<main class="past" aria-label="Finished session">
			<Head title={name} />
			{failure ? <p class="reason is-failed">{reasonOf(failure)}</p> : <p class="empty">Reading the session…</p>}
		</main>
	);
}

function Loaded({ of }: { of: Past }) {
	const at = useSignal(Math.max(0, of.failed));
	const moment = of.moments[at.value];
	const choose = (index: number) => {
		at.value = Math.min(Math.max(index, 0), of.moments.length - 1);
	};
	return (
		<main class="past" aria-label="Finished session">
			<Head title={of.title} of={of} moment={moment} />
			{of.failed < 0 && of.reason && (
				<p class="reason is-failed" dir="auto">
					{reasonOf({ message: of.reason, hint: of.hint })}
				</p>
			)}
			{of.notes.map((note) => (
				<p class="past-note dim" key={note}>
					{note}
				</p>
			))}
			{moment ? (
				<div class="past-parts">
					<Calls moments={of.moments} at={at.value} onChoose={choose} />
					<div class="past-screens">
						<Screens session={of.session} moment={moment} />
						<Film session={of.session} moments={of.moments} at={at.value} onChoose={choose} />
					</div>
					<Details key={of.session} of={of} at={at.value} />
				</div>
			) : (
				<p class="empty">No call was made in this session.</p>
			)}
		</main>
	);
}

function Head({ title, of, moment }: { title: string; of?: Past; moment?: Moment }) {
	return (
		<header class={`past-head is-${of?.outcome || "new"}`}>
			{of?.outcome && <span class="mark" aria-hidden="true" />}
			<h2 dir="auto" title={of?.session}>
				{title}
			</h2>
			<p class="facts dim">
				<Fact>{words[of?.outcome ?? ""]}</Fact>
				<Fact>{of?.device}</Fact>
				<Fact>{dateOf(of?.moments[0]?.time ?? "")}</Fact>
			</p>
			{of?.file && (
				<Button
					kind="primary"
					title={`Open ${of.file} at this call`}
					disabled={!controls.value}
					onClick={() => void open(of, moment)}
				>
					Open the trail here
				</Button>
			)}
			<Button icon="past" onClick={() => (past.value = "")}>
				All sessions
			</Button>
			<Button icon="close" onClick={() => (past.value = null)}>
				Back to recording
			</Button>
		</header>
	);
}

function Fact({ children }: { children: ComponentChildren }) {
	return children ? <span>{children}</span> : null;
}

/** Opens the trail of a session at a call of the trail itself, and goes back to recording. */
async function open(of: Past, moment: Moment | undefined): Promise<void> {
	const inOther = moment?.step.includes("."); // of a trail that a step uses
	const number =
		moment?.call
			.split(".")
			.slice(0, inOther ? 1 : 2)
			.join(".") ?? "";
	try {
		await request({ do: "openPast", session: of.session, number });
		past.value = null;
	} catch (error) {
		report(error);
	}
}
