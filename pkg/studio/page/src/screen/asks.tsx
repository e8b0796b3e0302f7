import { useSignal } from "@preact/signals";
import { perform } from "../connection";
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
	date: "Choose a value",
};

const inputs = {
	color: "Colour",
	date: "Date",
	"datetime-local": "Date and time",
	month: "Month",
	time: "Time",
	week: "Week",
};

function Question({ question }: { question: Ask }) {
	const { id, kind, text, multiple } = question;
	const value = useSignal(question.value);
	const answer = (ok: boolean) => {
		const text = value.value;
		const paths = text.split("\n").map((line) => line.trim());
		const values = kind === "files" ? paths.filter(Boolean) : [text];
		void perform({ do: "answer", ask: id, ok, text, values });
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
					aria-label={inputs[question.input || "date"]}
					type={question.input || "date"}
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
