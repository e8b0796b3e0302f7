// Roles and names, which are a contract (specification, section 19.1).
import { newLocation } from "./samples";
import { expect, test } from "./studio";

test("the parts of the page have their roles and names", async ({ studio, page }) => {
	await studio.open();
	await studio.picture();
	await expect(page.getByRole("region", { name: "Screen" })).toBeVisible();
	await expect(page.getByRole("img", { name: "Screen of web/desktop" })).toBeVisible();
	await expect(page.getByRole("region", { name: "Steps" })).toBeVisible();
	await expect(page.getByRole("region", { name: "Steps" }).getByRole("tree")).toBeVisible();
	await expect(page.getByRole("textbox", { name: "Step" })).toBeVisible();
	await expect(page.getByRole("region", { name: "Trail" })).toBeVisible();
	const toolbar = page.getByRole("toolbar", { name: "Session" });
	for (const name of ["Record", "Assert", "Undo", "Redo", "Replay", "Replay to here", "Next call", "Stop", "Save"])
		await expect(toolbar.getByRole("button", { name, exact: true })).toBeVisible();
	await expect(page.getByRole("combobox", { name: "Device" })).toHaveValue("web/desktop");
	await expect(page.getByRole("textbox", { name: "Address" })).toHaveValue("https://shop.example/cart");
	await expect(page.getByRole("status", { name: "State" })).toHaveText("Recording · unsaved changes");
	for (const name of ["Log", "Network", "Console"]) {
		await page.getByRole("tab", { name }).click();
		await expect(page.getByRole("region", { name })).toBeVisible();
	}
	await page.getByRole("tab", { name: "Elements" }).click();
	await expect(page.getByRole("tree", { name: "Elements" })).toBeVisible();
});

test("a selected call and a located element have theirs", async ({ studio, page }) => {
	studio.answers.locate = newLocation;
	await studio.open();
	await studio.picture();
	await page.getByRole("treeitem", { name: 'click button "Check out"' }).click();
	for (const name of ["Delete", "Split", "Join", "Pick", "Move up", "Move down"])
		await expect(page.getByRole("button", { name, exact: true })).toBeVisible();
	await expect(page.getByRole("checkbox", { name: "optional" })).toBeVisible();
	await expect(page.getByRole("textbox", { name: "timeout" })).toBeVisible();
	await expect(page.getByRole("textbox", { name: "saveAs" })).toBeVisible();
	await page.getByRole("button", { name: "Assert" }).click();
	await page.getByRole("img", { name: "Screen of" }).click();
	await expect(page.getByRole("listbox", { name: "Candidates" }).getByRole("option")).toHaveCount(3);
	await expect(page.getByRole("menuitem", { name: "Visible" })).toBeVisible();
});
