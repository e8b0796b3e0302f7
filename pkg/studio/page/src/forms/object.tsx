import { useContext, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../ui/button";
import { FormContext } from "./context";
import { Field } from "./field";
import { Menu } from "./menu";
import { type Args, help, properties, required, type Schema } from "./schema";

interface Props {
	schema: Schema;
	value: Args;
	onChange: (value: Args) => void;
	path: string;
}

/** The fields of a mapping: those that have to be there, those that are, and a menu of the others. */
export function ObjectFields({ schema, value, onChange, path }: Props) {
	const { disabled } = useContext(FormContext);
	const [added, setAdded] = useState<string[]>([]);
	const fields = useRef<HTMLDivElement>(null);
	const newest = useRef("");
	const must = required(schema);
	const known = properties(schema);
	const names = new Set(known.map(([name]) => name));
	const unknown = Object.keys(value).filter((name) => !names.has(name));
	const shows = (name: string) => must.includes(name) || value[name] !== undefined || added.includes(name);
	const shown = [...known.filter(([name]) => shows(name)), ...unknown.map((name): [string, Schema] => [name, {}])];
	const others = known.filter(([name]) => !shows(name));

	useLayoutEffect(() => {
		if (!newest.current) return;
		const name = newest.current;
		newest.current = "";
		fields.current
			?.querySelector<HTMLElement>(`:scope > [data-name="${CSS.escape(name)}"] :is(input, textarea, select, button)`)
			?.focus();
	});

	const set = (name: string, next: unknown) => {
		const { [name]: _, ...rest } = value;
		onChange(next === undefined ? rest : { ...value, [name]: next });
	};
	const add = (name: string, property: Schema) => {
		newest.current = name;
		setAdded([...added, name]);
		// A person who adds it wants it otherwise than it is without.
		if (property.type === "boolean") set(name, property.default !== true);
	};
	const remove = (name: string) => {
		setAdded(added.filter((one) => one !== name));
		if (value[name] !== undefined) set(name, undefined);
	};
	return (
		<div class="form-fields" ref={fields}>
			{shown.map(([name, property]) => (
				<div class="field-row" key={name} data-name={name}>
					<Field
						label={name}
						schema={property}
						value={value[name]}
						onChange={(next) => set(name, next)}
						path={path ? `${path}/${name}` : name}
						required={must.includes(name)}
					/>
					{!must.includes(name) && (
						<Button icon="close" compact disabled={disabled} onClick={() => remove(name)} class="remove">
							{`Remove ${name}`}
						</Button>
					)}
				</div>
			))}
			{others.length > 0 && !disabled && (
				<Menu
					name={path ? "Add a field" : "Add an argument"}
					items={others.map(([name, property]) => ({
						name,
						note: help(property),
						onChoose: () => add(name, property),
					}))}
				/>
			)}
		</div>
	);
}
