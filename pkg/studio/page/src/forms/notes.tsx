import type { ComponentChildren } from "preact";
import { useContext, useId } from "preact/hooks";
import { FormContext } from "./context";

/** The ids of a field, and what stands below it. */
export function useNotes(path: string, text: string) {
	const id = useId();
	const { problems, disabled } = useContext(FormContext);
	const problem = problems.get(path);
	const notes = (
		<>
			{text && (
				<p id={`${id}-help`} class="help dim" dir="auto">
					{text}
				</p>
			)}
			{problem && (
				<p id={`${id}-problem`} class="problem-text" dir="auto">
					{problem.message}
				</p>
			)}
		</>
	);
	const describedBy = [text && `${id}-help`, problem && `${id}-problem`].filter(Boolean).join(" ");
	const attributes = {
		id,
		disabled,
		"aria-describedby": describedBy || undefined,
		"aria-invalid": problem ? ("true" as const) : undefined,
	};
	return { id, notes, attributes };
}

/** The label of a field. */
export function Label({ id, label, required }: { id: string; label: string; required?: boolean | undefined }) {
	return (
		<label class="label" for={id} dir="auto">
			{label}
			{required && <Required />}
		</label>
	);
}

/** Says that a value has to be given, to those who see it; the field itself says it to all others. */
export function Required() {
	return (
		<span class="required" aria-hidden="true">
			{" "}
			required
		</span>
	);
}

interface GroupProps {
	label: string;
	/** Of what the group has: its path, and what its schema says. */
	path: string;
	text: string;
	required?: boolean | undefined;
	children: ComponentChildren;
}

/** Fields with a common label. */
export function Group({ label, path, text, required, children }: GroupProps) {
	const { notes, attributes } = useNotes(path, text);
	return (
		<fieldset class="form-group" aria-describedby={attributes["aria-describedby"]}>
			<legend class="label" dir="auto">
				{label}
				{required && <span class="required"> required</span>}
			</legend>
			{notes}
			{children}
		</fieldset>
	);
}
