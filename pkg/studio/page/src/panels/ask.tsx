import { useSignal } from "@preact/signals";
import { ask } from "../connection";
import type { Ask } from "../protocol";
import { controls, state } from "../store";
import { Dialog } from "../ui/dialog";

/** The dialogs and choosers of the device, except the popup of a select, which is on the picture. */
export function Asks() {
	const question = state.value?.ask;
	if (!question || question.kind === "select" || !controls.value) return null;
	return <Question key={question.id} question={question} />;
}

const names: Record<Exclude<Ask["kind"], "select">, string> = {
	alert: "The page says",
	confirm: "The page asks",
	prompt: "The page asks",
	beforeunload: "Leave the page?",
	files: "Choose files",
	date: "Choose a date",
};

function Question({ question }: { question: Ask }) {
	const { id, kind, text, multiple } = question;
	const value = useSignal(question.value);
	const answer = (ok: boolean) => {
		const given = value.value;
		const files = given
			.split("\n")
			.map((line) => line.trim())
			.filter(Boolean);
		void ask({
			do: "answer",
			ask: id,
			ok,
			...(kind === "files" ? { values: files } : kind === "prompt" || kind === "date" ? { text: given } : {}),
		});
	};
	if (kind === "select") return null;
	return (
		<Dialog name={names[kind]} plain={kind === "alert"} onCancel={() => answer(false)} onOK={() => answer(true)}>
			{text && (
				<p class="said" dir="auto">
					{text}
				</p>
			)}
			{kind === "prompt" && (
				<input
					aria-label="Answer"
					dir="auto"
					value={value.value}
					onInput={(event) => (value.value = event.currentTarget.value)}
				/>
			)}
			{kind === "date" && (
				<input
					aria-label="Date"
					type={dateType(question.value)}
					value={value.value}
					onInput={(event) => (value.value = event.currentTarget.value)}
				/>
			)}
			{kind === "files" && (
				<label class="field">
					<span class="label">Paths, relative to the trail{multiple && ", one a line"}</span>
					<textarea
						rows={multiple ? 4 : 1}
						spellcheck={false}
						value={value.value}
						onInput={(event) => (value.value = event.currentTarget.value)}
					/>
				</label>
			)}
		</Dialog>
	);
}

/** The type of an input that has values like this one. */
function dateType(value: string): "date" | "datetime-local" | "time" | "week" | "month" {
	if (/^\d+-\d\d-\d\dT/.test(value)) return "datetime-local";
	if (/^\d\d:\d\d/.test(value)) return "time";
	if (/^\d+-W\d\d$/.test(value)) return "week";
	return /^\d+-\d\d$/.test(value) ? "month" : "date";
}
