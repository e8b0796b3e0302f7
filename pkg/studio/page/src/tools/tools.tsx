import { signal } from "@preact/signals";
import { useId, useState } from "preact/hooks";
import { failureOf, request } from "../connection";
import { ArgumentsForm } from "../forms/arguments";
import { type Args, initial, validate } from "../forms/schema";
import type { Made, Tool } from "../protocol";
import { ready } from "../store";
import { Button } from "../ui/button";
import { Search } from "../ui/search";
import { groups, tools, unknownTools } from "./list";
import { Result } from "./result";
import "./tools.css";

const wanted = signal("");
/** The tool whose form is shown; "" for none. */
const open = signal("");

/** The tools of the project, with forms from their schemas. */
export function Tools() {
	const found = groups.value
		.map(({ name, tools }) => ({ name, tools: tools.filter(fits) }))
		.filter(({ tools }) => tools.length > 0);
	return (
		<div class="tools">
			<div class="tools-find">
				<Search name="Find a tool" placeholder="Find a tool" text={wanted} />
			</div>
			{found.map((group) => (
				<section key={group.name} aria-label={group.name}>
					<h3 class="tools-source" dir="auto">
						{group.name} <span class="count">{group.tools.length}</span>
					</h3>
					<ul>
						{group.tools.map((tool) => (
							<Entry key={tool.name} tool={tool} />
						))}
					</ul>
				</section>
			))}
			{found.length === 0 && <Nothing />}
		</div>
	);
}

function Nothing() {
	const failure = unknownTools.value;
	if (failure) {
		return (
			<p class="empty" dir="auto">
				The tools are not known: {failure.message}. {failure.hint}
			</p>
		);
	}
	return <p class="empty">{tools.value.length ? "No tool fits." : "The tools appear when the session is open."}</p>;
}

function fits({ name, description }: Tool): boolean {
	const words = wanted.value.toLowerCase().split(/\s+/);
	const text = `${name} ${description}`.toLowerCase();
	return words.every((word) => text.includes(word));
}

function Entry({ tool }: { tool: Tool }) {
	const id = useId();
	const expanded = open.value === tool.name;
	return (
		<li class={expanded ? "tool-entry open" : "tool-entry"}>
			<button
				type="button"
				class="tool-name"
				aria-expanded={expanded}
				aria-controls={expanded ? id : undefined}
				onClick={() => (open.value = expanded ? "" : tool.name)}
			>
				<code>{tool.name}</code>
				{!expanded && (
					<span class="tool-brief dim" dir="auto">
						{tool.description}
					</span>
				)}
			</button>
			{expanded && <Caller id={id} tool={tool} />}
		</li>
	);
}

function Caller({ id, tool }: { id: string; tool: Tool }) {
	const [args, setArgs] = useState<Args>(() => initial(tool.schema));
	const [saveAs, setSaveAs] = useState("");
	const [calling, setCalling] = useState(false);
	const [tried, setTried] = useState(false);
	const [made, setMade] = useState<Made | null>(null);
	const problems = validate(tool.schema, args);
	const call = async () => {
		setTried(true);
		if (problems.size || calling) return;
		setCalling(true);
		setMade(null);
		try {
			const call = { tool: tool.name, args, ...(saveAs && { saveAs }) };
			setMade(await request<Made>({ do: "call", call }));
		} catch (error) {
			const { message, hint } = failureOf(error);
			setMade({ ok: false, text: message, hint, warnings: [] });
		}
		setCalling(false);
	};
	return (
		<div class="tool-call" id={id}>
			<p class="dim" dir="auto">
				{tool.description}
			</p>
			<ArgumentsForm schema={tool.schema} args={args} onChange={setArgs} problems={problems} missing={tried} />
			<label class="field">
				<span class="label">saveAs</span>
				<input
					type="text"
					value={saveAs}
					placeholder="Name to keep the result under"
					spellcheck={false}
					onInput={(event) => setSaveAs(event.currentTarget.value.trim())}
				/>
			</label>
			<div class="tool-actions">
				<Button kind="primary" onClick={call} disabled={!ready.value || calling}>
					Call
				</Button>
				{tried && problems.size > 0 && <span class="problem-text">Some arguments are missing or wrong.</span>}
			</div>
			<div role="status">
				{calling && <p class="dim">Calling {tool.name}…</p>}
				{made && <Result made={made} />}
			</div>
		</div>
	);
}
