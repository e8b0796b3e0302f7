import { newCall, newStep } from "./samples";
import { expect, test } from "./studio";

test("the keyboard alone selects and changes steps and calls", async ({ studio, page }) => {
	await studio.open();
	const selected = page.getByRole("tree", { name: "Steps" }).locator("[aria-selected=true]");
	await page.getByRole("tree", { name: "Steps" }).locator("[tabindex='0']").focus();
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("ArrowDown");
	await expect(selected).toContainText("Put tea into the cart");
	expect(await studio.asked("select")).toEqual({ do: "select", number: "2" });
	await page.keyboard.press("ArrowLeft");
	await expect(selected).toHaveAttribute("aria-expanded", "false");
	await page.keyboard.press("ArrowDown");
	await expect(selected).toContainText("Check out");
	await page.keyboard.press("ArrowRight");
	await expect(selected).toContainText('click button "Check out"');
	await expect(selected).toBeFocused();
	await page.keyboard.press("Alt+ArrowDown");
	expect((await studio.asked("edit")).edit).toEqual({ op: "move", number: "3.1", to: "3.2" });
	await page.keyboard.press("End");
	await page.keyboard.press("Delete");
	await expect.poll(() => studio.requests.at(-1)).toEqual({ do: "edit", edit: { op: "delete", number: "4.1" } });
});

test("buttons and fields change the selected call and step", async ({ studio, page }) => {
	await studio.open();
	const edited = async (change: unknown) =>
		expect.poll(() => studio.requests.at(-1)).toEqual({ do: "edit", edit: change });
	await page.getByRole("treeitem", { name: "Add to cart" }).click();
	await page.getByRole("textbox", { name: "timeout" }).fill("10s");
	await page.keyboard.press("Tab");
	await edited({ op: "call", call: "2.2", optional: true, timeout: "10s", saveAs: "" });
	await page.getByRole("checkbox", { name: "optional" }).click();
	await edited({ op: "call", call: "2.2", optional: false, timeout: "", saveAs: "" });
	await page.getByRole("button", { name: "Split" }).click();
	await edited({ op: "split", call: "2.2", text: "" });
	await page.getByRole("button", { name: "Join" }).click();
	await edited({ op: "join", step: "2" });
	await page.getByRole("treeitem", { name: "Check out", exact: false }).first().click();
	await page.getByRole("radio", { name: "Verify" }).click();
	await edited({ op: "kind", step: "3", kind: "verify" });
	await page.getByRole("combobox", { name: "Recorded for" }).selectOption("web-desktop");
	await edited({ op: "classifier", step: "3", classifier: "web-desktop" });
	await page.getByRole("button", { name: "Move up" }).click();
	await edited({ op: "move", number: "3", to: "2" });
});

test("Step names the step, and Enter begins the next one", async ({ studio, page }) => {
	studio.document.steps.push(
		newStep("5", "Click Continue", [newCall("5.1", "web_click", "click")], { provisional: true }),
	);
	await studio.open();
	const name = page.getByRole("textbox", { name: "Step" });
	await expect(name).toHaveValue("Click Continue");
	await name.click();
	await page.keyboard.type("Continue with the payment");
	await page.keyboard.press("Enter");
	const { step, text, next } = await studio.asked("nameStep");
	expect([step, text, next]).toEqual(["5", "Continue with the payment", true]);
	await expect(name).toHaveValue("");
	await page.keyboard.press("Tab");
	expect(studio.requests.filter((request) => request.do === "nameStep")).toHaveLength(1);
	await name.fill("Pay");
	await page.keyboard.press("Tab");
	await expect.poll(() => studio.requests.at(-1)).toEqual({ do: "nameStep", step: "", text: "Pay", next: false });
	await expect(name).toHaveValue("Pay");
	studio.setDocument({ steps: [...studio.document.steps, newStep("6", "Click Pay", [])] });
	await expect(name).toHaveValue("Click Pay");
});

