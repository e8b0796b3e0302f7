// The region Trail.
import type { Locator, Page } from "@playwright/test";
import { test as base, expect, Refusal, type Studio } from "./studio";
import { text, tools, trailDocument } from "./trail-samples";

const test = base.extend<{ studio: Studio }>({
	studio: async ({ studio }, use) => {
		studio.document = trailDocument();
		studio.answers.tools = () => tools;
		studio.answers.yaml = () => [];
		await use(studio);
	},
});

/** Opens the page, and returns the editor once it shows the document. */
async function open(studio: Studio, page: Page): Promise<Locator> {
	await studio.open();
	const editor = page.getByRole("region", { name: "Trail" }).getByRole("textbox", { name: "Trail text" });
	await expect(editor).toContainText("Put tea into the cart");
	return editor;
}

/** Takes the text, as the server does. */
function take(studio: Studio): void {
	studio.answers.yaml = (request) => {
		if (request.do === "yaml") studio.setDocument({ text: request.text });
		return [];
	};
}

test("shows what would be saved, and sends what is typed", async ({ studio, page }) => {
	take(studio);
	const editor = await open(studio, page);
	await editor.getByText("Buy tea").click();
	await page.keyboard.press("End");
	await page.keyboard.type(" and cake");
	await expect.poll(() => studio.document.text).toBe(text.replace("Buy tea", "Buy tea and cake"));
	const first = studio.requests.find((request) => request.do === "yaml");
	expect(first).toMatchObject({ version: 1, text: expect.stringContaining("Buy tea ") });
	await expect(page.getByText("Not applied")).toHaveCount(0);
});

test("keeps what does not parse until it is reverted", async ({ studio, page }) => {
	const problem = { line: 3, column: 3, message: "title is not a text", hint: "quote it", severity: "error" as const };
	studio.answers.yaml = () => [problem];
	const editor = await open(studio, page);
	await editor.getByText("Buy tea").click();
	await page.keyboard.press("End");
	await page.keyboard.type(": {");
	await expect(page.getByRole("status").filter({ hasText: "Not applied" })).toBeVisible();
	await expect(page.locator(".cm-lintRange-error")).toHaveText("title");
	const link = page.getByRole("list", { name: "Problems" }).getByRole("button");
	await expect(link).toHaveText(/Error.*line 3.*title is not a text.*quote it/);

	// A call that is recorded meanwhile is shown, and what was typed stays.
	studio.setDocument({ text: text.replace("Tea }\n", "Tea }\n        - web_click: { ref: link }\n") });
	await expect(editor).toContainText("ref: link");
	await expect(editor).toContainText("Buy tea: {");
	await page.getByRole("tab", { name: "Tools" }).click();
	await page.getByRole("tab", { name: "Trail not applied" }).click();
	await expect(editor).toContainText("Buy tea: {");
	await link.click();
	await expect(editor).toBeFocused();

	await page.getByRole("button", { name: "Revert" }).click();
	await expect(editor).not.toContainText("Buy tea: {");
	await expect(editor).toContainText("ref: link");
	await expect(page.getByText("Not applied")).toHaveCount(0);
	await expect(page.locator(".cm-lintRange-error")).toHaveCount(0);
});

test("says why the server refuses a text", async ({ studio, page }) => {
	studio.answers.yaml = () => {
		throw new Refusal({ message: "another page controls", hint: "press Take over" });
	};
	const editor = await open(studio, page);
	await editor.press("Control+End");
	await page.keyboard.type("#");
	await expect(page.getByRole("status").filter({ hasText: "Not applied: another page controls" })).toBeVisible();
});

test("sends what was refused during a replay when it ends", async ({ studio, page }) => {
	studio.answers.yaml = () => {
		throw new Refusal({ message: "the trail is being replayed", hint: "wait, or stop it" });
	};
	const editor = await open(studio, page);
	await editor.press("Control+End");
	await page.keyboard.type("# later");
	await expect(page.getByText("the trail is being replayed")).toBeVisible();
	studio.setState({ activity: "replaying" });
	await expect(editor).toHaveAttribute("aria-readonly", "true");
	take(studio);
	studio.setState({ activity: "idle" });
	await expect.poll(() => studio.document.text).toContain("# later");
	await expect(page.getByText("Not applied")).toHaveCount(0);
});

