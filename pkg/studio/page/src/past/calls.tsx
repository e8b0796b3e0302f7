import { useMemo } from "preact/hooks";
import type { Moment } from "../protocol";
import { Tree, type TreeRow } from "../ui/tree";
import { durationOf } from "./read";

interface Row extends TreeRow {
	/** The index of the moment; of a step, that of its first. */
	index: number;
	moment: Moment;
	isStep: boolean;
}

interface Props {
	moments: Moment[];
	at: number;
	onChoose: (index: number) => void;
}

const height = 26;
const messageHeight = 20;

/** The calls of a session, below their steps. */
export function Calls({ moments, at, onChoose }: Props) {
	const rows = useMemo(() => rowsOf(moments), [moments]);
	return (
		<section aria-label="Calls" class="past-calls">
			<Tree
				name="Calls"
				rows={rows}
				selected={String(at)}
				follows
				onSelect={(row) => onChoose(row.index)}
				onOpen={() => undefined}
				empty=""
			>
				{(row) => <RowContent {...row} />}
			</Tree>
		</section>
	);
}

function rowsOf(moments: Moment[]): Row[] {
	const rows: Row[] = [];
	let step = -1;
	moments.forEach((moment, index) => {
		if (moment.step && moment.step !== moments[step]?.step) {
			step = index;
			const row = { key: `step ${moment.step} ${index}`, level: 1, height: height + 2, class: "is-step" };
			rows.push({ ...row, open: true, index, moment, isStep: true, position: 0, siblings: 0 });
		}
		rows.push({
			key: String(index),
			level:
				1 + moment.call.split(".").length - (moment.step ? moment.step.split(".").length : 1) + (moment.step ? 0 : 1),
			height: height + (moment.outcome === "failed" ? messageHeight : 0),
			class: `is-${moment.outcome || "unfinished"} ${moment.optional ? "is-optional" : ""}`,
			position: 0,
			siblings: 0,
			index,
			moment,
			isStep: false,
		});
	});
	return number(rows);
}

/** Fills in the places among siblings. */
function number(rows: Row[]): Row[] {
	const lists: Row[][] = [];
	const close = (level: number) => {
		for (const list of lists.splice(level)) for (const row of list) row.siblings = list.length;
	};
	for (const row of rows) {
		close(row.level);
		const list = lists[row.level - 1] ?? [];
		lists[row.level - 1] = list;
		row.position = list.push(row);
	}
	close(0);
	return rows;
}

function RowContent({ moment: m, isStep }: Row) {
	if (isStep)
		return (
			<span class="row-content">
				<span class="row-line">
					<span class="number dim">{m.step}</span>
					<span class="text" dir="auto" title={m.stepText}>
						{m.stepText || "Step without a text"}
					</span>
				</span>
			</span>
		);
	return (
		<span class="row-content">
			<span class="row-line">
				<span class="mark" aria-hidden="true" />
				<span class="hidden-text">{m.outcome || "did not end"}: </span>
				<span class="brief" dir="auto" title={`${m.call} ${m.tool}`}>
					{m.brief}
				</span>
				{m.optional && <span class="tag">optional</span>}
				{m.outcome && <span class="took dim">{durationOf(m.durationMs)}</span>}
			</span>
			{m.outcome === "failed" && (
				<span class="message" dir="auto" title={m.message}>
					{m.message}
				</span>
			)}
		</span>
	);
}
