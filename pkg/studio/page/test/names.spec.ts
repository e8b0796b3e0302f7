import { expect, test } from "./studio";

test("has the toolbar", async ({ studio, page }) => {
	await studio.open();
	await expect(page.getByRole("toolbar", { name: "Session" })).toBeAttached();
});
