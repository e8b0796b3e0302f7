// The form of the selected call.
import { test as base, expect, Refusal, type Studio } from "./studio";
import { tools, trailDocument } from "./trail-samples";

const test = base.extend<{ studio: Studio }>({
	studio: async ({ studio }, use) => {
		studio.document = { ...trailDocument(), selected: "2.2" };
		studio.answers.tools = () => tools;
		await use(studio);
	},
});

const args = { ref: 'textbox "Name"', text: "Ada" };

test("edits arguments", async ({ studio, page }) => {
	await studio.open();
	const form = page.getByRole("group", { name: "Arguments" });
	const text = form.getByRole("textbox", { name: "text", exact: true });
	await expect(text).toHaveValue("Ada");
	await text.fill("Grace");
	await text.press("Enter");
	expect(await studio.asked("edit")).toEqual({
		do: "edit",
		edit: { op: "args", call: "2.2", args: { ...args, text: "Grace" } },
	});
	// What another page does wins once it is in the document.
	studio.document.steps[1]?.calls.splice(1, 1, {
		...studio.document.steps[1].calls[1],
		args: { text: "Joan" },
	} as never);
	studio.setDocument({});
	await expect(text).toHaveValue("Joan");
	await expect(form.getByRole("textbox", { name: "ref" })).toHaveCount(0);
});

test("keeps what is typed while the document changes", async ({ studio, page }) => {
	await studio.open();
	const text = page.getByRole("textbox", { name: "text", exact: true });
	await text.fill("Gra");
	studio.setDocument({ canUndo: false });
	studio.setState({ doing: "" });
	await text.press("End");
	await page.keyboard.type("ce");
	await expect(text).toHaveValue("Grace");
});

test("adds and removes optional arguments", async ({ studio, page }) => {
	await studio.open();
	const add = page.getByRole("button", { name: "Add an argument" });
	await add.press("Enter");
	await expect(page.getByRole("menuitem")).toHaveText([/clearFirst/, /nodeSelector/, /timeoutMs.*How long/]);
	await page.keyboard.press("t");
	await page.keyboard.press("Enter");
	const timeout = page.getByRole("textbox", { name: "timeoutMs" });
	await expect(timeout).toBeFocused();
	await expect(timeout).toHaveAccessibleDescription("How long to wait");
	await timeout.fill("soon");
	await timeout.press("Enter");
	await expect(timeout).toHaveAccessibleDescription("How long to wait is not a whole number");
	await expect(page.getByText("Not applied")).toBeVisible();
	expect(studio.requests.some((request) => request.do === "edit")).toBe(false);
	await timeout.fill("500");
	await timeout.press("Enter");
	expect(await studio.asked("edit")).toMatchObject({ edit: { args: { ...args, timeoutMs: 500 } } });
	await expect(page.getByText("Not applied")).toHaveCount(0);

	await add.click();
	await page.keyboard.press("Escape");
	await expect(add).toBeFocused();
	await page.getByRole("button", { name: "Remove ref" }).click();
	await expect.poll(() => studio.requests.at(-1)).toMatchObject({ edit: { args: { text: "Ada", timeoutMs: 500 } } });
});

test("shows selectors in a line, and as fields", async ({ studio, page }) => {
	studio.document.selected = "2.1";
	await studio.open();
	const form = page.getByRole("group", { name: "Arguments" });
	await expect(form.getByText("ariaRole: link, ariaNameRegex: Tea")).toBeVisible();
	await form.getByRole("button", { name: "Fields" }).click();
	await form.getByRole("textbox", { name: "ariaNameRegex" }).fill("Green tea");
	await form.getByRole("textbox", { name: "ariaNameRegex" }).press("Enter");
	expect(await studio.asked("edit")).toMatchObject({
		edit: { args: { nodeSelector: { web: { ariaRole: "link", ariaNameRegex: "Green tea" } } } },
	});
	await form.getByRole("button", { name: "Choose on the screen" }).click();
	await expect(page.getByRole("button", { name: "Pick", exact: true })).toHaveAttribute("aria-pressed", "true");
});

test("edits arguments as YAML", async ({ studio, page }) => {
	await studio.open();
	await page.getByRole("button", { name: "as YAML" }).click();
	const yaml = page.getByRole("textbox", { name: "Arguments as YAML" });
	await expect(yaml).toHaveValue('ref: textbox "Name"\ntext: Ada');
	await yaml.fill("text: {");
	await yaml.blur();
	await expect(yaml).toHaveAccessibleDescription(/not valid YAML/);
	expect(studio.requests.some((request) => request.do === "edit")).toBe(false);
	await yaml.fill('text: "12"\ntimeoutMs: 5');
	await yaml.blur();
	expect(await studio.asked("edit")).toMatchObject({ edit: { args: { text: "12", timeoutMs: 5 } } });
});

test("shows why an edit was refused, and reverts it", async ({ studio, page }) => {
	studio.answers.edit = () => {
		throw new Refusal({ message: "the call was deleted", hint: "select another one" });
	};
	await studio.open();
	const text = page.getByRole("textbox", { name: "text", exact: true });
	await text.fill("Grace");
	await text.press("Enter");
	await expect(page.getByRole("status").filter({ hasText: "Not applied: the call was deleted" })).toBeVisible();
	await expect(text).toHaveValue("Grace");
	await page.getByRole("button", { name: "Revert" }).click();
	await expect(text).toHaveValue("Ada");
});

test("puts variables into texts, and makes them of texts", async ({ studio, page }) => {
	await studio.open();
	const text = page.getByRole("textbox", { name: "text", exact: true });
	const variables = page.getByRole("button", { name: "Variables" });
	await text.press("End");
	await variables.first().click();
	await page.getByRole("menuitem", { name: "{{CUSTOMER}}" }).click();
	expect(await studio.asked("edit")).toMatchObject({ edit: { args: { text: "Ada{{CUSTOMER}}" } } });

	await variables.last().click();
	await page.getByRole("menuitem", { name: "Make this a variable" }).click();
	const dialog = page.getByRole("dialog", { name: "Make a variable" });
	const name = dialog.getByRole("textbox", { name: "Name" });
	await expect(name).toBeFocused();
	await name.fill("CUSTOMER");
	await name.press("Enter");
	await expect(name).toHaveAccessibleDescription(/has a value already/);
	await name.fill("FIELD");
	await dialog.getByRole("checkbox", { name: "Secret" }).check();
	await expect(dialog).not.toContainText("textbox");
	await dialog.getByRole("button", { name: "Make variable" }).click();
	expect(await studio.asked("variable")).toEqual({
		do: "variable",
		name: "FIELD",
		value: 'textbox "Name"',
		secret: true,
	});
	await expect.poll(() => studio.requests.at(-1)).toMatchObject({ do: "edit", edit: { args: { ref: "{{FIELD}}" } } });
	await expect(dialog).toHaveCount(0);
});

test("edits the arguments of an unknown tool as YAML", async ({ studio, page }) => {
	studio.answers.tools = () => [];
	await studio.open();
	await expect(page.getByRole("textbox", { name: "Arguments as YAML" })).toHaveValue(/text: Ada/);
});
