import { useState } from "preact/hooks";
import { failureOf, request } from "../connection";
import { Dialog } from "../ui/dialog";
import { NameField, problemOfName } from "./name";

interface Props {
	text: string;
	/** Puts a text in its place. */
	put: (text: string) => void;
	onDone: () => void;
}

/** Asks for a name for a text, makes it a variable or a secret, and puts {{NAME}} in its place. */
export function MakeVariable({ text, put, onDone }: Props) {
	const [name, setName] = useState("");
	const [secret, setSecret] = useState(false);
	const [tried, setTried] = useState(false);
	const [refusal, setRefusal] = useState("");
	const [waiting, setWaiting] = useState(false);
	const problem = problemOfName(name, true);
	const make = async () => {
		setTried(true);
		if (problem) return;
		setWaiting(true);
		try {
			await request({ do: "variable", name, value: text, secret });
			put(`{{${name}}}`);
			onDone();
		} catch (error) {
			setRefusal(failureOf(error).message);
			setWaiting(false);
		}
	};
	return (
		<Dialog name="Make a variable" ok="Make variable" onOK={make} onCancel={onDone} disabled={waiting}>
			<NameField name={name} onInput={setName} problem={refusal || (tried ? problem : "")} />
			{!secret && (
				<p class="dim">
					Its value in this session: <code dir="auto">{text}</code>
				</p>
			)}
			<label class="check">
				<input type="checkbox" checked={secret} onChange={(event) => setSecret(event.currentTarget.checked)} />
				Secret: never shown, pictured or written
			</label>
			<p class="dim">The session opens again with it.</p>
		</Dialog>
	);
}
