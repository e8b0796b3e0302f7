import { useEffect, useRef } from "preact/hooks";
import { ask } from "../connection";
import { controls, past, state } from "../store";
import { Button } from "../ui/button";
import { actions, canRun, onShortcut } from "./actions";
import { SaveDialog } from "./save";
import { Status } from "./status";
import "./toolbar.css";

/** The toolbar Session. One of its buttons has the tab stop, arrow keys move it. */
export function Toolbar() {
	useEffect(() => {
		document.addEventListener("keydown", onShortcut);
		return () => document.removeEventListener("keydown", onShortcut);
	}, []);
	return (
		<header class="header">
			<div role="toolbar" aria-label="Session" class="toolbar">
				<Buttons />
				{past.value === null && <Device />}
				<Status />
			</div>
			<Button
				icon="past"
				class="past-button"
				pressed={past.value !== null}
				title="Look back at finished sessions"
				onClick={() => {
					past.value = past.value === null ? "" : null;
				}}
			>
				Sessions
			</Button>
			<SaveDialog />
		</header>
	);
}

function Buttons() {
	const element = useRef<HTMLDivElement>(null);
	const stop = useRef(0);
	const buttons = () => [...(element.current?.querySelectorAll("button") ?? [])];
	const setStop = (index: number) => {
		stop.current = index;
		buttons().forEach((button, i) => {
			button.tabIndex = i === index ? 0 : -1;
		});
	};
	const onKeyDown = (event: KeyboardEvent) => {
		const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
		if (!step) return;
		event.preventDefault();
		const all = buttons();
		const next = (stop.current + step + all.length) % all.length;
		setStop(next);
		all[next]?.focus();
	};
	let index = 0;
	return (
		<div
			class="buttons"
			ref={element}
			onKeyDown={onKeyDown}
			onFocusIn={(event) => setStop(buttons().indexOf(event.target as HTMLButtonElement))}
		>
			{actions.map((group) => (
				<div class="button-group" key={group[0]?.name}>
					{group.map((action) => (
						<Button
							key={action.name}
							icon={action.icon}
							class={`action action-${action.icon}`}
							compact={action.icon === "undo" || action.icon === "redo"}
							title={action.title}
							shortcut={action.shortcut}
							pressed={action.pressed?.value}
							disabled={!canRun(action)}
							tabIndex={index++ === stop.current ? 0 : -1}
							onClick={action.run}
						>
							{action.name}
						</Button>
					))}
				</div>
			))}
		</div>
	);
}

function Device() {
	const { device = "", devices = [] } = state.value ?? {};
	return (
		<select
			class="device"
			aria-label="Device"
			value={device}
			disabled={!controls.value}
			onChange={(event) => void ask({ do: "device", name: event.currentTarget.value })}
		>
			{device === "" && <option value="">Choose a device</option>}
			{devices.map(({ name, why }) => (
				<option key={name} value={name} disabled={why !== ""}>
					{why ? `${name} – ${why}` : name}
				</option>
			))}
		</select>
	);
}
