import type { Failure, Saved } from "../protocol";
import { Button } from "../ui/button";
import { Dialog } from "../ui/dialog";
import { fileOf, saveAs, saving, type Wish } from "./saving";

/** The dialogs of a save. */
export function SaveDialog() {
	const now = saving.value;
	switch (now?.stage) {
		case "name":
			return <NameDialog wish={now.wish} />;
		case "refused":
			return <RefusedDialog wish={now.wish} failure={now.failure} />;
		case "saved":
			return <ResultDialog wish={now.wish} saved={now.saved} />;
		default:
			return null;
	}
}

function close() {
	saving.value = null;
}

function NameDialog({ wish }: { wish: Wish }) {
	const change = (part: Partial<Wish>) => {
		saving.value = { stage: "name", wish: { ...wish, ...part } };
	};
	const retitle = (title: string) => {
		const follows = wish.file === fileOf(wish.title);
		change({ title, file: follows ? fileOf(title) : wish.file });
	};
	return (
		<Dialog name="Save" ok="Save" disabled={wish.file.trim() === ""} onCancel={close} onOK={() => void saveAs(wish)}>
			<label class="field">
				<span class="label">Title</span>
				<input
					dir="auto"
					placeholder="What the trail tests"
					value={wish.title}
					onInput={(event) => retitle(event.currentTarget.value)}
				/>
			</label>
			<label class="field">
				<span class="label">File</span>
				<input value={wish.file} onInput={(event) => change({ file: event.currentTarget.value })} spellcheck={false} />
			</label>
			<label class="check">
				<input
					type="checkbox"
					checked={!wish.noReplay}
					onChange={(event) => change({ noReplay: !event.currentTarget.checked })}
				/>
				Replay it in a fresh session first
			</label>
		</Dialog>
	);
}

function RefusedDialog({ wish, failure }: { wish: Wish; failure: Failure }) {
	return (
		<Dialog name="Not saved" ok="OK" plain onCancel={close} onOK={close}>
			<p dir="auto">{failure.message}</p>
			{failure.hint && (
				<p class="hint" dir="auto">
					{failure.hint}
				</p>
			)}
			{failure.problems && (
				<ul class="problems">
					{failure.problems.map((problem) => (
						<li key={`${problem.line}:${problem.message}`} dir="auto">
							{problem.line > 0 && <span class="dim">line {problem.line}: </span>}
							{problem.message}
						</li>
					))}
				</ul>
			)}
			<OtherWays wish={wish} ways={waysOf(wish, failure)} />
		</Dialog>
	);
}

function ResultDialog({ wish, saved }: { wish: Wish; saved: Saved }) {
	const { replayed } = saved;
	return (
		<Dialog name={saved.written ? "Saved" : "Not saved"} ok="OK" plain onCancel={close} onOK={close}>
			<p>
				{saved.written ? "Written to " : "Nothing was written to "}
				<code>{saved.file}</code>.
			</p>
			{replayed && replayed.outcome !== "passed" && (
				<div class="reason is-failed">
					<p dir="auto">
						The replay {replayed.outcome} in step {replayed.step}
						{replayed.tool && `, ${replayed.tool}`}: {replayed.reason}
					</p>
					{replayed.hint && (
						<p class="hint" dir="auto">
							{replayed.hint}
						</p>
					)}
				</div>
			)}
			{saved.warnings.map((warning) => (
				<p class="reason is-error" key={warning} dir="auto">
					{warning}
				</p>
			))}
			{saved.diff && <Diff text={saved.diff} />}
			{!saved.written && <OtherWays wish={wish} ways={["noReplay"]} />}
		</Dialog>
	);
}

type Way = "noReplay" | "overwrite" | "otherFile";

/** What may help after a refusal: another file if it is about the file, no replay if a session could not be used. */
function waysOf({ noReplay }: Wish, { kind = "", overwrite, problems }: Failure): Way[] {
	if (problems) return [];
	if (overwrite) return ["overwrite", "otherFile"];
	if (["misuse", "invalid arguments", "io"].includes(kind)) return ["otherFile"];
	return noReplay ? [] : ["noReplay"];
}

function OtherWays({ wish, ways }: { wish: Wish; ways: Way[] }) {
	const buttons: Record<Way, [name: string, run: () => void]> = {
		noReplay: ["Save without a replay", () => void saveAs({ ...wish, noReplay: true })],
		overwrite: ["Overwrite the file", () => void saveAs({ ...wish, overwrite: "all" })],
		otherFile: [
			"Save as another file",
			() => {
				saving.value = { stage: "name", wish };
			},
		],
	};
	return (
		<div class="other-ways">
			{ways.map((way) => (
				<Button key={way} class="bordered" onClick={buttons[way][1]}>
					{buttons[way][0]}
				</Button>
			))}
		</div>
	);
}

/** A difference in the unified format. */
function Diff({ text }: { text: string }) {
	return (
		<section class="diff" aria-label="Difference" tabIndex={0}>
			<pre>
				{text.split("\n").map((line, i) => (
					<span key={i} class={lineKind(line)}>
						{line}
						{"\n"}
					</span>
				))}
			</pre>
		</section>
	);
}

function lineKind(line: string): string {
	if (line.startsWith("+++") || line.startsWith("---") || line.startsWith("@@")) return "place";
	return { "+": "added", "-": "removed" }[line[0] ?? ""] ?? "";
}
