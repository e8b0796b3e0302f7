// What somebody typed, apart from what the server has. The document may change meanwhile, by a call that was recorded or by
// another edit: then both changes are kept, as in a text that several people edit.
import { ChangeSet, Text } from "@codemirror/state";
import { difference } from "./difference";

/** The text of a document, with its version. */
interface Version {
	version: number;
	text: string;
}

export class Draft {
	/** What the server has. */
	private base = Text.empty;
	private version = 0;
	private lineBreak = "\n";
	/** From base to what the editor shows. */
	private typed = ChangeSet.empty(0);
	/** The text that was sent last, and what was typed since; null once it is known what became of it. */
	private sent: { text: Text; since: ChangeSet } | null = null;
	/** Whether an answer is awaited. */
	sending = false;
	/** The newest document that came while it did. */
	private held: Version | null = null;

	/** Whether the editor shows something that the server does not have. */
	get changed(): boolean {
		return !this.typed.empty;
	}

	/** Takes what was typed into the editor. */
	type(changes: ChangeSet): void {
		this.typed = this.typed.compose(changes);
		if (this.sent) this.sent.since = this.sent.since.compose(changes);
	}

	/** Returns what the server should check. answered must be called with its answer. */
	send(): Version {
		const text = this.typed.apply(this.base);
		this.sent = { text, since: ChangeSet.empty(text.length) };
		this.sending = true;
		return { version: this.version, text: text.sliceString(0, text.length, this.lineBreak) };
	}

	/** Takes the answer: whether the server took the text. Returns the changes for the editor; null for none. */
	answered(taken: boolean): ChangeSet | null {
		this.sending = false;
		if (taken) this.take();
		const held = this.held;
		this.held = null;
		return held && this.receive(held);
	}

	/** Takes it that the server has what was sent. */
	private take(): void {
		if (!this.sent) return;
		this.base = this.sent.text;
		this.typed = this.sent.since;
		this.sent = null;
	}

	/** Takes the document. Returns the changes for the editor; null for none. */
	receive(document: Version): ChangeSet | null {
		if (this.sending) {
			// It may be what was sent. The answer says so.
			this.held = document;
			return null;
		}
		if (document.text.includes("\r\n")) this.lineBreak = "\r\n";
		const text = Text.of(document.text.split(/\r\n|\r|\n/));
		if (this.sent?.text.eq(text)) this.take(); // The answer was lost with the connection.
		this.sent = null;
		const theirs = difference(this.base, text);
		const changes = theirs.map(this.typed);
		this.typed = this.typed.map(theirs, true);
		this.base = text;
		this.version = document.version;
		return changes.empty ? null : changes;
	}

	/** Forgets what was typed. Returns the changes for the editor. */
	revert(): ChangeSet {
		const changes = this.typed.invert(this.base);
		this.typed = ChangeSet.empty(this.base.length);
		if (!this.sending) this.sent = null;
		if (this.sent) this.sent.since = this.sent.since.compose(changes);
		return changes;
	}

	/** Where the editor shows a line, from 1, of the document. */
	lineStart(line: number): number {
		const start = this.base.line(Math.min(Math.max(line, 1), this.base.lines)).from;
		return this.typed.mapPos(start, 1);
	}
}