test("undoes what was not taken in the editor, everything else in the studio", async ({ studio, page }) => {
	studio.answers.yaml = () => [{ line: 1, column: 1, message: "wrong", hint: "", severity: "error" }];
	const editor = await open(studio, page);
	await editor.press("Control+End");
	await page.keyboard.type("wrong");
	await studio.asked("yaml");
	await page.keyboard.press("Control+z");
	await expect(editor).not.toContainText("wrong");
	await expect(page.getByText("Not applied")).toHaveCount(0);
	expect(studio.requests.some((request) => request.do === "undo")).toBe(false);
	await page.keyboard.press("Control+z");
	await studio.asked("undo");

	take(studio);
	await page.keyboard.type("# right");
	await expect.poll(() => studio.document.text).toContain("# right");
	studio.setState({ unsaved: false }); // the page reads it after the answer that the text is taken
	await expect(page.getByRole("status", { name: "State" })).not.toContainText("unsaved changes");
	await page.keyboard.press("Control+z");
	await expect.poll(() => studio.requests.filter((request) => request.do === "undo").length).toBe(2);
	await expect(editor).toContainText("# right");
	await page.keyboard.press("Control+Shift+Z");
	await studio.asked("redo");
});

test("keeps cursor and scroll place when the document changes", async ({ studio, page }) => {
	const long = `${text}${"  - step: Wait\n".repeat(200)}`;
	studio.document.text = long;
	const editor = await open(studio, page);
	await editor.press("Control+End");
	await page.keyboard.press("ArrowUp");
	const scrolled = () => page.locator(".cm-scroller").evaluate((element) => element.scrollTop);
	await expect.poll(scrolled).toBeGreaterThan(100);
	const before = await scrolled();
	studio.setDocument({ text: long.replace("Tea for Ada", "Tea for Grace") });
	await page.keyboard.type("!");
	take(studio);
	await page.keyboard.type("!");
	await expect.poll(() => studio.document.text).toMatch(/Grace[\s\S]*\n!! {2}- step: Wait\n$/);
	expect(await scrolled()).toBe(before);
});

test("selects the step at the cursor, and marks the selected one", async ({ studio, page }) => {
	studio.answers.select = (request) => request.do === "select" && studio.setDocument({ selected: request.number });
	const editor = await open(studio, page);
	const marked = page.locator(".cm-selectedEntry");
	studio.setDocument({ selected: "2" });
	await expect(marked).toHaveCount(6);
	await expect(marked.first()).toHaveText("  - step: Put tea into the cart");
	await editor.getByText("ariaNameRegex").click();
	expect(await studio.asked("select")).toEqual({ do: "select", number: "2.1" });
	await expect(marked).toHaveCount(2);
	await page.keyboard.press("Control+End");
	await page.keyboard.press("ArrowUp");
	await expect(marked).toHaveText([/web_verifyTextVisible/]);
	expect(studio.requests.filter((request) => request.do === "select")).toHaveLength(2);
});

test("completes keys, tools, arguments and values, and describes them", async ({ studio, page }) => {
	take(studio);
	const editor = await open(studio, page);
	const options = page.getByRole("listbox", { name: "Completions" }).getByRole("option");
	await editor.press("Control+End");
	await page.keyboard.type("        - web_cl");
	await expect(options).toHaveText([/web_click/]);
	await expect(page.getByText("Clicks an element once")).toBeVisible();
	await options.click();
	await expect(editor).toContainText("- web_click: {  }");
	await page.keyboard.type("bu");
	await options.getByText("button", { exact: true }).click();
	await page.keyboard.type("R");
	await options.getByText("RIGHT").click();
	await expect.poll(() => studio.document.text).toContain("web_click: { button: RIGHT }");

	await page.keyboard.press("Control+End");
	await page.keyboard.press("Enter");
	await page.keyboard.press("Control+Space");
	await expect(options).toHaveText(["optional", "saveAs", "soft", "timeout"]);
	await page.keyboard.press("Escape");
	await page.keyboard.press("Backspace");
	await page.keyboard.press("Control+Space");
	await options.getByText("web_type").click();
	await expect.poll(() => studio.document.text).toMatch(/\n {8}- web_type: \{ {2}\}$/);

	await editor.getByText("web_verifyTextVisible").hover();
	await expect(page.locator(".cm-description")).toHaveText("Fails unless a text is visible.");
});

test("finds texts", async ({ studio, page }) => {
	const editor = await open(studio, page);
	await editor.press("Control+f");
	await page.getByRole("textbox", { name: "Find", exact: true }).pressSequentially("tea");
	await expect(page.locator(".cm-searchMatch")).toHaveCount(6);
});

test("is left with Escape and Tab", async ({ studio, page }) => {
	const editor = await open(studio, page);
	await expect(page.getByText("Esc, then Tab leaves the text.")).toBeVisible();
	await editor.press("Escape");
	await page.keyboard.press("Tab");
	await expect(editor).not.toBeFocused();
});

test("cannot be changed while another page controls", async ({ studio, page }) => {
	studio.state.controls = false;
	const editor = await open(studio, page);
	await editor.press("Control+End");
	await page.keyboard.type("more");
	await expect(editor).toHaveAttribute("aria-readonly", "true");
	await expect(editor).not.toContainText("more");
});
