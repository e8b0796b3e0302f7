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
			{required && (
				<span class="required" aria-hidden="true">
					{" "}
					required
				</span>
			)}
		</label>
	);
}
