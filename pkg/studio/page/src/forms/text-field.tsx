import { useContext, useRef, useState } from "preact/hooks";
import { state } from "../store";
import { FormContext } from "./context";
import type { FieldProps } from "./field";
import { type Item, Menu } from "./menu";
import { Label, useNotes } from "./notes";
import { help, isVariable } from "./schema";

/** A text or a number. It is taken when the field is left, or with Enter; Shift+Enter begins a line. */
export function TextField({ label, schema, value, onChange, path, required }: FieldProps) {
	const { id, notes, attributes } = useNotes(path, help(schema));
	const [typed, setTyped] = useState<string | null>(null);
	const field = useRef<HTMLTextAreaElement>(null);
	const number = schema.type === "number" || schema.type === "integer";
	const text = value === undefined ? "" : String(value);
	const put = (next: string) => {
		setTyped(null);
		if (next === text && value !== undefined) return;
		if (number && !next.trim()) onChange(undefined);
		else onChange(number && /^-?\d+(\.\d+)?$/.test(next.trim()) ? Number(next) : next);
	};
	const onKeyDown = (event: KeyboardEvent) => {
		const several = (typed ?? text).includes("\n");
		if (event.key !== "Enter" || event.shiftKey || event.isComposing || several) return;
		event.preventDefault();
		if (typed !== null) put(typed);
	};
	return (
		<div class="field">
			<Label id={id} label={label} required={required} />
			<div class="text-field">
				<textarea
					{...attributes}
					ref={field}
					rows={1}
					dir="auto"
					spellcheck={false}
					inputMode={number ? "decimal" : undefined}
					required={required}
					placeholder={schema.default === undefined ? "" : String(schema.default)}
					value={typed ?? text}
					onInput={(event) => setTyped(event.currentTarget.value)}
					onChange={(event) => put(event.currentTarget.value)}
					onKeyDown={onKeyDown}
				/>
				{!attributes.disabled && <Variables text={typed ?? text} field={field} put={put} />}
			</div>
			{notes}
		</div>
	);
}

interface VariablesProps {
	text: string;
	field: { current: HTMLTextAreaElement | null };
	put: (text: string) => void;
}

/** Offers the variables for a text, and to make the text one. */
function Variables({ text, field, put }: VariablesProps) {
	const { onMakeVariable } = useContext(FormContext);
	const items: Item[] = (state.value?.variables ?? []).map(({ name, value, secret }) => ({
		name: `{{${name}}}`,
		note: secret ? "secret" : value,
		onChoose: () => put(inserted(text, field.current, `{{${name}}}`)),
	}));
	if (onMakeVariable && text && !isVariable(text)) {
		items.push({ name: "Make this a variable…", onChoose: () => onMakeVariable(text, put) });
	}
	return items.length ? <Menu name="Variables" icon="variable" compact items={items} /> : null;
}

function inserted(text: string, field: HTMLTextAreaElement | null, variable: string): string {
	const [start, end] = [field?.selectionStart ?? text.length, field?.selectionEnd ?? text.length];
	return text.slice(0, start) + variable + text.slice(end);
}