test("Step names what the person came to name, whatever others record meanwhile", async ({ studio, page }) => {
	await studio.open();
	const name = page.getByRole("textbox", { name: "Step" });
	const named = () => studio.requests.filter((request) => request.do === "nameStep");
	const { steps } = studio.document;
	await name.click();
	studio.setDocument({ steps: [...steps, newStep("5", "Of an agent", [])] });
	await expect(page.getByRole("treeitem", { name: "Of an agent" })).toBeVisible();
	await page.keyboard.press("Tab");
	await expect(name).toHaveValue("Of an agent");
	expect(named()).toEqual([]);
	studio.setDocument({ steps });
	await name.fill("See the order");
	studio.setDocument({ steps: [...steps, newStep("5", "Of an agent", [])] });
	await expect(page.getByRole("treeitem", { name: "Of an agent" })).toBeVisible();
	await page.keyboard.press("Tab");
	await expect.poll(named).toEqual([{ do: "nameStep", step: "4", text: "See the order", next: false }]);
	await expect(name).toHaveValue("Of an agent");
});

test("steps are added and moved before the teardown", async ({ studio, page }) => {
	studio.document.steps.push(newStep("5", "Forget", [newCall("5.1", "web_goBack", "go back")], { kind: "teardown" }));
	await studio.open();
	const after = async (number: string) => {
		await page.getByRole("button", { name: "Add step" }).click();
		const edit = { op: "insertStep", after: number, text: "New step", kind: "step" };
		await expect.poll(() => studio.requests.at(-1)).toEqual({ do: "edit", edit });
	};
	await after("4");
	await page.getByRole("treeitem", { name: "Check out" }).first().click();
	await after("3");
	await page.getByRole("treeitem", { name: "Forget" }).click();
	await after("4");
	for (const name of ["Move up", "Move down"]) await expect(page.getByRole("button", { name })).toBeDisabled();
	await page.getByRole("treeitem").filter({ hasText: studio.document.steps[3]?.text }).first().click();
	await expect(page.getByRole("button", { name: "Move up" })).toBeEnabled();
	await expect(page.getByRole("button", { name: "Move down" })).toBeDisabled();
});

test("what a person types stays when the document changes", async ({ studio, page }) => {
	await studio.open();
	const name = page.getByRole("textbox", { name: "Step" });
	await name.fill("half a sen");
	studio.setDocument({ title: "Other" });
	await expect(page.getByRole("heading", { name: "Other" })).toBeVisible();
	await expect(name).toHaveValue("half a sen");
});

test("the next call is marked, except while calls are made", async ({ studio, page }) => {
	await studio.open();
	const mark = page.getByRole("tree", { name: "Steps" }).getByText("next", { exact: true });
	await expect(mark).toBeVisible();
	studio.setState({ activity: "replaying" });
	await expect(mark).toHaveCount(0);
});

test("the outcome of a call is a word, and its message is shown", async ({ studio, page }) => {
	await studio.open();
	const row = page.getByRole("treeitem", { name: 'failed: click button "Check out"' });
	await expect(row).toContainText('there is a button "Pay now"');
	await expect(page.getByRole("treeitem", { name: "passed: open" })).toBeVisible();
});

test("of 1,000 steps and 10,000 elements only those in view are rendered", async ({ studio, page }) => {
	const calls = (step: number) =>
		[1, 2, 3].map((call) => newCall(`${step}.${call}`, "web_click", `click ${step}.${call}`));
	studio.document.steps = Array.from({ length: 1000 }, (_, i) =>
		newStep(String(i + 1), `Step number ${i + 1}`, calls(i + 1)),
	);
	studio.answers.look = () => ({
		width: 1000,
		height: 700,
		root: {
			role: "document",
			children: Array.from({ length: 10_000 }, (_, i) => ({
				ref: `e${i}`,
				role: "listitem",
				name: `Element ${i}`,
				bounds: { left: i % 1000, top: i % 700, right: (i % 1000) + 30, bottom: (i % 700) + 20 },
			})),
		},
	});
	await studio.open();
	await studio.picture();
	await page.getByRole("tab", { name: "Elements" }).click();
	await page.getByRole("treeitem", { name: "Element 0" }).focus();
	await page.keyboard.press("End");
	await expect(page.getByRole("treeitem", { name: "Element 9999" })).toBeFocused();
	await page.getByRole("treeitem", { name: "Step number 1", exact: false }).first().click();
	await page.keyboard.press("End");
	await expect(page.getByRole("treeitem", { name: "click 1000.3" })).toBeFocused();
	expect(await page.getByRole("treeitem").count()).toBeLessThan(150);
});
