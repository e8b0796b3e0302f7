import { useEffect, useState } from "preact/hooks";
import { failureOf, request } from "../connection";
import type { Call, Failure } from "../protocol";
import { editable, mode, ready } from "../store";
import { tools } from "../tools/list";
import { MakeVariable } from "../variables/make";
import { ArgumentsForm } from "./arguments";
import { type Args, validate } from "./schema";

/** The arguments of the selected call, as a form from its tool's schema. Each change is an edit of the document. */
export function CallForm({ call }: { call: Call }) {
	return <Form key={`${call.number} ${call.tool}`} call={call} />;
}

function Form({ call }: { call: Call }) {
	// What the document does not have: an edit that is being made, that was refused, or that has problems.
	const [changed, setChanged] = useState<Args | null>(null);
	const [failure, setFailure] = useState<Failure | null>(null);
	const [text, setText] = useState<{ text: string; put: (text: string) => void } | null>(null);
	const schema = tools.value.find(({ name }) => name === call.tool)?.schema ?? null;
	const args = changed ?? call.args;
	const problems = schema ? validate(schema, args) : new Map();
	const forget = () => {
		setChanged(null);
		setFailure(null);
	};
	useEffect(forget, [JSON.stringify(call.args)]);

	const change = async (next: Args) => {
		setChanged(next);
		setFailure(null);
		if (schema && validate(schema, next).size > 0) return;
		try {
			await request({ do: "edit", edit: { op: "args", call: call.number, args: next } });
		} catch (error) {
			setFailure(failureOf(error));
		}
	};
	return (
		<div class="call-form">
			<ArgumentsForm
				schema={schema}
				args={args}
				onChange={change}
				problems={problems}
				missing
				disabled={!editable.value}
				onPick={ready.value ? () => (mode.value = "pick") : undefined}
				onMakeVariable={(text, put) => setText({ text, put })}
			/>
			<div role="status">
				{(failure || problems.size > 0) && (
					<div class="not-applied">
						<p>
							<strong>Not applied:</strong>{" "}
							<span dir="auto">{failure?.message ?? "some arguments are missing or wrong"}.</span>{" "}
							{failure?.hint && <span class="dim">{failure.hint}</span>}
						</p>
						<button type="button" class="button bordered" onClick={forget}>
							Revert
						</button>
					</div>
				)}
			</div>
			{text && <MakeVariable {...text} onDone={() => setText(null)} />}
		</div>
	);
}
