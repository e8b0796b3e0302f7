import { useId } from "preact/hooks";
import { state } from "../store";

/** What is wrong with the name of a variable; "" for nothing. unused says that it may not be there already. */
export function problemOfName(name: string, unused: boolean): string {
	if (!name) return "A name has to be given.";
	if (!/^[A-Za-z_][A-Za-z0-9_.-]*$/.test(name) || name === "args") {
		return "A name begins with a letter and has letters, digits, _, - and . only.";
	}
	const there = state.value?.variables.some((variable) => variable.name === name);
	return unused && there ? `${name} has a value already; use it from the menu, or take another name.` : "";
}

interface Props {
	name: string;
	onInput: (name: string) => void;
	problem: string;
}

export function NameField({ name, onInput, problem }: Props) {
	const id = useId();
	return (
		<div class="field">
			<label class="label" for={id}>
				Name
			</label>
			<input
				type="text"
				id={id}
				value={name}
				placeholder="PASSWORD"
				spellcheck={false}
				autocomplete="off"
				aria-invalid={problem ? "true" : undefined}
				aria-describedby={problem ? `${id}-problem` : undefined}
				onInput={(event) => onInput(event.currentTarget.value.trim())}
			/>
			{problem && (
				<p class="problem-text" id={`${id}-problem`}>
					{problem}
				</p>
			)}
		</div>
	);
}
