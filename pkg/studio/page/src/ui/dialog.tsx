import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Button } from "./button";

interface Props {
	name: string;
	/** Escape, and the button Cancel. */
	onCancel: () => void;
	onOK: () => void;
	/** The name of the button that does it. */
	ok?: string;
	/** Whether it can be done now. */
	disabled?: boolean;
	/** Whether there is nothing to choose: then it has no Cancel. */
	plain?: boolean;
	children: ComponentChildren;
}

/** A dialog, shown as long as it is rendered. Enter in one of its fields does it. */
export function Dialog({ name, onCancel, onOK, ok = "OK", disabled, plain, children }: Props) {
	const element = useRef<HTMLDialogElement>(null);
	const heading = useId();
	useEffect(() => {
		const before = document.activeElement;
		element.current?.showModal();
		element.current?.querySelector<HTMLElement>(".dialog-content :is(input, textarea), [type=submit]")?.focus();
		return () => before instanceof HTMLElement && before.focus();
	}, []);
	return (
		<dialog
			ref={element}
			aria-labelledby={heading}
			onCancel={(event) => {
				event.preventDefault();
				onCancel();
			}}
		>
			<form
				method="dialog"
				onSubmit={(event) => {
					event.preventDefault();
					if (!disabled) onOK();
				}}
			>
				<h2 id={heading}>{name}</h2>
				<div class="dialog-content">{children}</div>
				<footer>
					{!plain && <Button onClick={onCancel}>Cancel</Button>}
					<button type="submit" class="button primary" aria-disabled={disabled || undefined}>
						{ok}
					</button>
				</footer>
			</form>
		</dialog>
	);
}
