// The list of tools, and the variables.
import AxeBuilder from "@axe-core/playwright";
import { test as base, expect, type Studio } from "./studio";
import { tools, trailDocument } from "./trail-samples";

const test = base.extend<{ studio: Studio }>({
	studio: async ({ studio }, use) => {
		studio.document = { ...trailDocument(), selected: "2.2" };
		studio.answers.tools = () => tools;
		await use(studio);
	},
});

test("lists tools by source, and finds them", async ({ studio, page }) => {
	await studio.open();
	await page.getByRole("tab", { name: "Tools" }).click();
	const list = page.getByRole("region", { name: "Tools", exact: true });
	await expect(list.getByRole("heading")).toHaveText(["shop 2", "Built-in tools 1", "Commands of the device 3"]);
	await list.getByRole("searchbox", { name: "Find a tool" }).fill("new customer");
	await expect(list.getByRole("listitem")).toHaveText([/openShop/]);
	await list.getByRole("searchbox").fill("nothing");
	await expect(list).toContainText("No tool fits.");
});

test("calls a tool, and shows its result", async ({ studio, page }) => {
	const orders = Array.from({ length: 20 }, (_, id) => ({ id }));
	studio.answers.call = () => ({ ok: true, text: "opened", warnings: ["it was open before"], structured: { orders } });
	await studio.open();
	await page.getByRole("tab", { name: "Tools" }).click();
	const list = page.getByRole("region", { name: "Tools", exact: true });
	await list.getByRole("button", { name: "openShop" }).click();
	const call = list.getByRole("button", { name: "Call", exact: true });
	const country = list.getByRole("combobox", { name: "country" });
	await expect(country).toHaveAccessibleDescription("Where the customer lives");
	await call.click();
	await expect(country).toHaveAccessibleDescription("Where the customer lives has to be given");
	expect(studio.requests.some((request) => request.do === "call")).toBe(false);

	await country.selectOption("Japan");
	await list.getByRole("textbox", { name: "tags 1" }).fill("green");
	await list.getByRole("textbox", { name: "tags 1" }).press("Enter");
	await list.getByRole("button", { name: "Add an entry" }).click();
	await list.getByRole("textbox", { name: "tags 2" }).fill("black");
	await list.getByRole("button", { name: "Add an argument" }).click();
	await page.getByRole("menuitem", { name: "address" }).click();
	await list.getByRole("textbox", { name: "street" }).fill("Baker Street");
	await list.getByRole("button", { name: "Add an argument" }).click();
	await page.getByRole("menuitem", { name: "limit" }).click();
	await list.getByRole("textbox", { name: "limit as YAML" }).fill("5");
	await list.getByRole("textbox", { name: "saveAs" }).fill("shop");
	await call.click();
	expect(await studio.asked("call")).toEqual({
		do: "call",
		call: {
			tool: "openShop",
			args: { country: "Japan", tags: ["green", "black"], address: { street: "Baker Street" }, limit: 5 },
			saveAs: "shop",
		},
	});
	const result = list.getByRole("status").filter({ hasText: "Passed" });
	await expect(result).toContainText("opened");
	await expect(result).toContainText("it was open before");
	await expect(result.getByText("id: 19")).toBeHidden();
	await result.getByText("Structured result").click();
	await expect(result.getByText("id: 19")).toBeVisible();
});

test("cannot call a tool while the device is used", async ({ studio, page }) => {
	studio.state.activity = "replaying";
	await studio.open();
	await page.getByRole("tab", { name: "Tools" }).click();
	await page.getByRole("button", { name: "resetShop" }).click();
	await expect(page.getByRole("button", { name: "Call", exact: true })).toBeDisabled();
});

test("shows variables, and adds them", async ({ studio, page }) => {
	await studio.open();
	await page.getByRole("tab", { name: "Variables" }).click();
	const part = page.getByRole("region", { name: "Variables" });
	await expect(part.getByRole("row")).toHaveText([/Name/, /{{CUSTOMER}}Ada/, /{{PASSWORD}}.*secret/]);
	const form = part.getByRole("form", { name: "Add a variable" });
	await form.getByRole("textbox", { name: "Name" }).fill("2");
	await form.getByRole("button", { name: "Add" }).click();
	await expect(form.getByRole("textbox", { name: "Name" })).toHaveAccessibleDescription(/begins with a letter/);
	await form.getByRole("textbox", { name: "Name" }).fill("PIN");
	await form.getByLabel("Value").fill("1234");
	await form.getByRole("checkbox", { name: "Secret" }).check();
	await expect(form.getByLabel("Value")).toHaveAttribute("type", "password");
	await expect(form).toContainText("The session opens again with it.");
	await form.getByLabel("Value").press("Enter");
	expect(await studio.asked("variable")).toEqual({ do: "variable", name: "PIN", value: "1234", secret: true });
	await expect(form.getByRole("textbox", { name: "Name" })).toHaveValue("");

	await part.getByRole("row", { name: "CUSTOMER" }).getByRole("button", { name: "Change" }).click();
	const change = part.getByRole("form", { name: "Change CUSTOMER" });
	await change.getByLabel("Value").fill("Grace");
	await change.getByRole("button", { name: "Change" }).click();
	await expect
		.poll(() => studio.requests.at(-1))
		.toEqual({ do: "variable", name: "CUSTOMER", value: "Grace", secret: false });
});

test("removes the variables that the studio was given", async ({ studio, page }) => {
	studio.state.variables.push({ name: "PIN", value: "", secret: true, given: true });
	await studio.open();
	await page.getByRole("tab", { name: "Variables" }).click();
	const part = page.getByRole("region", { name: "Variables" });
	const remove = part.getByRole("button", { name: "Remove" });
	await expect(remove).toHaveCount(1);
	await remove.click();
	expect(await studio.asked("removeVariable")).toEqual({ do: "removeVariable", name: "PIN" });
	// A name stays in one line beside a long value.
	studio.setState({ variables: [{ name: "DESCRIPTION", value: "word ".repeat(100), secret: false }] });
	const name = part.getByRole("rowheader", { name: "DESCRIPTION" });
	await expect.poll(async () => (await name.locator("code").boundingBox())?.height).toBeLessThan(24);
});

for (const colorScheme of ["light", "dark"] as const) {
	test(`has nothing serious for axe in ${colorScheme}`, async ({ studio, page }) => {
		studio.document.problems = [{ line: 14, column: 11, message: "wrong", hint: "right it", severity: "warning" }];
		await page.emulateMedia({ colorScheme });
		await studio.open();
		const check = async (part: string) => {
			const { violations } = await new AxeBuilder({ page }).include(part).analyze();
			const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
			expect(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`)).toEqual([]);
		};
		await expect(page.getByRole("list", { name: "Problems" })).toBeVisible();
		await check(".trail");
		await page.getByRole("button", { name: "Add an argument" }).click();
		await check(".call-form");
		await page.getByRole("tab", { name: "Tools" }).click();
		await page.getByRole("button", { name: "openShop" }).click();
		await page.getByRole("button", { name: "Call", exact: true }).click();
		await check(".tools");
		await page.getByRole("tab", { name: "Variables" }).click();
		await page.getByRole("button", { name: "Add", exact: true }).click();
		await check(".variables");
	});
}
