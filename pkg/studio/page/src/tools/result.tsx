import { toYAML } from "../forms/yaml";
import type { Made } from "../protocol";

/** Texts with more lines, or characters, are folded. */
const maxLines = 12;
const maxLength = 1500;

/** What a call returned. */
export function Result({ made: { ok, text, hint, warnings, structured } }: { made: Made }) {
	return (
		<div class="result">
			<p class={ok ? "result-outcome passed" : "result-outcome failed"}>{ok ? "Passed" : "Failed"}</p>
			{text && <Folded name="Text" text={text} />}
			{hint && (
				<p class="dim" dir="auto">
					{hint}
				</p>
			)}
			{warnings.map((warning) => (
				<p key={warning} class="warning-text" dir="auto">
					{warning}
				</p>
			))}
			{structured != null && <Folded name="Structured result" text={toYAML(structured)} />}
		</div>
	);
}

function Folded({ name, text }: { name: string; text: string }) {
	const lines = text.split("\n").length;
	const content = (
		<pre class="result-text" dir="auto">
			{text}
		</pre>
	);
	if (lines <= maxLines && text.length <= maxLength) return content;
	return (
		<details>
			<summary>
				{name} <span class="count">{lines === 1 ? `${text.length} characters` : `${lines} lines`}</span>
			</summary>
			{content}
		</details>
	);
}
