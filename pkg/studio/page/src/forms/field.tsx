import { useContext, useState } from "preact/hooks";
import { Button } from "../ui/button";
import { FormContext } from "./context";
import { Group, Label, useNotes } from "./notes";
import { ObjectFields } from "./object";
import { type Args, choices, help, isMapping, kindOf, type Schema } from "./schema";
import { selectorText } from "./selector";
import { TextField } from "./text-field";
import { YAMLField } from "./yaml-field";

export interface FieldProps {
	label: string;
	schema: Schema;
	value: unknown;
	/** undefined takes the value away. */
	onChange: (value: unknown) => void;
	path: string;
	required?: boolean;
}

/** The field for a value of a schema. */
export function Field(props: FieldProps) {
	const { schema, value, label } = props;
	switch (kindOf(schema, value)) {
		case "text":
		case "number":
			return <TextField {...props} />;
		case "choice":
			return <ChoiceField {...props} />;
		case "boolean":
			return <BooleanField {...props} />;
		case "list":
			return <ListField {...props} />;
		case "object":
			return label === "nodeSelector" ? <SelectorField {...props} /> : <MappingField {...props} />;
		default:
			return <YAMLField {...props} help={help(schema)} />;
	}
}

function ChoiceField({ label, schema, value, onChange, path, required }: FieldProps) {
	const { id, notes, attributes } = useNotes(path, help(schema));
	const options = choices(schema);
	const chosen = options.find((option) => option.toLowerCase() === String(value).toLowerCase());
	const unknown = value === undefined || chosen !== undefined ? [] : [String(value)];
	return (
		<div class="field">
			<Label id={id} label={label} required={required} />
			<select
				{...attributes}
				required={required}
				value={chosen ?? unknown[0] ?? ""}
				onChange={(event) => onChange(event.currentTarget.value || undefined)}
			>
				{(value === undefined || !required) && <option value="">{value === undefined ? "Choose…" : "(none)"}</option>}
				{[...options, ...unknown].map((option) => (
					<option key={option} value={option}>
						{option}
					</option>
				))}
			</select>
			{notes}
		</div>
	);
}

function BooleanField({ label, schema, value, onChange, path }: FieldProps) {
	const { id, notes, attributes } = useNotes(path, help(schema));
	return (
		<div class="field">
			<span class="check">
				<input
					type="checkbox"
					{...attributes}
					checked={value === true}
					onChange={(event) => onChange(event.currentTarget.checked)}
				/>
				<label for={id}>{label}</label>
			</span>
			{notes}
		</div>
	);
}

/** A mapping, as a group of fields. */
function MappingField({ label, schema, value, onChange, path, required }: FieldProps) {
	return (
		<Group label={label} path={path} text={help(schema)} required={required}>
			<ObjectFields
				schema={schema}
				value={isMapping(value) ? value : {}}
				onChange={onChange as (value: Args) => void}
				path={path}
			/>
		</Group>
	);
}

/** A selector in a line, with Pick; its fields on demand. */
function SelectorField(props: FieldProps) {
	const { label, value } = props;
	const { onPick, disabled } = useContext(FormContext);
	const { notes, attributes } = useNotes(props.path, "");
	const [open, setOpen] = useState(false);
	const text = selectorText(value);
	return (
		<fieldset class="form-group plain" aria-describedby={attributes["aria-describedby"]}>
			<legend class="label">{label}</legend>
			<div class="selector">
				<code dir="auto">{text || "none"}</code>
				{onPick && (
					<Button icon="pick" class="small" compact disabled={disabled} onClick={onPick}>
						Choose on the screen
					</Button>
				)}
				<Button class="small bordered" expanded={open} onClick={() => setOpen(!open)}>
					{open ? "Close" : "Fields"}
				</Button>
			</div>
			{notes}
			{open && <MappingField {...props} />}
		</fieldset>
	);
}

/** Values one below the other. */
function ListField({ label, schema, value, onChange, path, required }: FieldProps) {
	const { disabled } = useContext(FormContext);
	const [adding, setAdding] = useState(false);
	const items = Array.isArray(value) ? value : [];
	const itemSchema = isMapping(schema.items) ? schema.items : {};
	const rows = adding || (required && items.length === 0) ? [...items, undefined] : items;
	const set = (i: number, next: unknown) => {
		if (i >= items.length) setAdding(false);
		onChange(next === undefined ? items.filter((_, at) => at !== i) : items.toSpliced(i, 1, next));
	};
	return (
		<Group label={label} path={path} text={help(schema)} required={required}>
			{rows.map((item, i) => (
				<div class="field-row" key={i}>
					<Field
						label={`${label} ${i + 1}`}
						schema={itemSchema}
						value={item}
						onChange={(next) => set(i, next)}
						path={`${path}/${i}`}
					/>
					<Button
						icon="close"
						compact
						disabled={disabled}
						class="remove"
						onClick={() => (i < items.length ? set(i, undefined) : setAdding(false))}
					>
						{`Remove ${label} ${i + 1}`}
					</Button>
				</div>
			))}
			{!disabled && (
				<Button icon="plus" class="small" disabled={rows.length > items.length} onClick={() => setAdding(true)}>
					Add an entry
				</Button>
			)}
		</Group>
	);
}
