import { createContext } from "preact";
import type { Problem } from "./schema";

interface FormState {
	/** What is wrong and shown, by path. */
	problems: Map<string, Problem>;
	onPick?: (() => void) | undefined;
	onMakeVariable?: ((text: string, put: (text: string) => void) => void) | undefined;
	disabled: boolean;
}

/** What all fields of a form know. */
export const FormContext = createContext<FormState>({ problems: new Map(), disabled: false });
