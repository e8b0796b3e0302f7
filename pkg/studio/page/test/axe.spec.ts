import { AxeBuilder } from "@axe-core/playwright";
import { newLocation } from "./samples";
import { expect, test } from "./studio";

for (const colorScheme of ["light", "dark"] as const) {
	test(`axe finds nothing in the ${colorScheme} theme`, async ({ studio, page }) => {
		const check = async (what: string) => {
			const { violations } = await new AxeBuilder({ page })
				.withTags(["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"])
				.analyze();
			expect(
				violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(", ")}`),
				what,
			).toEqual([]);
		};
		await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
		studio.answers.locate = newLocation;
		studio.state.notices = [{ id: 1, kind: "tab", text: "a new tab" }];
		await studio.open();
		await studio.picture();
		studio.push({ on: "log", lines: [{ time: "", level: "warn", text: "slow" }] });
		await page.getByRole("treeitem", { name: 'click button "Check out"' }).click();
		await check("a selected call");
		await page.getByRole("tab", { name: "Elements" }).click();
		await page.getByRole("button", { name: "Assert" }).click();
		await page.getByRole("img", { name: "Screen of" }).click();
		await expect(page.getByRole("listbox", { name: "Candidates" })).toBeVisible();
		await check("a located element");
		await page.getByRole("button", { name: "Cancel" }).click();
		const options = [{ value: "1", label: "red", selected: true, disabled: false }];
		studio.setState({ ask: { id: 1, kind: "select", text: "Colour", value: "", multiple: true, options } });
		await expect(page.getByRole("listbox", { name: "Colour" })).toBeVisible();
		await check("a select");
		studio.setState({ ask: { id: 2, kind: "prompt", text: "Name?", value: "", multiple: false, options: [] } });
		await expect(page.getByRole("dialog")).toBeVisible();
		await check("a dialog");
		studio.setState({
			ask: null,
			controls: false,
			activity: "lost",
			kept: { file: "r", steps: 1, when: "2026-11-26T10:04:00Z" },
		});
		await expect(page.getByRole("alert")).toBeVisible();
		await check("a lost device");
	});
}

test("the page has no horizontal scroll at 200 % zoom of the smallest window", async ({ studio, page }) => {
	await page.setViewportSize({ width: 640, height: 400 });
	await studio.open();
	await studio.picture();
	expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(640);
	await page.getByRole("treeitem", { name: 'click button "Check out"' }).click();
	await expect(page.getByRole("button", { name: "Pick", exact: true })).toBeInViewport();
});

test("long and right-to-left texts keep the page usable", async ({ studio, page }) => {
	const long = "supercalifragilistic".repeat(30);
	Object.assign(studio.document, { title: long });
	for (const step of studio.document.steps) step.text = `${long} عربي ${step.number}`;
	Object.assign(studio.state, { url: `https://${long}`, file: `trails/${long}.trail.yaml`, doing: long, device: long });
	studio.state.notices = [{ id: 1, kind: "warning", text: long }];
	await studio.open();
	await studio.picture();
	expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(1280);
	await expect(page.getByRole("button", { name: "Save", exact: true })).toBeInViewport();
	await expect(page.getByRole("img", { name: "Screen of" })).toBeInViewport();
});
