// How the page divides its room.
import type { Locator } from "@playwright/test";
import { newLocation } from "./samples";
import { expect, test } from "./studio";

async function box(of: Locator) {
	const found = await of.boundingBox();
	if (!found) throw new Error("it is not shown");
	return found;
}

test("the sides are resized and hidden with the keyboard, and this is remembered", async ({ studio, page }) => {
	await studio.open();
	await studio.picture();
	const image = page.getByRole("img", { name: "Screen of" });
	const steps = page.getByRole("region", { name: "Steps" });
	const line = page.getByRole("separator", { name: "Width of the steps" });
	const before = await box(image);
	await line.focus();
	await page.keyboard.press("ArrowLeft");
	await expect(line).toHaveAttribute("aria-valuenow", "20");
	await page.keyboard.press("Enter");
	await expect(steps).toBeHidden();
	await page.keyboard.press("Tab");
	await expect(steps.locator(":focus")).toHaveCount(0);
	await page.getByRole("separator", { name: "Width of the panels" }).dblclick();
	await expect(page.getByRole("region", { name: "Trail" })).toBeHidden();
	expect((await box(image)).width).toBeGreaterThan(before.width * 1.3);
	await page.reload();
	await expect(page.getByRole("separator", { name: "Width of the steps" })).toBeVisible();
	await expect(steps).toBeHidden();
	await line.focus();
	await page.keyboard.press("Enter");
	await expect(steps).toBeVisible();
	await page.setViewportSize({ width: 640, height: 400 });
	await expect(page.getByRole("region", { name: "Trail" })).toBeVisible();
	// Another studio has another port.
	await page.route("http://studio.test:8080/*", (route) => route.fulfill({ body: "", contentType: "text/html" }));
	await page.goto("http://studio.test:8080/");
	expect(decodeURIComponent(await page.evaluate(() => document.cookie))).toBe(
		'trailblaze-studio-view={"steps":25,"panels":0}',
	);
});

test("tabs with long notes keep to one line, and say what is wrong", async ({ studio, page }) => {
	await studio.open();
	const tab = page.getByRole("tab", { name: "Log" });
	const before = await box(tab);
	const line = { time: "2026-11-26T10:00:00Z", text: "" };
	studio.push({ on: "log", lines: [{ ...line, level: "warn" }] });
	await expect(tab).toHaveText("Log 1");
	studio.push({ on: "log", lines: Array.from({ length: 1234 }, () => ({ ...line, level: "error" as const })) });
	await expect(tab).toHaveText("Log 1234");
	await expect(tab.locator(".note")).toHaveClass(/is-failed/);
	expect((await box(tab)).height).toBe(before.height);
});

test("a line follows the pointer", async ({ studio, page }) => {
	await studio.open();
	const panels = page.getByRole("region", { name: "Trail" });
	const line = page.getByRole("separator", { name: "Width of the panels" });
	const { x, y } = await box(line);
	await page.mouse.move(x + 4, y + 100);
	await page.mouse.down();
	await page.mouse.move(640, y + 100);
	await page.mouse.up();
	await expect.poll(async () => Math.round((await box(panels)).width / 10)).toBe(64);
	await page.mouse.move(1000, y + 100);
	await expect(line).toHaveAttribute("aria-valuenow", "50");
	await page.getByRole("tab", { name: "Log" }).click();
	const logs = page.getByRole("region", { name: "Log" });
	const { height } = await box(logs);
	await page.getByRole("separator", { name: "Height of the logs" }).focus();
	for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowUp");
	await expect.poll(async () => (await box(logs)).height).toBeGreaterThan(height + 50);
});

test("candidates and notices leave the picture where and as large as it is", async ({ studio, page }) => {
	const css = `main > ${"section.part > ".repeat(40)}button`;
	const long = { childOf: { containsDescendants: [{ web: { ariaNameRegex: "Tea" } }], cssSelector: css } };
	studio.answers.locate = () => ({
		...newLocation(),
		candidates: [{ by: "role in a part", selector: { ...long, web: { ariaRole: "button" } }, matches: 1 }],
	});
	await studio.open();
	await studio.picture();
	const image = page.getByRole("img", { name: "Screen of" });
	const before = await box(image);
	studio.setState({ notices: [{ id: 1, kind: "tab", text: "https://shop.example/tea" }] });
	const notice = page.getByRole("listitem").filter({ hasText: "New tab: https://shop.example/tea" });
	await expect(notice).toBeVisible();
	await page.getByRole("button", { name: "Assert" }).click();
	await image.click();
	const option = page.getByRole("listbox", { name: "Candidates" }).getByRole("option");
	await expect(option).toContainText(
		"ariaRole: button, childOf (containsDescendants (ariaNameRegex: Tea), cssSelector: main",
	);
	expect((await box(option)).height).toBeLessThan(60); // the selector, and why it may be one
	await page.getByRole("button", { name: "Whole selectors" }).click();
	expect((await box(option)).height).toBeGreaterThan(100);
	await page.keyboard.press("Escape");
	await expect(option).toHaveCount(0);
	await page.keyboard.press("Escape");
	await expect(page.getByRole("button", { name: "Assert" })).toHaveAttribute("aria-pressed", "false");
	expect(await box(image)).toEqual(before);
	expect((await box(notice)).y).toBeGreaterThanOrEqual(before.y + before.height);
});
