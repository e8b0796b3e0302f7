// What is typed while the document changes.
import { ChangeSet, Text } from "@codemirror/state";
import { difference } from "../src/trail/difference";
import { Draft } from "../src/trail/draft";
import { expect, test } from "./studio";

/** An editor without a browser. */
class Editor {
	readonly draft = new Draft();
	text = Text.empty;

	type(from: number, to: number, insert: string): void {
		const changes = ChangeSet.of({ from, to, insert }, this.text.length);
		this.text = changes.apply(this.text);
		this.draft.type(changes);
	}

	receive(version: number, text: string): void {
		this.show(this.draft.receive({ version, text }));
	}

	show(changes: ChangeSet | null): void {
		if (changes) this.text = changes.apply(this.text);
	}
}

test("keeps what was typed and what came", () => {
	const editor = new Editor();
	editor.receive(1, "a\nb\nc\n");
	editor.type(0, 1, "A");
	editor.receive(2, "a\nb\nc\nd\n");
	expect(editor.text.toString()).toBe("A\nb\nc\nd\n");
	expect(editor.draft.send()).toEqual({ version: 2, text: "A\nb\nc\nd\n" });
});

test("does not take its own text for one that came", () => {
	const editor = new Editor();
	editor.receive(1, "a\n");
	editor.type(1, 1, "b");
	expect(editor.draft.send().text).toBe("ab\n");
	editor.type(2, 2, "c");
	editor.receive(2, "ab\n");
	editor.show(editor.draft.answered(true));
	expect(editor.text.toString()).toBe("abc\n");
	expect(editor.draft.changed).toBe(true);
	expect(editor.draft.send()).toEqual({ version: 2, text: "abc\n" });
	editor.show(editor.draft.answered(true));
	editor.receive(3, "abc\n");
	expect(editor.text.toString()).toBe("abc\n");
	expect(editor.draft.changed).toBe(false);
});

test("keeps what was not taken, and reverts it", () => {
	const editor = new Editor();
	editor.receive(1, "a: 1\nb: 2\n");
	editor.type(4, 4, " {");
	editor.draft.send();
	editor.receive(2, "a: 1\nb: 3\n");
	editor.show(editor.draft.answered(false));
	expect(editor.text.toString()).toBe("a: 1 {\nb: 3\n");
	editor.show(editor.draft.revert());
	expect(editor.text.toString()).toBe("a: 1\nb: 3\n");
	expect(editor.draft.changed).toBe(false);
});

test("knows what it sent when the answer was lost", () => {
	const editor = new Editor();
	editor.receive(1, "a\n");
	editor.type(1, 1, "b");
	editor.draft.send();
	editor.type(2, 2, "c");
	editor.show(editor.draft.answered(false));
	editor.type(3, 3, "d");
	editor.receive(2, "ab\n");
	expect(editor.text.toString()).toBe("abcd\n");
	expect(editor.draft.send()).toEqual({ version: 2, text: "abcd\n" });
	editor.show(editor.draft.answered(false));
	editor.receive(3, "abcd\n");
	expect(editor.text.toString()).toBe("abcd\n");
	expect(editor.draft.changed).toBe(false);
});

test("keeps line breaks of Windows", () => {
	const editor = new Editor();
	editor.receive(1, "a\r\nb\r\n");
	editor.type(1, 1, "!");
	expect(editor.draft.send().text).toBe("a!\r\nb\r\n");
});

test("changes only what differs", () => {
	const from = Text.of(["a", "b", "c", "d", "e", ""]);
	const changes = difference(from, Text.of(["a", "B", "c", "d", "new", "e", ""]));
	const found: [number, number, string][] = [];
	changes.iterChanges((a, b, _c, _d, inserted) => found.push([a, b, inserted.toString()]));
	expect(found).toEqual([
		[2, 3, "B"],
		[8, 8, "new\n"],
	]);
});

test("turns every text into every other", () => {
	let seed = 1;
	const random = (below: number) => {
		seed = (seed * 48271) % 2147483647;
		return seed % below;
	};
	const text = () => Text.of(Array.from({ length: 1 + random(8) }, () => "abc".slice(0, random(4))));
	for (let i = 0; i < 200; i++) {
		const [from, to] = [text(), text()];
		expect(difference(from, to).apply(from).toString()).toBe(to.toString());
	}
});
