import { useId, useRef, useState } from "preact/hooks";
import { ask, failureOf, request } from "../connection";
import type { Variable } from "../protocol";
import { controls, state } from "../store";
import { Button } from "../ui/button";
import { NameField, problemOfName } from "./name";
import "./variables.css";

/** The variables and secrets of this session. */
export function Variables() {
	const variables = state.value?.variables ?? [];
	const [changing, setChanging] = useState<Variable | null>(null);
	return (
		<div class="variables">
			{variables.length > 0 ? (
				<table class="variable-list">
					<thead>
						<tr>
							<th scope="col">Name</th>
							<th scope="col">Value</th>
							<th scope="col">
								<span class="hidden-text">Actions</span>
							</th>
						</tr>
					</thead>
					<tbody>
						{variables.map((variable) => (
							<tr key={variable.name}>
								<th scope="row">
									<code>{`{{${variable.name}}}`}</code>
								</th>
								<td dir="auto">{variable.secret ? <Dots /> : variable.value}</td>
								<td>
									<Button
										class="small bordered"
										disabled={!controls.value}
										onClick={() => setChanging({ ...variable })}
									>
										Change
									</Button>
									{variable.given && (
										<Button
											icon="close"
											class="small"
											compact
											disabled={!controls.value}
											onClick={() => void ask({ do: "removeVariable", name: variable.name })}
										>
											{`Remove ${variable.name}`}
										</Button>
									)}
								</td>
							</tr>
						))}
					</tbody>
				</table>
			) : (
				<p class="empty">
					No variables yet. Write <code>{"{{NAME}}"}</code> in arguments, and give NAME a value here.
				</p>
			)}
			<Add key={changing?.name} of={changing} onDone={() => setChanging(null)} />
		</div>
	);
}

function Dots() {
	return (
		<span>
			<span aria-hidden="true">••••••</span>
			<span class="hidden-text">secret</span>
		</span>
	);
}

/** Adds a variable, or gives one another value. */
function Add({ of, onDone }: { of: Variable | null; onDone: () => void }) {
	const id = useId();
	const [name, setName] = useState(of?.name ?? "");
	const [value, setValue] = useState(of?.value ?? "");
	const [secret, setSecret] = useState(of?.secret ?? false);
	const [tried, setTried] = useState(false);
	const [waiting, setWaiting] = useState(false);
	const [refusal, setRefusal] = useState("");
	const form = useRef<HTMLFormElement>(null);
	const problem = problemOfName(name, !of);
	const empty = () => {
		setName("");
		setValue("");
		setSecret(false);
		setTried(false);
		onDone();
		form.current?.querySelector("input")?.focus();
	};
	const add = async (event: Event) => {
		event.preventDefault();
		setTried(true);
		setRefusal("");
		if (problem || waiting || !controls.value) return;
		setWaiting(true);
		try {
			await request({ do: "variable", name, value, secret });
			empty();
		} catch (error) {
			const { message, hint } = failureOf(error);
			setRefusal([message, hint].filter(Boolean).join(": "));
		}
		setWaiting(false);
	};
	return (
		<form class="variable-add" onSubmit={add} ref={form} aria-label={of ? `Change ${of.name}` : "Add a variable"}>
			<h3>{of ? `Change ${of.name}` : "Add a variable"}</h3>
			{!of && <NameField name={name} onInput={setName} problem={tried ? problem : ""} />}
			<div class="field">
				<label class="label" for={`${id}-value`}>
					Value
				</label>
				<input
					{...(secret ? { type: "password" } : { type: "text" })}
					id={`${id}-value`}
					value={value}
					dir="auto"
					spellcheck={false}
					autocomplete="off"
					onInput={(event) => setValue(event.currentTarget.value)}
				/>
			</div>
			{!of?.secret && (
				<label class="check">
					<input type="checkbox" checked={secret} onChange={(event) => setSecret(event.currentTarget.checked)} />
					Secret: never shown, pictured or written
				</label>
			)}
			<p class="help dim">The session opens again with it.</p>
			<div class="variable-actions">
				<button type="submit" class="button primary" aria-disabled={waiting || !controls.value || undefined}>
					{of ? "Change" : "Add"}
				</button>
				{of && <Button onClick={empty}>Cancel</Button>}
			</div>
			<div role="status">
				{waiting && <p class="dim">Opening the session again…</p>}
				{refusal && (
					<p class="problem-text" dir="auto">
						{refusal}
					</p>
				)}
			</div>
		</form>
	);
}
