import { useLayoutEffect, useRef } from "preact/hooks";
import type { Failure, Problem } from "../protocol";
import { doc } from "../store";
import { goTo, host, refused, revert, view } from "./editor";
import "./trail.css";

/** The YAML, always what would be saved. It is shown in the region Trail. */
export function Trail() {
	const place = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => {
		place.current?.append(host);
		view.requestMeasure();
		return () => host.remove();
	}, []);
	const failure = refused.value;
	const problems = failure ? (failure.problems ?? []) : (doc.value?.problems ?? []);
	return (
		<div class="trail">
			<div class="trail-place" ref={place} />
			<div role="status">{failure && <NotApplied failure={failure} />}</div>
			{problems.length > 0 && <Problems problems={problems} />}
			<p class="trail-hint dim">
				<kbd>Tab</kbd> indents. <kbd>Esc</kbd>, then <kbd>Tab</kbd> leaves the text.
			</p>
		</div>
	);
}

function NotApplied({ failure: { message, hint } }: { failure: Failure }) {
	return (
		<div class="not-applied">
			<p>
				<strong>Not applied:</strong> <span dir="auto">{message}</span>.{" "}
				<span class="dim">{hint || "The trail is as it was before."}</span>
			</p>
			<button type="button" class="button bordered" onClick={revert}>
				Revert
			</button>
		</div>
	);
}

function Problems({ problems }: { problems: Problem[] }) {
	return (
		<ul class="problems" aria-label="Problems">
			{problems.map((problem) => (
				<li key={`${problem.line}:${problem.column}:${problem.message}`}>
					<button type="button" class="problem" onClick={() => goTo(problem)}>
						<span class={`severity ${problem.severity}`}>{problem.severity === "error" ? "Error" : "Warning"}</span>
						{problem.line > 0 && <span class="dim">line {problem.line}</span>}
						<span dir="auto">{problem.message}</span>
						{problem.hint && (
							<span class="dim" dir="auto">
								{problem.hint}
							</span>
						)}
					</button>
				</li>
			))}
		</ul>
	);
}
