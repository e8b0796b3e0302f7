import { useState } from "preact/hooks";
import { Button } from "../ui/button";
import { FormContext } from "./context";
import { ObjectFields } from "./object";
import type { Args, Problem, Schema } from "./schema";
import { YAMLField } from "./yaml-field";
import "./forms.css";

interface Props {
	/** Of a tool's arguments; null if it is not known, then they are edited as YAML. */
	schema: Schema | null;
	args: Args;
	onChange: (args: Args) => void;
	/** By path, as validate finds them. */
	problems: Map<string, Problem>;
	/** Whether arguments that are missing are said to be; false before the first attempt. */
	missing: boolean;
	/** Lets the person pick an element on the screen. */
	onPick?: () => void;
	/** Asks for a name under which a text becomes a variable, and puts what it returns in its place. */
	onMakeVariable?: (text: string, put: (text: string) => void) => void;
	disabled?: boolean;
}

/** The arguments of a call, as a form from a schema or as YAML. */
export function ArgumentsForm({
	schema,
	args,
	onChange,
	problems,
	missing,
	onPick,
	onMakeVariable,
	disabled = false,
}: Props) {
	const [asYAML, setAsYAML] = useState(false);
	const yaml = asYAML || !schema;
	const shown = new Map([...problems].filter(([, problem]) => missing || !problem.missing));
	return (
		<FormContext.Provider value={{ problems: shown, onPick, onMakeVariable, disabled }}>
			<fieldset class="arguments" aria-label="Arguments">
				<div class="arguments-head">
					<h3>Arguments</h3>
					{schema && (
						<Button pressed={asYAML} onClick={() => setAsYAML(!asYAML)} class="small bordered">
							as YAML
						</Button>
					)}
				</div>
				{yaml ? (
					<YAMLField
						label="Arguments as YAML"
						value={args}
						mapping
						onChange={(value) => onChange((value ?? {}) as Args)}
						path=""
						rows={6}
					/>
				) : (
					<ObjectFields schema={schema} value={args} onChange={onChange} path="" />
				)}
			</fieldset>
		</FormContext.Provider>
	);
}
