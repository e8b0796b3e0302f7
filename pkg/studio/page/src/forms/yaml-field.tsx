import { useState } from "preact/hooks";
import { Required, useNotes } from "./notes";
import { isMapping } from "./schema";
import { fromYAML, toYAML } from "./yaml";

interface Props {
	label: string;
	value: unknown;
	onChange: (value: unknown) => void;
	path: string;
	help?: string;
	required?: boolean;
	/** Whether only a mapping is taken. */
	mapping?: boolean;
	rows?: number;
}

/** A value as YAML. It is taken when the field is left, if it parses; else it stays, with what is wrong. */
export function YAMLField({ label, value, onChange, path, help = "", required, mapping, rows = 1 }: Props) {
	const { id, notes, attributes } = useNotes(path, help);
	const [typed, setTyped] = useState<string | null>(null);
	const [wrong, setWrong] = useState("");
	const put = (text: string) => {
		try {
			const next = fromYAML(text);
			if (mapping && next !== undefined && !isMapping(next)) throw new Error("has to be a mapping: name: value");
			setWrong("");
			setTyped(null);
			onChange(next);
		} catch (error) {
			setWrong(error instanceof Error ? error.message : String(error));
		}
	};
	const text = typed ?? toYAML(value);
	const describedBy = [attributes["aria-describedby"], wrong && `${id}-yaml`].filter(Boolean).join(" ");
	return (
		<div class="field">
			<label class="label" for={id}>
				{label} {!mapping && <span class="dim">as YAML</span>}
				{required && <Required />}
			</label>
			<textarea
				{...attributes}
				class="yaml"
				required={required}
				rows={rows}
				spellcheck={false}
				value={text}
				aria-describedby={describedBy || undefined}
				aria-invalid={wrong ? "true" : attributes["aria-invalid"]}
				onInput={(event) => setTyped(event.currentTarget.value)}
				onChange={(event) => put(event.currentTarget.value)}
			/>
			{notes}
			{wrong && (
				<p id={`${id}-yaml`} class="problem-text">
					{wrong}
				</p>
			)}
		</div>
	);
}
